"""The process: one event loop that serves until it is told to stop, and then closes the engine."""

from socket import socket

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.app import App, create_app
from service.errors import Problem
from service.settings import Settings

GRACE_SECONDS = 10  # for answers under way when the service is told to stop


class StartFailed(Exception):
    """The state could not be brought back. The text says why and what to do."""


class Protocol(HttpToolsProtocol):
    """HTTP/1.1, whose refusal of what is no HTTP is a problem like any other."""

    def send_400_response(self, msg: str) -> None:
        """Answer and close."""
        _, headers, body = Problem(400, msg).answer()
        head = [b"HTTP/1.1 400 Bad Request", *(b"%s: %s" % pair for pair in headers)]
        self.transport.write(b"\r\n".join([*head, b"connection: close", b"", body]))
        self.transport.close()


class Server(uvicorn.Server):
    """Uvicorn's server, which also stops when the engine cannot start, and ends streams first."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app
        self._was_ready = False

    @property
    def start_failed(self) -> bool:
        """True when the engine failed before it was ever ready."""
        return self._app.engine.status == "failed" and not self._was_ready

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop; asked ten times a second."""
        self._was_ready = self._was_ready or self._app.engine.status == "ready"
        return await super().on_tick(counter) or self.start_failed

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Let streams say how far they came, then stop as uvicorn does."""
        self._app.stopping.set()
        await super().shutdown(sockets)


def server_of(app: App, settings: Settings) -> Server:
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
    return Server(config, app)


def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Raises StoreError and StartFailed."""
    app = create_app(settings)
    server_of(app, settings).run()
    failure = app.engine.failure
    if failure is not None:
        raise StartFailed(failure)
