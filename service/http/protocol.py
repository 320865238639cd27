"""One HTTP/1.1 connection: what it may hold, how long it may take, when it is refused."""

from asyncio import AbstractEventLoop, Transport
from collections.abc import Callable, Iterable
from contextlib import suppress
from http import HTTPStatus
from itertools import chain
from socket import SO_LINGER, SOL_SOCKET
from struct import pack
from typing import Any

import httptools
from uvicorn import Config
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from manyclass.service.http.limits import Limits
from manyclass.service.http.problems import Problem, problem_of, unavailable
from manyclass.service.http.request_body import NDJSON, media_type

QUIET_SECONDS = 60  # in which a request that has begun must bring LEAST_BYTES, or its end
LEAST_BYTES = 16_384
MOST_HEAD_BYTES = 65_536  # of URL and headers
MOST_HEADERS = 100
MOST_PIPELINED = 16  # requests that wait for the answer of an earlier one
PIPELINED_BYTES = 4_096  # that such a request takes, about, with its scope

UNREAD_SECONDS = 30  # in which a client must read DRAINED_BYTES of an answer, or its end
DRAINED_BYTES = 65_536
LINGER_SECONDS = 10  # in which the rest of a body must come after its answer

Headers = Iterable[tuple[bytes, bytes]]

RESET = pack("ii", 1, 0)  # lingering for no time: close() discards what was not sent

RANK = "/rank"
LEARN = "/learn"
FRAMING = (b"content-length", b"transfer-encoding")  # one of them is there if there is a body
# A client that repeats a shed request at once is slowed down: its connection is not read for a
# while, longer the more connections there are, so that all of them together cost little.
PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 1.0
SHED_A_SECOND = 1_000
PROXY_HEADERS = (b"via", b"forwarded", b"x-forwarded-for")  # a proxy sends one of these


