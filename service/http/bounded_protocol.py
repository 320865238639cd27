"""An HTTP/1.1 connection with bounds on its memory, its time and its requests."""

from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections import deque
from contextlib import suppress
from socket import SO_LINGER, SOL_SOCKET
from struct import pack
from typing import Any, NamedTuple

import httptools
from uvicorn import Config
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from manyclass.service.http import shedding
from manyclass.service.http.admission import Places
from manyclass.service.http.limits import Limits
from manyclass.service.http.memory_budget import Reservation
from manyclass.service.http.problems import Problem
from manyclass.service.http.stalls import LINGER_SECONDS, QUIET_SECONDS, UNREAD_SECONDS, Stalls
from manyclass.service.http.wire import (
    MOST_HEAD_BYTES,
    MOST_HEADERS,
    TOO_MANY_CONNECTIONS,
    TOO_MANY_RANKINGS,
    TOO_MANY_READS,
    BehindHead,
    Outlet,
    Refusal,
    head_too_large,
    parser_problem,
    response_of,
    too_many_headers,
)

MOST_PIPELINED = 16  # requests that wait for the answer to an earlier one
PIPELINED_BYTES = 4_096  # approximate memory of such a request, with its scope and a small head
UNCOUNTED_BYTES = 16_384  # smaller heads and unread bodies are counted only once a second

RESET = pack("ii", 1, 0)  # SO_LINGER with 0 seconds: close() discards unsent bytes

FRAMING = (b"content-length", b"transfer-encoding")  # a request with a body has one of them


