"""Request bodies: read whole or as they arrive, plain or gzipped, never more than is allowed."""

import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from manyclass.service.errors import ClientGone, Problem, unavailable
from manyclass.service.turn import Turn

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = Mapping[bytes, bytes]

PIECE_BYTES = 65_536  # a gzipped body is unpacked in pieces of this size
PACKED_BYTES = 4096  # of it are unpacked at a time
MOST_LARGE_BODIES = 16  # as many of the largest size may be on their way at once


def media_type(headers: Headers) -> bytes:
    """The type the client says its body is of, without parameters; empty when it says nothing."""
    given = headers.get(b"content-type", b"")
    if given == b"application/json":  # as most have it
        return given
    return given.split(b";", 1)[0].strip().lower()


def require_json(headers: Headers) -> None:
    """Raise Problem 415 unless the body is said to be JSON.

    To say nothing is not enough: a web page may send such a body to a service on its reader's
    machine without asking, but not one of this type.
    """
    if media_type(headers) != b"application/json":
        shown = media_type(headers).decode("latin-1") or "nothing"
        raise Problem(415, f"Content-Type must be application/json; this request says {shown}.")


def is_gzipped(headers: Headers) -> bool:
    """Whether the body has to be unpacked; Problem 415 when it is packed in another way."""
    encoding = headers.get(b"content-encoding")
    if encoding is None:
        return False
    match encoding.strip().lower():
        case b"gzip":
            return True
        case b"identity" | b"":
            return False
    raise Problem(
        415, "Content-Encoding must be gzip or absent.", headers={"Accept-Encoding": "gzip"}
    )


class Room:
    """What bodies that come in several pieces take until they are whole, all together."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, size: int, most_bytes: int) -> None:
        """Count these bytes; Problem 503 when they are more than fits."""
        if self.taken + size > MOST_LARGE_BODIES * most_bytes:
            raise unavailable("Too many large bodies are on their way at once.")
        self.taken += size

    def give_back(self, size: int) -> None:
        """They are taken no longer."""
        self.taken -= size


_room = Room()  # one, as the memory of the process is


async def read_body(headers: Headers, receive: Receive, most_bytes: int) -> bytes:
    """The whole body, unpacked. Problem when too large or broken, ClientGone when cut short."""
    gzipped = b"content-encoding" in headers and is_gzipped(headers)
    announced = headers.get(b"content-length", b"")
    if announced.isdigit() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    message = await receive()
    body: bytes = message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientGone
    if message.get("more_body", False):
        body = await _read_rest(body, receive, most_bytes)
    if len(body) > most_bytes:
        raise _too_large(most_bytes)
    return await _unpack(body, most_bytes) if gzipped else body


async def _read_rest(start: bytes, receive: Receive, most_bytes: int, room: Room = _room) -> bytes:
    body = bytearray()
    piece = start
    more = True
    try:
        while True:
            room.take(len(piece), most_bytes)
            body += piece
            if not more or len(body) > most_bytes:
                return bytes(body)
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece = message.get("body", b"")
            more = message.get("more_body", False)
    finally:
        room.give_back(len(body))


async def _unpack(body: bytes, most_bytes: int) -> bytes:
    gunzip = Gunzip()
    unpacked = bytearray()
    turn = Turn()
    for piece in gunzip.feed(body):
        unpacked += piece
        if len(unpacked) > most_bytes:
            raise _too_large(most_bytes)
        if turn.is_over:
            await turn.pass_on()
    gunzip.end()
    return bytes(unpacked)


def _too_large(most_bytes: int) -> Problem:
    return Problem(413, f"A body has at most {most_bytes} bytes, unpacked.")


class Gunzip:
    """Unpacks gzip as it arrives, in pieces of bounded size, whatever it unpacks to.

    What is packed is read in pieces too: zlib copies the rest of a piece whenever a member ends,
    and a member may have 20 bytes.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` unpacks to; Problem 400 when it is not gzip."""
        for begin in range(0, len(data), PACKED_BYTES):
            yield from self._feed(data[begin : begin + PACKED_BYTES])

    def _feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._member.eof:  # a gzip file may be several, one after the other
                self._member = zlib.decompressobj(wbits=31)
            self._begun = True
            try:
                piece = self._member.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise Problem(400, f"The body is not gzip: {error}.") from error
            yield piece
            data = self._member.unused_data or self._member.unconsumed_tail

    def end(self) -> None:
        """Raise Problem 400 when more should have come."""
        if self._begun and not self._member.eof:
            raise Problem(400, "The gzipped body is cut short.")