class Outlet:
    """A transport that drops what is written after it was closed, as sockets of clients may be."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.is_closing = transport.is_closing
        self.close = transport.close
        self.abort = transport.abort
        self.get_extra_info = transport.get_extra_info

    def write(self, data: bytes) -> None:
        """Send this, unless the connection is closed."""
        if not self._transport.is_closing():
            self._transport.write(data)


class _BehindHead:
    """The callbacks of a parser that begins behind a head: until `primed` they do nothing."""

    def __init__(self, protocol: "Protocol") -> None:
        self._protocol = protocol
        self.primed = False

    def __getattr__(self, name: str) -> Callable[..., None]:
        callback = getattr(self._protocol, name)

        def call(*given: bytes) -> None:
            if self.primed:
                callback(*given)

        return call


class Protocol(HttpToolsProtocol):
    """HTTP/1.1 with bounds, whose refusals are problems like any other.

    Nobody's key is known before the head of a request is whole. So heads, the time a request
    takes to arrive, pipelined requests and unread answers are bounded here, and the bytes that
    wait in a connection count in the memory budget.

    Belongs to the event loop. `_running` is the request that the application answers; requests in
    `pipeline` wait for it, and `cycle` is the newest of all, whose body may still arrive.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
        *,
        limits: Limits,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._reservation = limits.budget.reserve()
        self._outlet: Outlet | None = None
        self._running: RequestResponseCycle | None = None
        self._admitted: RequestResponseCycle | None = None  # a ranking in work
        self._refusal: Problem | None = None  # to be sent after the answers before it
        self._repeated = False  # what arrives now was sent while the connection was not read
        self._aborted = False
        self._body_follows_offer = False  # of a request that offers to upgrade
        self._in_head = False
        self._barren = 0  # bytes received since a request began or a piece of its body came
        self._arriving = 0  # bytes of the piece that is read now
        self._begun_with = 0  # bytes of the piece in which the request began
        self._fruitful = False  # the piece read now has the begin of a request, or some of a body
        self._arrived = 0  # bytes of the request since the time for them began
        self._quiet_seconds = 0
        self._unread_seconds = 0
        self._unread_bytes = 0
        self._linger_seconds = 0

    # --- the connection --------------------------------------------------------------------------

    def connection_made(
        self,
        transport: Transport,  # type: ignore[override]  # as in uvicorn: TCP has a Transport
    ) -> None:
        """Take the connection, or refuse it when there are too many, and none is idle."""
        super().connection_made(transport)
        self._outlet = Outlet(transport)
        self.transport = self._outlet  # type: ignore[assignment]  # it has what uvicorn calls
        if not self._limits.admit(self):
            self._outlet.write(TOO_MANY_CONNECTIONS)
            self._outlet.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let every request of this connection end."""
        self._limits.forget(self)
        self._disconnect()
        self._leave()
        super().connection_lost(exc)
        self._reservation.release()
        self._running = self.cycle = None  # type: ignore[assignment]  # they refer to this

    def close_if_idle(self) -> bool:
        """Close the connection unless a request is under way; return whether it was closed."""
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
                cycle.message_event.set()
        self.pipeline.clear()

    def _abort(self) -> None:
        """Reset the connection: neither the process nor the kernel keeps what is not sent yet."""
        if self._aborted:
            return
        self._aborted = True
        self._limits.slow_readers += 1
        self._disconnect()
        with suppress(OSError):  # the client may have reset it in this moment
            self.transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, RESET)
        self.transport.abort()

    # --- what arrives ----------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Read a piece of what the client sends."""
        if self._refusal is not None or self.transport.is_closing():
            return  # nothing that follows a refusal is read
        self._unset_keepalive_if_required()
        self._fruitful = False
        self._arriving = len(data)
        self._arrived += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError as error:
            self._refuse(_problem_of(error))
            return
        if self._fruitful:
            self._barren = 0
            if not self.pipeline and not self._in_head:
                return
        else:
            self._barren += len(data)
        if self._barren > MOST_HEAD_BYTES:
            self._refuse(_head_too_large())
        elif self._in_head and len(self.headers) > MOST_HEADERS:
            self._refuse(_too_many_headers())
        else:
            self._count_bytes()

    def _parse(self, data: bytes) -> None:
        """Parse what arrives; HTTP/1.1 goes on behind a head that offers to upgrade.

        The parser takes such a request for the last one, and its body for another protocol.
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
        """Return a parser for what follows the head that was read last: its body, if it has one."""
        if not self._body_follows_offer:
            return httptools.HttpRequestParser(self)
        self._body_follows_offer = False
        callbacks = _BehindHead(self)
        parser = httptools.HttpRequestParser(callbacks)
        framing = b"".join(b"%s: %s\r\n" % pair for pair in self.headers if pair[0] in FRAMING)
        parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")
        callbacks.primed = True
        return parser

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._fruitful = self._in_head = True
        self._begun_with = self._arriving
        self._arrived = self._arriving
        self._barren = self._quiet_seconds = 0

    def on_headers_complete(self) -> None:
        """Let the request be answered; raises Problem when it is too much."""
        if len(self.headers) > MOST_HEADERS:
            raise _too_many_headers()
        if self._begun_with + self._barren + self._arriving > MOST_HEAD_BYTES:  # it may be so
            lines = sum(len(name) + len(value) for name, value in self.headers)
            if len(self.url) + lines > MOST_HEAD_BYTES:
                raise _head_too_large()
        if len(self.pipeline) >= MOST_PIPELINED:
            raise Problem(
                400, f"At most {MOST_PIPELINED} requests may wait for the answer of an earlier one."
            )
        self._body_follows_offer = self.parser.should_upgrade() and any(
            name in FRAMING and value.strip(b"0") for name, value in self.headers
        )
        self._limits.idle.pop(self, None)
        super().on_headers_complete()
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body for the application."""
        self._fruitful = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Admit the request if it is a ranking, now that all of it is here."""
        if self._body_follows_offer:
            return
        super().on_message_complete()
        cycle = self.cycle
        cycle.more_body = False  # also when it was answered before its end came
        if cycle is self._running and not cycle.response_complete and _ranks(cycle):
            self._admit(cycle)

    # --- admission -------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Have the application answer, unless it is a ranking and there are too many."""
        self._running = cycle
        ranks = _ranks(cycle)
        if ranks and (self._limits.admission.is_full or self._repeated):
            self._shed(cycle)
            return
        super()._start_asgi_task(cycle, app)
        if ranks and not cycle.more_body:  # it waited in the pipeline
            self._admit(cycle)

    def _admit(self, cycle: RequestResponseCycle) -> None:
        if self._limits.admission.is_full:
            self._shed(cycle)
        else:
            self._limits.admission.running += 1
            self._admitted = cycle

    def _leave(self) -> None:
        """Count a ranking no longer."""
        if self._admitted is not None:
            self._admitted = None
            self._limits.admission.running -= 1

    def _shed(self, cycle: RequestResponseCycle) -> None:
        """Refuse a ranking at the least cost, and do not read the connection for a while.

        A proxy sends requests of many clients over one connection, and uses it again at once. It is
        read on, or the refusal of one ranking would delay and refuse those of other clients.
        """
        admission = self._limits.admission
        admission.shed += 1
        if self.expect_100_continue and cycle.more_body:
            cycle.keep_alive = False  # the client may leave the body out after this answer
        refusal = OVERLOADED if cycle.keep_alive else OVERLOADED_LAST
        self.transport.write(self._with_cors(refusal, cycle.scope["headers"]))
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()
        if not self.transport.is_closing() and not _came_by_proxy(cycle):
            pause = max(PAUSE_SECONDS, self._limits.connections / SHED_A_SECOND)
            self.flow.pause_reading()
            self.loop.call_later(min(pause, LONGEST_PAUSE_SECONDS), self._read_again)

    def _read_again(self) -> None:
        """Read the connection again; what is there already came too early, and is shed again.

        Bytes sent during the pause are read in the poll of this turn of the loop; the second
        callback runs in the next turn, after that poll.
        """
        if self.transport.is_closing():
            return
        self._repeated = True
        self.flow.resume_reading()
        self.loop.call_soon(self.loop.call_soon, self._end_repetition)

    def _end_repetition(self) -> None:
        self._repeated = False

    # --- what is sent ----------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        """Go on with the next request of the connection, or with the refusal of what followed."""
        self._leave()
        self._running = None
        self._linger_seconds = 0
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
        """The client has read most of an answer."""
        super().resume_writing()
        self._unread_seconds = 0
        self._count_bytes()

    # --- bounds ----------------------------------------------------------------------------------

    def pass_second(self, most_quiet: int, most_unread: int = UNREAD_SECONDS) -> None:
        """Called once a second: wait no longer for a client that neither sends nor reads."""
        self._count_bytes()
        self._pass_unread_second(most_unread)
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is not None and cycle.response_complete and cycle.more_body:
            self._linger_seconds += 1
            if self._linger_seconds > LINGER_SECONDS:
                self.transport.close()
            return
        if not self._is_waiting() or self._arrived >= LEAST_BYTES:
            self._arrived = self._quiet_seconds = 0
            return
        self._quiet_seconds += 1
        if self._quiet_seconds > most_quiet:
            self._refuse(Problem(408, f"The request did not come to its end in {most_quiet} s."))

    def _pass_unread_second(self, most_unread: int) -> None:
        """Close a connection whose answers are not read, also one that is closing already."""
        unread = self.transport.get_write_buffer_size()
        if not unread or unread <= self._unread_bytes - DRAINED_BYTES:
            self._unread_seconds = 0
        if not self._unread_seconds:
            self._unread_bytes = unread
        if unread:
            self._unread_seconds += 1
            if self._unread_seconds > most_unread:
                self._abort()

    def _is_waiting(self) -> bool:
        """Return whether it is the client's turn. A stream may be slow, as it has shown its key."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        waiting = cycle.more_body and not self.flow.read_paused
        is_stream = (
            cycle is self._running
            and cycle.scope["path"] == LEARN
            and cycle.scope["method"] == "POST"
            and media_type(dict(self.headers)) == NDJSON
        )
        return waiting and not is_stream

    def _count_bytes(self) -> None:
        """Count the bytes that wait in this connection; close it when they do not fit."""
        if self.transport.is_closing():
            self._reservation.release()  # of the bytes in; those out are few, or soon aborted
            return
        size = self.transport.get_write_buffer_size()
        if self._in_head:
            size += self._barren + self._begun_with
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

    def _has_more_body(self) -> bool:
        return self.cycle is not None and self.cycle.more_body

    # --- refusals --------------------------------------------------------------------------------

    def _refuse(self, problem: Problem) -> None:
        """Close, with this problem as the last answer unless that would come amid another.

        Requests before the one refused are answered first; it is not.
        """
        if problem.status in (400, 431):
            self._limits.bad_requests += 1
            host = self.client[0] if self.client else "a client"
            self._limits.faults.add(f"bad request from {host}: {problem.detail}")
        refused = self.cycle if self._has_more_body() else None
        if refused is not None and self.pipeline and self.pipeline[0][0] is refused:
            self.pipeline.popleft()
        if self._running is not None and self._running is not refused:
            self._refusal = problem.with_traceback(None)  # which keeps the bytes that were read
            self.flow.pause_reading()
        elif refused is not None and refused.response_started:
            self._disconnect()
            self.transport.close()
        elif refused is not None or self._in_head or problem.status == 400:
            self._send_last(problem)
        else:
            self.transport.close()

    def _send_last(self, problem: Problem) -> None:
        # A head that cannot be parsed has no origin, unless the line that names it came before.
        is_of_request = self._in_head or self._has_more_body()
        answer = _response_of(problem, close=True)
        self._disconnect()
        self.transport.write(self._with_cors(answer, self.headers if is_of_request else []))
        self.transport.close()

    def _with_cors(self, answer: bytes, request_headers: Headers) -> bytes:
        """Return the answer with the headers that let a page of an allowed origin read it."""
        if not self._limits.cors.is_enabled:
            return answer
        added = self._limits.cors.headers_for(dict(request_headers).get(b"origin"))
        head, end, body = answer.partition(b"\r\n\r\n")
        lines = b"".join(b"\r\n%s: %s" % pair for pair in added)
        return b"".join((head, lines, end, body))


def _ranks(cycle: RequestResponseCycle) -> bool:
    return cycle.scope["path"] == RANK and cycle.scope["method"] == "POST"


def _came_by_proxy(cycle: RequestResponseCycle) -> bool:
    return any(name in PROXY_HEADERS for name, _ in cycle.scope["headers"])


def _response_of(problem: Problem, close: bool) -> bytes:
    """The whole answer as it goes over the wire."""
    status, headers, body = problem.answer()
    first = b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())
    last = [b"connection: close"] if close else []
    head = chain([first], (b"%s: %s" % pair for pair in headers), last)
    return b"\r\n".join([*head, b"", body])


def _problem_of(error: httptools.HttpParserError) -> Problem:
    """The problem raised in a callback of the parser, or that this is not HTTP."""
    cause = error.__context__
    if isinstance(cause, Problem | MemoryError):
        return problem_of(cause)
    return Problem(400, "Invalid HTTP request received.")


def _head_too_large() -> Problem:
    return Problem(431, f"A URL and headers have at most {MOST_HEAD_BYTES} bytes together.")


def _too_many_headers() -> Problem:
    return Problem(431, f"A request has at most {MOST_HEADERS} headers.")


_OVERLOAD = unavailable("Too many rankings are in work at once.")
OVERLOADED = _response_of(_OVERLOAD, close=False)
OVERLOADED_LAST = _response_of(_OVERLOAD, close=True)
# Sent before any request is read, so its origin is not known and pages cannot read the answer.
TOO_MANY_CONNECTIONS = _response_of(unavailable("There are too many connections."), close=True)
