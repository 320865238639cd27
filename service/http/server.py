"""The process: one event loop that serves until a signal, and then closes the engine."""

import gc
import logging
import os
from contextlib import suppress
from errno import EACCES, EADDRINUSE
from functools import partial
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit
from socket import socket

import uvicorn

from manyclass.service.config.settings import Settings
from manyclass.service.errors import with_hint
from manyclass.service.http.app import App, create_app
from manyclass.service.http.protocol import Protocol

log = logging.getLogger(__name__)

OTHER_FILES = 64  # open beside connections: the store, the log, threads of the loop
GRACE_SECONDS = 10  # for answers in progress when the service stops
TICKS_A_SECOND = 10  # as uvicorn has it


class StartFailed(Exception):
    """The state could not be restored. The text has the reason and the remedy."""


class AddressUnavailable(Exception):
    """The address or the port cannot be listened on. The text has the reason and the remedy."""


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

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen. Raises AddressUnavailable where uvicorn ends the process."""
        try:
            await super().startup(sockets)
        except SystemExit as exit:
            if not isinstance(exit.__context__, OSError):
                raise
            raise _unavailable(self.config, exit.__context__) from exit

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop; called ten times a second."""
        self._was_ready = self._was_ready or self._app.engine.status == "ready"
        if counter % TICKS_A_SECOND == 0:
            for connection in list(self.server_state.connections):
                if isinstance(connection, Protocol):
                    connection.pass_second()
        return await super().on_tick(counter) or self.start_failed

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the streams with a report, then stop as uvicorn does."""
        self._app.stopping.set()
        await super().shutdown(sockets)


def _unavailable(config: uvicorn.Config, error: OSError) -> AddressUnavailable:
    code = error.errno or 0  # not above 0 when the name has no address
    reason = os.strerror(code) if code > 0 else str(error)
    remedy = {
        EADDRINUSE: "stop the program that listens there, or choose another port with --port or"
        " MANYCLASS_PORT (0 takes a free one)",
        EACCES: "choose a port above 1023 with --port or MANYCLASS_PORT",
    }.get(code, "name an address of this machine with --host or MANYCLASS_HOST")
    return AddressUnavailable(f"cannot listen on {config.host}:{config.port}: {reason}; {remedy}")


def server_of(app: App, settings: Settings) -> Server:
    """Return the server that `run` runs."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=partial(  # type: ignore[arg-type]  # called like a class
            Protocol, limits=app.limits, plain_rankings=app.plain_rankings
        ),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing reads the client's address or the scheme
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, app)


def allow_open_files(connections: int) -> None:
    """Raise the process's limit of open files for this many connections, as far as possible."""
    needed = connections + OTHER_FILES
    soft, hard = getrlimit(RLIMIT_NOFILE)
    if soft == RLIM_INFINITY or soft >= needed:
        return
    allowed = needed if hard == RLIM_INFINITY else min(needed, hard)
    setrlimit(RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log.warning(
            "%d files may be open at once, too few for MANYCLASS_MAX_CONNECTIONS=%d: raise the"
            " limit (ulimit -n) to %d, or lower the setting",
            allowed,
            connections,
            needed,
        )


def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Raises StoreError, AddressUnavailable and StartFailed."""
    allow_open_files(settings.max_connections)
    app = create_app(settings)
    # Objects that live as long as the process are exempt from garbage collection: a full collection
    # would block the event loop for 50 ms.
    gc.collect()
    gc.freeze()
    with suppress(KeyboardInterrupt):  # uvicorn raises it once everything is closed
        server_of(app, settings).run()
    cause, failure = app.engine.cause, app.engine.failure
    if cause is not None:
        raise StartFailed(with_hint(cause)) from cause
    if failure is not None:
        raise StartFailed(failure)
