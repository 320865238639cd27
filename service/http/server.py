"""The process: one event loop that serves until a signal and then closes the engine.

If there are workers, they accept the connections and hand some over to the event loop.
"""

import asyncio
import gc
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from errno import EACCES, EADDRINUSE
from functools import partial
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit
from socket import (
    AF_INET6,
    AI_PASSIVE,
    IPPROTO_IPV6,
    IPV6_V6ONLY,
    SO_REUSEADDR,
    SOCK_STREAM,
    SOL_SOCKET,
    getaddrinfo,
    socket,
)

import uvicorn

from manyclass.service.config.cores import default_workers
from manyclass.service.config.settings import Settings
from manyclass.service.errors import with_hint
from manyclass.service.http.app import App, create_app
from manyclass.service.http.bounded_protocol import HandedOver
from manyclass.service.http.native_tier import NativeTier
from manyclass.service.http.plain_learning import WorkerLearning
from manyclass.service.http.protocol import Protocol
from manyclass.service.http.stalls import QUIET_SECONDS
from manyclass.service.http.welcome import url_of, welcome
from manyclass.service.http.workers import Workers

log = logging.getLogger(__name__)

OTHER_FILES = 64  # open files besides connections: the store, the log, threads of the loop
GRACE_SECONDS = 10  # time for answers in progress when the service stops
TICKS_A_SECOND = 10  # as in uvicorn


class StartFailed(Exception):
    """The state could not be restored. The text has the reason and the remedy."""


class AddressUnavailable(Exception):
    """The service cannot listen on the address or port. The text has the reason and the remedy."""


class Server(uvicorn.Server):
    """Uvicorn's server, which also stops if the engine cannot start, and ends streams first."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: App,
        protocol: Callable[..., Protocol],
        workers: int = 0,
    ) -> None:
        """`workers` threads answer plain requests, if the application has a native tier."""
        super().__init__(config)
        self._app = app
        self._protocol = protocol
        self._workers = 0 if app.native is None else workers
        self._learning: WorkerLearning | None = None  # submits the events of the workers
        self._was_ready = False
        self.port = config.port  # once the server listens, the chosen port if this is 0
        self._taking_over = set[asyncio.Task[object]]()

    @property
    def start_failed(self) -> bool:
        """True if the engine failed before it was ready."""
        return self._app.engine.status == "failed" and not self._was_ready

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen. Raises AddressUnavailable instead of ending the process as uvicorn does."""
        try:
            await super().startup(sockets)
        except SystemExit as exit:
            if not isinstance(exit.__context__, OSError):
                raise
            raise _unavailable(self.config.host, self.config.port, exit.__context__) from exit
        listeners = [listener for server in self.servers for listener in server.sockets]
        self.port = listeners[0].getsockname()[1]
        if self._app.native is not None and self._workers:
            self._start(self._app.native, listeners)

    def _start(self, native: NativeTier, listeners: Sequence[socket]) -> None:
        """Let the workers accept the connections instead of the event loop."""
        workers = native.workers
        workers.start(
            self._workers,
            listeners,
            self._app.limits.max_connections,
            self.config.timeout_keep_alive,
            QUIET_SECONDS,
        )
        for server in self.servers:
            server.close()  # the workers have their own descriptors
        asyncio.get_running_loop().add_reader(workers.fileno(), self._take_over_next, workers)
        self._learning = native.worker_learning(self.server_state)
        self._learning.start()

    def _take_over_next(self, workers: Workers) -> None:
        """Take connections over, or try again in the next turn if some are being taken over.

        The bytes of connections are counted in the memory budget only when they are taken over. The
        workers stop receiving while many bytes wait.
        """
        if not self._taking_over:
            self._take_over(workers)

    def _take_over(self, workers: Workers) -> None:
        """Continue with the connections that workers hand over."""
        loop = asyncio.get_running_loop()
        for descriptor, received, unsent in workers.handed_over():
            task = loop.create_task(
                loop.connect_accepted_socket(
                    partial(
                        self._protocol,
                        config=self.config,
                        server_state=self.server_state,
                        app_state=self.lifespan.state,
                        handed_over=HandedOver(received, unsent),
                    ),
                    socket(fileno=descriptor),
                )
            )
            self._taking_over.add(task)  # the loop keeps only weak references
            task.add_done_callback(self._taken_over)

    def _taken_over(self, task: asyncio.Task[object]) -> None:
        self._taking_over.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("a connection could not be taken over from a worker: %r", error)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop; called ten times a second."""
        if not self._was_ready and self._app.engine.status == "ready":
            self._was_ready = True
            url = url_of(self.config.host, self.port)
            for line in welcome(url, self.port, self._app.engine.model.seq):
                log.info("%s", line)
        if counter % TICKS_A_SECOND == 0:
            for connection in list(self.server_state.connections):
                if isinstance(connection, Protocol):
                    connection.pass_second()
        return await super().on_tick(counter) or self.start_failed

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the streams with a report, then stop as uvicorn does."""
        self._app.stopping.set()
        if self._app.native is not None and self._workers:
            workers = self._app.native.workers
            if self._learning is not None:
                await self._learning.stop()
            asyncio.get_running_loop().remove_reader(workers.fileno())
            workers.stop()
            self._take_over(workers)
            await asyncio.gather(*self._taking_over, return_exceptions=True)
        await super().shutdown(sockets)


