"""A connection of the event loop: the native tier reads each request first, then the parser.

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

PLAIN_IN_A_ROW = 16  # consecutive plain requests after which a connection returns to the workers


class Protocol(BoundedProtocol):
    """HTTP/1.1 with answers to plain requests before the parser reads them.

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
        """Parse all requests if `native` is None. BoundedProtocol has the other arguments."""
        super().__init__(
            config, server_state, app_state, _loop, limits=limits, handed_over=handed_over
        )
        is_plain = not (self.root_path or config.access_log or self.limit_concurrency)
        self._native = native if is_plain else None
        self._learning: Learning | None = None  # the plain request in progress
        self._behind = b""  # bytes received after it
        self._closes_after_learning = False
        self._answered_plainly_at = 0.0  # time of the last plain answer
        self._plain_in_a_row = 0
        self._held = b""  # unparsed first bytes of a request that may be plain

    # --- the connection --------------------------------------------------------------------------

    def connection_lost(self, exc: Exception | None) -> None:
        """End every request of this connection."""
        self._parse_held()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # as in BoundedProtocol
        """Answer the complete requests before the connection closes."""
        self._parse_held()
        if self._learning is None:
            return super().eof_received()
        self._closes_after_learning = True
        return True

    def close_if_idle(self) -> bool:
        """Close the connection unless a request is in progress; return whether it was closed."""
        return not self._held and self._learning is None and super().close_if_idle()

    def shutdown(self) -> None:
        """Close the connection after the answer to the request in progress."""
        self._parse_held()
        if self._learning is None:
            super().shutdown()
        else:
            self._closes_after_learning = True

    def pass_second(self) -> None:
        """Parse a held first piece, then check the client; called once a second."""
        self._parse_held()
        super().pass_second()

    def _is_waiting(self) -> bool:
        return self._learning is None and super()._is_waiting()

    def _unparsed_bytes(self) -> int:
        learning = 0 if self._learning is None else self._learning.size
        return len(self._held) + len(self._behind) + learning

    # --- receiving -------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Answer a plain request, or parse a piece of the client's bytes.

        The parser never sees a plain request. Many clients send the head separately, so the first
        piece of a request that may be plain is held until the second comes.
        """
        if self._refusal is not None or self.transport.is_closing():
            return  # ignore bytes after a refusal
        if self._learning is not None:
            self._behind += data
            self.flow.pause_reading()  # at most one more piece arrives
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
        """Begin a plain request to learn, or hold its first piece; return False for others."""
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
        """Answer the plain request to learn, and continue with the bytes after it."""
        assert self._learning is not None
        assert self._native is not None
        answer = self._native.learning.answer(self._learning, self.server_state.default_headers)
        self._learning = None
        if self.transport.is_closing():
            return
        self._stalls.linger_seconds = 0
        behind, self._behind = self._behind, b""
        if behind or self._closes_after_learning:
            self._plain_in_a_row = 0  # the connection stays on the event loop
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
        """Keep the first piece of a request that may be plain, for at most a second."""
        self._unset_keepalive_if_required()
        self._limits.idle.pop(self, None)
        self._held = data
        self._count_bytes()

    def _parse_held(self) -> None:
        """Parse the held piece as if it came now."""
        held, self._held = self._held, b""
        if held:
            self._receive(held)

    def _send_plainly(self, answer: bytes, received: int) -> None:
        """Send the answer to a plain ranking whose request had `received` bytes."""
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
        idle[self] = None  # moved to the end: idle for the shortest time
        if self._reservation.size:
            self._count_bytes()
        self._plain_in_a_row += 1
        if self._plain_in_a_row == PLAIN_IN_A_ROW:
            self._give_back()

    def _give_back(self) -> None:
        """Give the connection to a worker, if there are workers."""
        self._plain_in_a_row = 0
        workers = self._limits.workers
        connection = self.transport.get_extra_info("socket")
        if workers is None or not workers.running or self.transport.get_write_buffer_size():
            return
        self.flow.pause_reading()  # the worker reads the next bytes
        self._limits.forget(self)
        try:
            workers.give(connection)
        except (OSError, MemoryError):  # too few descriptors, for example
            self._limits.keep(self)
            self.flow.resume_reading()
        else:
            self.transport.close()  # closes this descriptor; the connection stays open

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, unless plain rankings came since the timer was set.

        Plain rankings do not reset the timer, because this would take longer than the ranking.
        """
        unused = self.loop.time() - self._answered_plainly_at
        if self._learning is not None:
            self._close_when_unused(self.timeout_keep_alive)
        elif unused < self.timeout_keep_alive and not self.transport.is_closing():
            self._close_when_unused(self.timeout_keep_alive - unused)
        else:
            super().timeout_keep_alive_handler()
