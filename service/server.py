"""The process: one event loop that serves until it is told to stop, and then closes the engine."""

import gc
import sys
from http import HTTPStatus
from socket import socket

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from manyclass.service.app import App, create_app
from manyclass.service.body import media_type
from manyclass.service.errors import Problem
from manyclass.service.routes.learn_stream import MEDIA_TYPE as NDJSON
from manyclass.service.settings import Settings
from manyclass.service.writer import with_hint

GRACE_SECONDS = 10  # for answers under way when the service is told to stop
QUIET_SECONDS = 60  # in which something of a request that has begun has to arrive
TICKS_A_SECOND = 10  # as uvicorn has it
MOST_HEAD_BYTES = 65_536  # of URL and headers


class StartFailed(Exception):
    """The state could not be brought back. The text says why and what to do."""


class HeadTooLarge(Exception):
    """A URL and headers of more bytes than a request may have."""


class Protocol(HttpToolsProtocol):
    """HTTP/1.1, whose refusal of what is no HTTP is a problem like any other.

    Nobody's key is known before the head of a request is whole, so that is bounded, and so is what
    may follow a body, and the time in which nothing comes.
    """

    _barren = 0  # bytes received since a request began or a piece of its body came
    _arriving = 0  # bytes of the piece that is read now
    _begun_with = 0  # bytes of the piece in which the request began
    _fruitful = False  # the piece that is read now has the begin of a request, or some of a body
    _in_head = False
    _quiet_seconds = 0

    def data_received(self, data: bytes) -> None:
        """Read a piece of what the client sends."""
        self._quiet_seconds = 0
        self._fruitful = False
        self._arriving = len(data)
        HttpToolsProtocol.data_received(self, data)  # super() would look it up each time
        if self._fruitful:
            self._barren = 0
            return
        self._barren += len(data)
        if self._barren > MOST_HEAD_BYTES:
            self._refuse(_head_too_large())

    def on_message_begin(self) -> None:
        """A request begins."""
        HttpToolsProtocol.on_message_begin(self)
        self._fruitful = self._in_head = True
        self._begun_with = self._arriving
        self._barren = 0

    def on_headers_complete(self) -> None:
        """Raise HeadTooLarge, or let the request be answered."""
        if self._begun_with + self._barren + self._arriving > MOST_HEAD_BYTES:  # it may be so
            lines = sum(len(name) + len(value) for name, value in self.headers)
            if len(self.url) + lines > MOST_HEAD_BYTES:
                raise HeadTooLarge
        self._in_head = False
        HttpToolsProtocol.on_headers_complete(self)

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._fruitful = True
        HttpToolsProtocol.on_body(self, body)

    def pass_second(self, most_quiet: int) -> None:
        """Called once a second: wait no longer for a client from which nothing comes."""
        if not self._is_waiting():
            self._quiet_seconds = 0
            return
        self._quiet_seconds += 1
        if self._quiet_seconds > most_quiet:
            self._refuse(Problem(408, f"Nothing more of this request came in {most_quiet} s."))

    def send_400_response(self, msg: str) -> None:
        """Answer and close."""
        error = sys.exception()
        too_large = error is not None and isinstance(error.__context__, HeadTooLarge)
        self._refuse(_head_too_large() if too_large else Problem(400, msg))

    def _is_waiting(self) -> bool:
        """Whether it is the client's turn. A stream, which has shown its key, may be slow."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        waiting = cycle.more_body and not self.flow.read_paused
        return waiting and media_type(dict(self.headers)) != NDJSON

    def _refuse(self, problem: Problem) -> None:
        """Close, and say why unless that would come amid an answer, or before a request."""
        if self.transport.is_closing():
            return
        answered = self.cycle is None or self.cycle.response_complete
        expects_answer = self._in_head if answered else not self.cycle.response_started
        if expects_answer or problem.status == 400:
            status, headers, body = problem.answer()
            first = b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())
            head = [first, *(b"%s: %s" % pair for pair in headers)]
            self.transport.write(b"\r\n".join([*head, b"connection: close", b"", body]))
        self.transport.close()


def _head_too_large() -> Problem:
    return Problem(431, f"A URL and headers have at most {MOST_HEAD_BYTES} bytes together.")


class Server(uvicorn.Server):
    """Uvicorn's server, which also stops when the engine cannot start, and ends streams first."""

    def __init__(
        self, config: uvicorn.Config, app: App, quiet_seconds: int = QUIET_SECONDS
    ) -> None:
        super().__init__(config)
        self._app = app
        self._quiet_seconds = quiet_seconds
        self._was_ready = False

    @property
    def start_failed(self) -> bool:
        """True when the engine failed before it was ever ready."""
        return self._app.engine.status == "failed" and not self._was_ready

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop; asked ten times a second."""
        self._was_ready = self._was_ready or self._app.engine.status == "ready"
        if counter % TICKS_A_SECOND == 0:
            for connection in list(self.server_state.connections):
                if isinstance(connection, Protocol):
                    connection.pass_second(self._quiet_seconds)
        return await super().on_tick(counter) or self.start_failed

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Let streams say how far they came, then stop as uvicorn does."""
        self._app.stopping.set()
        await super().shutdown(sockets)


def server_of(app: App, settings: Settings, quiet_seconds: int = QUIET_SECONDS) -> Server:
    """The server that `run` runs."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, app, quiet_seconds)


def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Raises StoreError and StartFailed."""
    app = create_app(settings)
    # What lives as long as the process is not looked at again: that would take the event loop 50 ms
    # each time the garbage collector looks at everything.
    gc.collect()
    gc.freeze()
    server_of(app, settings).run()
    cause, failure = app.engine.cause, app.engine.failure
    if cause is not None:
        raise StartFailed(with_hint(cause)) from cause
    if failure is not None:
        raise StartFailed(failure)