class HandedOver(NamedTuple):
    """The bytes of a connection that a worker had received, and bytes it had not yet sent."""

    received: bytes = b""
    unsent: bytes = b""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 with bounds; refusals have the form of all other problems.

    Before the head of a request is complete, its key is unknown. So this class bounds heads, the
    time in which a request arrives, pipelined requests and unread answers, and counts the bytes
    buffered in the connection in the memory budget.

    Belongs to the event loop. `_running` is the request that the application answers; requests in
    `pipeline` wait for it. `cycle` is the newest request, whose body may still arrive.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
        *,
        limits: Limits,
        handed_over: HandedOver | None = None,
    ) -> None:
        """Continue where a worker stopped if it has `handed_over` the connection."""
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._handed_over = handed_over
        self._reservation = Reservation(limits.budget)
        self._outlet: Outlet | None = None
        self._running: RequestResponseCycle | None = None
        self._wanted: Places | None = None  # the count for the arriving request, if it is a ranking
        self._places: Places | None = None  # the count that includes the ranking in progress
        self._pause: TimerHandle | None = None  # the pause after a shed request
        self._refusal: Problem | None = None  # to be sent after earlier answers
        self._repeated = False  # the bytes being received were sent during a pause
        self._aborted = False
        self._body_follows_offer = False  # the newest request offers an upgrade and has a body
        self._in_head = False
        self._idle_bytes = 0  # received since the last begin of a request or piece of a body
        self._piece_bytes = 0  # size of the piece being parsed
        self._first_piece_bytes = 0  # size of the piece in which the request began
        self._heads = deque[int]()  # sizes of the heads of unanswered requests, oldest first
        self._has_progress = False  # the piece being parsed begins a request or adds to a body
        self._stalls = Stalls()

    # --- the connection --------------------------------------------------------------------------

    def connection_made(
        self,
        transport: Transport,  # type: ignore[override]  # as in uvicorn: TCP has a Transport
    ) -> None:
        """Accept the connection, or refuse it if there are too many and none is idle."""
        super().connection_made(transport)
        self._outlet = Outlet(transport)
        self.transport = self._outlet  # type: ignore[assignment]  # it has what uvicorn calls
        is_admitted = self._limits.admit(self, self._handed_over is not None)
        received, unsent = self._handed_over or HandedOver()
        self._handed_over = None
        if unsent:
            self._outlet.write(unsent)
        if not is_admitted:
            self._outlet.write(TOO_MANY_CONNECTIONS)
            self._outlet.close()
            return
        if unsent:
            self._close_when_unused(self.timeout_keep_alive)
        if received:
            self.data_received(received)

    def connection_lost(self, exc: Exception | None) -> None:
        """End every request of this connection."""
        self._limits.forget(self)
        self._disconnect()
        self._leave()
        super().connection_lost(exc)
        self._reservation.release()
        self._running = self.cycle = None  # type: ignore[assignment]  # break the reference cycle

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's closes at once
        """Answer the complete requests before the connection closes.

        A client may close its half after the last request. An incomplete request has no effect.
        This is called again when the connection is read again after a pause.
        """
        newest = self.cycle
        if newest is not None and self.pipeline and newest.more_body:
            self.pipeline.popleft()
        last = self.pipeline[0][0] if self.pipeline else self._running
        if last is None or last.more_body:
            return self._refusal is not None
        last.keep_alive = False
        self.cycle, self._in_head = last, False
        return True

    def close_if_idle(self) -> bool:
        """Close the connection unless a request is in progress; return whether it was closed."""
        cycle = self.cycle
        if cycle is not None and (not cycle.response_complete or cycle.more_body):
            return False
        if self.transport.is_closing() or self.transport.get_write_buffer_size():
            return False
        self.transport.close()
        return True

    def _disconnect(self) -> None:
        """Tell every request of this connection that its client has gone."""
        for cycle in (self._running, *(each for each, _ in self.pipeline), self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.body = bytearray()
                cycle.message_event.set()
        self.pipeline.clear()

    def _abort(self) -> None:
        """Reset the connection, so that neither the process nor the kernel keeps unsent bytes."""
        if self._aborted:
            return
        self._aborted = True
        self._limits.slow_readers += 1
        self._disconnect()
        with suppress(OSError):  # the client may have reset it already
            self.transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, RESET)
        self.transport.abort()

    # --- receiving -------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Parse a piece of the client's bytes; ignore bytes after a refusal."""
        if self._refusal is None and not self.transport.is_closing():
            self._receive(data)

    def _receive(self, data: bytes) -> None:
        """Parse a piece of the client's bytes, within the bounds."""
        self._unset_keepalive_if_required()
        self._has_progress = False
        self._piece_bytes = len(data)
        self._stalls.received += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError as error:
            self._refuse(parser_problem(error))
            return
        if self._has_progress:
            self._idle_bytes = 0
            if not self.pipeline and not self._in_head and not self._holds_much():
                return
        else:
            self._idle_bytes += len(data)
        if self._idle_bytes > MOST_HEAD_BYTES:
            self._refuse(head_too_large())
        elif self._in_head and len(self.headers) > MOST_HEADERS:
            self._refuse(too_many_headers())
        else:
            self._count_bytes()

    def _holds_much(self) -> bool:
        """Return whether the newest request has a large head or a large unread body, or had one at
        the last count of bytes.
        """
        return (
            self._reservation.size > UNCOUNTED_BYTES
            or (bool(self._heads) and self._heads[-1] > UNCOUNTED_BYTES)
            or (self.cycle is not None and len(self.cycle.body) > UNCOUNTED_BYTES)
        )

    def _is_between_requests(self) -> bool:
        """Return whether there is no partial request, no answer in progress and no pause."""
        cycle = self.cycle
        return (
            (cycle is None or (cycle.response_complete and not cycle.more_body))
            and not (self._in_head or self._idle_bytes or self.pipeline or self._running)
            and not (self._repeated or self._pause or self.flow.write_paused)
        )

    def _close_when_unused(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def _parse(self, data: bytes) -> None:
        """Parse a piece; continue with HTTP/1.1 after a head that offers an upgrade.

        The parser treats such a request as the last one, and its body as another protocol.
        """
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                data = data[offer.args[0] :]
                self.parser = self._parser_behind_head()
            else:
                return

    def _parser_behind_head(self) -> httptools.HttpRequestParser:
        """Return a parser for the bytes after the last head, which begin with its body, if any."""
        if not self._body_follows_offer:
            return httptools.HttpRequestParser(self)
        self._body_follows_offer = False
        callbacks = BehindHead(self)
        parser = httptools.HttpRequestParser(callbacks)
        framing = b"".join(b"%s: %s\r\n" % pair for pair in self.headers if pair[0] in FRAMING)
        parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")
        callbacks.primed = True
        return parser

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._has_progress = self._in_head = True
        self._first_piece_bytes = self._piece_bytes
        self._idle_bytes = 0
        self._stalls.begin_request(self._piece_bytes)

    def on_headers_complete(self) -> None:
        """Start the answer to the request. Raises Problem if the request is above a bound."""
        if len(self.headers) > MOST_HEADERS:
            raise too_many_headers()
        # An upper bound of the size of the head.
        size = self._first_piece_bytes + self._idle_bytes + self._piece_bytes
        if size > PIPELINED_BYTES:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > MOST_HEAD_BYTES:
                raise head_too_large()
        if len(self.pipeline) >= MOST_PIPELINED:
            raise Problem(
                400, f"At most {MOST_PIPELINED} requests may wait for the answer to an earlier one."
            )
        self._body_follows_offer = self.parser.should_upgrade() and any(
            name in FRAMING and value.strip(b"0") for name, value in self.headers
        )
        self._limits.idle.pop(self, None)
        self._heads.append(size)
        super().on_headers_complete()
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body for the application."""
        self._has_progress = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Admit the complete request if it is a ranking."""
        if self._body_follows_offer:
            return
        super().on_message_complete()
        cycle = self.cycle
        cycle.more_body = False  # also if it was answered before its end
        if self._wanted is not None and cycle is self._running and not cycle.response_complete:
            self._admit(cycle, self._wanted)

    # --- admission -------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Let the application answer, unless there are too many rankings or GETs."""
        self._running = cycle
        admission = self._limits.admission
        wanted = self._wanted = self._places_of(cycle)
        if wanted is not None:
            if self._repeated or wanted.is_full:
                self._shed_ranking(cycle)
                return
        elif shedding.is_read(cycle):
            if self._repeated or not admission.reads.take():
                admission.shed_reads += 1
                self._shed(cycle, TOO_MANY_READS)
                return
            app = admission.reads.left_by(app)  # type: ignore[assignment, arg-type]  # as ASGI has it
        super()._start_asgi_task(cycle, app)
        if wanted is not None and not cycle.more_body:  # complete since it waited in the pipeline
            self._admit(cycle, wanted)

    def _places_of(self, cycle: RequestResponseCycle) -> Places | None:
        if not shedding.is_ranking(cycle):
            return None
        return self._limits.admission.places(shedding.has_encoding(cycle))

    def _admit(self, cycle: RequestResponseCycle, places: Places) -> None:
        if places.take():
            self._places = places
        else:
            self._shed_ranking(cycle)

    def _leave(self) -> None:
        """Count the ranking in progress as ended."""
        if self._places is not None:
            self._places.leave()
            self._places = None

    def _shed_ranking(self, cycle: RequestResponseCycle) -> None:
        self._limits.admission.shed += 1
        self._shed(cycle, TOO_MANY_RANKINGS)

    def _shed(self, cycle: RequestResponseCycle, refusal: Refusal) -> None:
        """Refuse a request at the least cost, and pause reading the connection.

        A proxy sends requests of many clients over one connection and reuses it at once. Its
        connection is read without a pause; otherwise the refusal of one request would delay or
        refuse requests of other clients.
        """
        if self.expect_100_continue and cycle.more_body:
            cycle.keep_alive = False  # the client may omit the body after this answer
        answer = refusal.answer(cycle.scope["method"], close=not cycle.keep_alive)
        self.transport.write(self._limits.cors.add_to(answer, cycle.scope["headers"]))
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()
        if not self.transport.is_closing() and not shedding.came_by_proxy(cycle):
            self.flow.pause_reading()
            if self._pause is None:
                pause = shedding.pause_after_shedding(self._limits.connections)
                self._pause = self.loop.call_later(pause, self._read_again)

    def _read_again(self) -> None:
        """Read the connection again; requests that were sent during the pause are shed again.

        Bytes sent during the pause are read in the poll of this turn of the loop; the second
        callback runs in the next turn, after that poll.
        """
        self._pause = None
        if self.transport.is_closing():
            return
        self._repeated = True
        self.flow.resume_reading()
        self.loop.call_soon(self.loop.call_soon, self._end_repetition)

    def _end_repetition(self) -> None:
        self._repeated = False

    # --- sending ---------------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        """Continue with the next request of the connection, or send the pending refusal."""
        self._heads.popleft()
        self._leave()
        self._running = None
        self._stalls.linger_seconds = 0
        super().on_response_complete()
        if self._refusal is not None and self._running is None:
            self._send_last(self._refusal)
        if self._running is None and not self.transport.is_closing():
            self._limits.idle[self] = None
        if self._reservation.size:
            self._count_bytes()

    def pause_writing(self) -> None:
        """Count an answer that the client has not read yet."""
        super().pause_writing()
        self._count_bytes()

    def resume_writing(self) -> None:
        """Note that the client has read most of an answer."""
        super().resume_writing()
        self._stalls.unread_seconds = 0
        self._count_bytes()

    # --- bounds ----------------------------------------------------------------------------------

    def pass_second(self) -> None:
        """End the connection of a client that sends or reads too slowly; called once a second."""
        self._count_bytes()
        if self._stalls.unread(self.transport.get_write_buffer_size()) > UNREAD_SECONDS:
            self._abort()
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is not None and cycle.response_complete and cycle.more_body:
            self._stalls.linger_seconds += 1
            if self._stalls.linger_seconds > LINGER_SECONDS:
                self.transport.close()
        elif self._stalls.quiet(self._is_waiting()) > QUIET_SECONDS:
            self._refuse(Problem(408, f"The request was not complete after {QUIET_SECONDS} s."))

    def _is_waiting(self) -> bool:
        """Return whether the client has to send bytes. A stream may be slow: its key is known."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        waiting = cycle.more_body and not self.flow.read_paused
        return waiting and not (cycle is self._running and shedding.is_stream(cycle))

    def _count_bytes(self) -> None:
        """Count the bytes buffered in this connection; close it if they do not fit."""
        if self.transport.is_closing():
            self._reservation.release()  # received bytes; unsent ones are few, or soon aborted
            return
        size = self.transport.get_write_buffer_size() + self._unparsed_bytes()
        if self._in_head:
            size += self._idle_bytes + self._first_piece_bytes
        size += sum(self._heads)
        if self.cycle is not None and not self.cycle.response_complete:
            size += len(self.cycle.body)
        if self.pipeline:
            older = (cycle for cycle, _ in self.pipeline if cycle is not self.cycle)
            size += sum(len(each.body) for each in older) + PIPELINED_BYTES * len(self.pipeline)
        try:
            self._reservation.resize(size)
        except Problem as problem:
            if self.flow.write_paused:
                self._abort()
            elif self._in_head or self.pipeline or self._has_more_body():
                self._refuse(problem)

    def _unparsed_bytes(self) -> int:
        """Return the number of received bytes that are not yet parsed."""
        return 0

    def _has_more_body(self) -> bool:
        return self.cycle is not None and self.cycle.more_body

    # --- refusals --------------------------------------------------------------------------------

    def _refuse(self, problem: Problem) -> None:
        """Close the connection with this problem as the last answer, unless another answer has
        begun.

        Earlier requests are answered first; the refused request is not.
        """
        if problem.status in (400, 431):
            self._limits.bad_requests += 1
            host = self.client[0] if self.client else "a client"
            self._limits.faults.add(f"bad request from {host}: {problem.detail}")
        refused = self.cycle if self._has_more_body() else None
        if refused is not None and self.pipeline and self.pipeline[0][0] is refused:
            self.pipeline.popleft()
        if self._running is not None and self._running is not refused:
            self._refusal = problem.with_traceback(
                None
            )  # the traceback would keep the received bytes
            self.flow.pause_reading()
        elif refused is not None and refused.response_started:
            self._disconnect()
            self.transport.close()
        elif refused is not None or self._in_head or problem.status == 400:
            self._send_last(problem)
        else:
            self.transport.close()

    def _send_last(self, problem: Problem) -> None:
        # A head that cannot be parsed has no origin, unless its Origin line was parsed before.
        is_of_request = self._in_head or self._has_more_body()
        answer = response_of(problem, close=True)
        self._disconnect()
        self.transport.write(
            self._limits.cors.add_to(answer, self.headers if is_of_request else [])
        )
        self.transport.close()
