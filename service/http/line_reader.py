"""The reading of a body line by line while it arrives, with limits of length and age of a line."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

from manyclass.service.http.asgi import Receive
from manyclass.service.http.memory_budget import Reservation
from manyclass.service.http.problems import ClientGone, Problem, unavailable
from manyclass.service.http.request_body import Blocks, Gunzip

# A stream may pause between lines without limit, but an unfinished line takes memory.
LINE_SECONDS = 60.0


class Lines:
    """The lines of a stream, of bounded length, each of which must end in bounded time."""

    def __init__(self, longest: int, reservation: Reservation, clock: Callable[[], float]) -> None:
        """`reservation` counts the bytes of an unfinished line."""
        self._longest = longest
        self._reservation = reservation
        self._reserved_before = reservation.size
        self._clock = clock
        self._begun = Blocks()  # the unfinished line
        self._begun_at = 0.0
        self._overlong = False
        self._held = 0  # bytes of complete lines, until they are settled

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield every line that ends in `data`, or None for a line that is too long.

        The bytes of `data`, counted by `hold`, are counted until `settle`. Raises Problem 408 if
        the unfinished line is too old.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            yield self._line(data[start:end])
            start = end + 1
        if start < len(data):
            if start or not self._is_unfinished:
                self._begun_at = self._clock()
            self._begun.add(data[start:])
            self._held -= len(data) - start
            if self._begun.size > self._longest:
                self._overlong = True
                self._begun.clear()
        if self._is_unfinished and self._clock() - self._begun_at > LINE_SECONDS:
            raise Problem(408, f"A line must end within {LINE_SECONDS:g} s.")

    def hold(self, size: int) -> None:
        """Count `size` more bytes until `settle`. Raises Problem 503 if they do not fit."""
        self._held += size
        self._count()

    def settle(self) -> None:
        """Count only the unfinished line from now on; all others are learned."""
        self._held = 0
        self._count()

    def _count(self) -> None:
        self._reservation.resize(self._reserved_before + self._begun.size + self._held)

    @property
    def _is_unfinished(self) -> bool:
        return self._overlong or self._begun.size > 0

    def rest(self) -> Iterator[bytes | None]:
        """Yield the last line if it has no line end."""
        if self._is_unfinished:
            yield self._line(b"")

    def _line(self, end: bytes) -> bytes | None:
        if self._begun.size:
            self._begun.add(end)
            end = self._begun.join()
        overlong = self._overlong or len(end) > self._longest
        self._overlong = False
        return None if overlong else end


async def pieces(
    receive: Receive,
    gunzip: Gunzip | None,
    stop: "asyncio.Future[Any]",
    patience: float,
    hold: Callable[[int], None],
) -> AsyncGenerator[bytes]:
    """Yield the body as it arrives, and b"" after each `patience` seconds without a piece.

    `hold` is called with the number of received bytes, and with the number of bytes unpacked from
    them. Raises ClientGone if the body is cut short, and Problem when the stream must stop.
    """
    more = True
    while more:
        receiving = asyncio.ensure_future(_held(receive, hold))
        try:
            while not await _arrived(receiving, stop, patience):
                yield b""
            message = receiving.result()
        finally:
            if not receiving.cancel() and not receiving.cancelled():
                receiving.exception()  # retrieved, so that asyncio does not log it
            del receiving  # a reference cycle through its exception would keep the bytes
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        if gunzip is None:
            yield message.get("body", b"")
        else:
            for piece in gunzip.feed(message.get("body", b"")):
                hold(len(piece) + gunzip.packed_bytes)
                yield piece
                _require_running(stop)
                await asyncio.sleep(0)  # few bytes may unpack to many: let other requests run
    if gunzip is not None:
        gunzip.end()


async def _held(receive: Receive, hold: Callable[[int], None]) -> Any:
    """Return the next message, and count its bytes at once, before its reader runs."""
    message = await receive()
    hold(len(message.get("body", b"")))
    return message


async def _arrived(
    receiving: "asyncio.Future[Any]", stop: "asyncio.Future[Any]", patience: float
) -> bool:
    _require_running(stop)  # first, because a client may have sent more without ever pausing
    waiting_for = {receiving, stop}
    await asyncio.wait(waiting_for, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    if not receiving.done():
        _require_running(stop)
    return receiving.done()


def _require_running(stop: "asyncio.Future[Any]") -> None:
    if stop.done():
        raise unavailable("The service is stopping.")