def check_address(host: str, port: int) -> None:
    """Raise AddressUnavailable if the service cannot listen there, before a store is made."""
    try:
        found = getaddrinfo(host, port, type=SOCK_STREAM, flags=AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            try:
                probe = socket(family, kind, protocol)
            except OSError:  # a kernel without IPv6; the listener skips this address too
                continue
            with probe:
                probe.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)  # as for the listener itself
                if family == AF_INET6:
                    probe.setsockopt(IPPROTO_IPV6, IPV6_V6ONLY, 1)
                probe.bind(address)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name is invalid
        raise _unavailable(host, port, error) from error


def _unavailable(host: str, port: int, error: OSError | UnicodeError) -> AddressUnavailable:
    # The code is 0 or less if the name has no address.
    code = (isinstance(error, OSError) and error.errno) or 0
    reason = os.strerror(code) if code > 0 else str(error)
    remedy = {
        EADDRINUSE: "stop the program that listens there, or choose another port with --port or"
        " MANYCLASS_PORT (0 chooses a free one), and also another --store or MANYCLASS_STORE if a"
        " service runs there (make run PORT=8100 STORE=sqlite:data/other.db); clients then need"
        " --url or MANYCLASS_URL",
        EACCES: "choose a port above 1023 with --port or MANYCLASS_PORT",
    }.get(code, "name an address of this machine with --host or MANYCLASS_HOST")
    return AddressUnavailable(f"cannot listen on {host}:{port}: {reason}; {remedy}")


def server_of(app: App, settings: Settings) -> Server:
    """Return the server that `run` runs."""
    protocol = partial(Protocol, limits=app.limits, native=app.native)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=protocol,  # type: ignore[arg-type]  # called like a class
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing reads the client's address or the scheme
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    workers = default_workers() if settings.workers is None else settings.workers
    return Server(config, app, protocol, workers)


def allow_connections(wanted: int) -> int:
    """Raise the process's limit of open files for the wanted connections, as far as possible.

    Return the possible number of connections: at the limit of open files, a connection could not
    even be accepted to be refused.
    """
    needed = wanted + OTHER_FILES
    soft, hard = getrlimit(RLIMIT_NOFILE)
    if soft == RLIM_INFINITY or soft >= needed:
        return wanted
    allowed = needed if hard == RLIM_INFINITY else min(needed, hard)
    setrlimit(RLIMIT_NOFILE, (allowed, hard))
    if allowed == needed:
        return wanted
    connections = max(1, allowed - OTHER_FILES)
    log.warning(
        "at most %d files may be open, so there are at most %d connections instead of"
        " MANYCLASS_MAX_CONNECTIONS=%d; raise the limit (ulimit -n) to %d, or lower the setting",
        allowed,
        connections,
        wanted,
        needed,
    )
    return connections


def run(settings: Settings, create: Callable[[Settings], App] = create_app) -> None:
    """Serve the application that `create` makes, until SIGINT or SIGTERM.

    Raises StoreError, AddressUnavailable and StartFailed.
    """
    check_address(settings.host, settings.port)
    connections = allow_connections(settings.max_connections)
    app = create(settings)
    app.limits.max_connections = connections
    # Exempt the objects that live as long as the process from garbage collection, because a full
    # collection would block the event loop for 50 ms.
    gc.collect()
    gc.freeze()
    with suppress(KeyboardInterrupt):  # uvicorn raises it once everything is closed
        server_of(app, settings).run()
    cause, failure = app.engine.cause, app.engine.failure
    if cause is not None:
        raise StartFailed(with_hint(cause)) from cause
    if failure is not None:
        raise StartFailed(failure)
