"""One connection of the event loop: the native tier sees each request first, then the parser.

bytes ─► native tier ─ plain ─► answer
             └── all others ─► BoundedProtocol ─► Python tier
"""

from asyncio import AbstractEventLoop
from typing import Any

from uvicorn import Config
from uvicorn.server import ServerState

from manyclass.service.http.bounded_protocol import BoundedProtocol, HandedOver
from manyclass.service.http.limits import Limits
from manyclass.service.http.native_tier import NativeTier
from manyclass.service.http.plain_learning import Learning, PlainLearning

PLAIN_IN_A_ROW = 16  # requests after which a connection goes back to the workers


class Protocol(BoundedProtocol):
    """HTTP/1.1 whose plain requests are answered before they are parsed.

    Belongs to the event loop.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
        *,
        limits: Limits,
        native: NativeTier | None = None,
        handed_over: HandedOver | None = None,
    ) -> None:
        """Parse every request if there is no `native` tier. The rest is as in BoundedProtocol."""
        super().__init__(
            config, server_state, app_state, _loop, limits=limits, handed_over=handed_over
        )
        is_plain = not (self.root_path or config.access_log or self.limit_concurrency)
        self._native = native if is_plain else None
        self._learning: Learning | None = None  # the plain request under way
        self._behind = b""  # bytes that came behind it
        self._closes_after_learning = False
        self._answered_plainly_at = 0.0  # the last plain request
        self._plain_in_a_row = 0
        self._held = b""  # the first bytes of a request that may be plain, not parsed

    # --- the connection --------------------------------------------------------------------------

    def connection_lost(self, exc: Exception | None) -> None:
        """End every request of this connection."""
        self._parse_held()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # as in BoundedProtocol
        """Answer the requests that have come whole before the connection closes."""
        self._parse_held()
        if self._learning is None:
            return super().eof_received()
        self._closes_after_learning = True
        return True

    def close_if_idle(self) -> bool:
        """Close the connection unless a request is under way; return whether it was closed."""
        return not self._held and self._learning is None and super().close_if_idle()

    def shutdown(self) -> None:
        """Close the connection after the answer to a request under way."""
        self._parse_held()
        if self._learning is None:
            super().shutdown()
        else:
            self._closes_after_learning = True

    def pass_second(self) -> None:
        """Parse a first piece that waits for the second, then check the client once a second."""
        self._parse_held()
        super().pass_second()

    def _is_waiting(self) -> bool:
        return self._learning is None and super()._is_waiting()

    def _unparsed_bytes(self) -> int:
        learning = 0 if self._learning is None else self._learning.size
        return len(self._held) + len(self._behind) + learning

    # --- receiving -------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Answer a plain ranking, or have a piece of the client's bytes parsed.

        The parser has seen nothing of a request that is answered plainly. Many clients send the
        head by itself, so the first piece of such a request is held until the second comes.
        """
        if self._refusal is not None or self.transport.is_closing():
            return  # bytes after a refusal are not read
        if self._learning is not None:
            self._behind += data
            self.flow.pause_reading()  # of what comes now there is one piece at most
            self._count_bytes()
            return
        held, self._held = self._held, b""
        if held:
            data = held + data
        if self._native is not None and self._is_between_requests():
            answer = self._native.rankings.answer(data, self.server_state.default_headers)
            if answer is not None:
                self._send_plainly(answer, len(data))
                return
            if not held and self._native.rankings.is_begun(data):
                self._hold(data)
                return
            if self._learns(self._native.learning, data, held):
                return
        self._receive(data)

    def _learns(self, plain: PlainLearning, data: bytes, held: bytes) -> bool:
        """Begin a plain request to learn, or hold its first piece; False for other requests."""
        learning = plain.begin(data, self._send_learned)
        if learning is None:
            if held or not plain.is_begun(data):
                return False
            self._hold(data)
            return True
        self._limits.idle.pop(self, None)
        self._stalls.begin_request(len(data))
        self._learning = learning
        self._count_bytes()
        return True

    def _send_learned(self) -> None:
        """Answer the plain request to learn, and go on with the bytes behind it."""
        assert self._learning is not None
        assert self._native is not None
        answer = self._native.learning.answer(self._learning, self.server_state.default_headers)
        self._learning = None
        if self.transport.is_closing():
            return
        self._stalls.linger_seconds = 0
        behind, self._behind = self._behind, b""
        if behind or self._closes_after_learning:
            self._plain_in_a_row = 0  # it stays here
        self._send_plainly(answer, 0)
        if self._closes_after_learning:
            self.transport.close()
        elif behind:
            self.flow.resume_reading()
            self.data_received(behind)

    def _receive(self, data: bytes) -> None:
        self._plain_in_a_row = 0
        super()._receive(data)

    def _hold(self, data: bytes) -> None:
        """Keep the first piece of a request that may be plain, for a second at most."""
        self._unset_keepalive_if_required()
        self._limits.idle.pop(self, None)
        self._held = data
        self._count_bytes()

    def _parse_held(self) -> None:
        """Have a piece that was held parsed, as if it came now."""
        held, self._held = self._held, b""
        if held:
            self._receive(held)

    def _send_plainly(self, answer: bytes, received: int) -> None:
        """Send the answer to a plain ranking of so many bytes."""
        if received:
            self._stalls.begin_request(received)
        self.transport.write(answer)
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self._answered_plainly_at = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._close_when_unused(self.timeout_keep_alive)
        idle = self._limits.idle
        idle.pop(self, None)
        idle[self] = None  # now the one that is idle for the shortest time
        if self._reservation.size:
            self._count_bytes()
        self._plain_in_a_row += 1
        if self._plain_in_a_row == PLAIN_IN_A_ROW:
            self._give_back()

    def _give_back(self) -> None:
        """Let a worker go on with the connection, if there are workers."""
        self._plain_in_a_row = 0
        workers = self._limits.workers
        connection = self.transport.get_extra_info("socket")
        if workers is None or not workers.running or self.transport.get_write_buffer_size():
            return
        self.flow.pause_reading()  # bytes that come now are the worker's
        self._limits.forget(self)
        try:
            workers.give(connection)
        except (OSError, MemoryError):  # too few descriptors, for example
            self._limits.keep(self)
            self.flow.resume_reading()
        else:
            self.transport.close()  # this descriptor alone: the connection stays open

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, unless plain rankings came since the timer was set.

        They leave the timer as it is: a timer for each of them would take longer than the rest.
        """
        unused = self.loop.time() - self._answered_plainly_at
        if self._learning is not None:
            self._close_when_unused(self.timeout_keep_alive)
        elif unused < self.timeout_keep_alive and not self.transport.is_closing():
            self._close_when_unused(self.timeout_keep_alive - unused)
        else:
            super().timeout_keep_alive_handler()
