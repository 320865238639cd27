"""create_app(settings): the parts of the service, put together. No logic."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import version
from secrets import randbits

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from manyclass.core.errors import CoreError
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.errors import Rejected
from manyclass.service.http import openapi
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.csrf import Origins
from manyclass.service.http.edge import Edge
from manyclass.service.http.hot_path import HotPath, Scope
from manyclass.service.http.problems import Problem, problem_of
from manyclass.service.http.request_body import Receive, Send
from manyclass.service.http.routes import (
    health,
    learn,
    learners,
    names,
    rank,
    reference,
    snapshots,
    state,
    stats,
)
from manyclass.service.http.routes.contract import require_known_parameters
from manyclass.service.http.routes.learn_stream import LearnStream
from manyclass.service.http.state_downloads import StateDownloads
from manyclass.service.ingest.event_builder import EventBuilder
from manyclass.service.ingest.peer_lookup import PeerLookup
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.metrics import EdgeState, Exposition, Metrics, State
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError
from manyclass.service.store.protocol import Store

log = logging.getLogger(__name__)

SUMMARY = "Ranks sparse instances against very many classes, and learns from each answer"
EXPECTED = (
    Problem,
    CoreError,
    StoreError,
    Rejected,
    HTTPException,
    RequestValidationError,
    MemoryError,
)


class App(HotPath):
    """The ASGI application, and what its server and its tests need to reach inside it."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        metrics = Metrics()
        keys = ApiKeys(settings.rank_keys, settings.learn_keys, settings.admin_keys)
        pending = PendingLabels(settings.late_label_seconds, settings.late_label_bytes, clock)
        self.stopping = asyncio.Event()
        self.edge = Edge(settings)
        cluster = Cluster(store)
        peer_lookup = PeerLookup(cluster, pending, metrics)
        self.engine = Engine(
            settings,
            cluster,
            clock,
            hash_seed=randbits(63),
            on_applied=metrics.applied,
            on_message=peer_lookup.on_message,
        )
        event_builder = EventBuilder(
            self.engine, pending, peer_lookup, metrics, settings.max_features_per_instance
        )
        stream = LearnStream(settings, event_builder, metrics, self.stopping)
        self.api = _api(self.engine, peer_lookup)
        self.api.state.engine = self.engine
        self.api.state.keys = keys
        self.api.state.downloads = StateDownloads(self.engine)
        self.api.state.late = pending
        self.api.state.metrics = metrics
        self.api.state.exposition = Exposition(
            metrics, EdgeState(self.edge), State(self.engine, metrics, wall_clock)
        )
        document = cache(partial(openapi.document, self.api, settings, keys.open))
        self.api.openapi = document  # type: ignore[method-assign]  # FastAPI's way to replace it
        ranking = rank.Rank(settings, self.engine, keys, pending, metrics, self.edge.admission)
        learning = learn.Learn(settings, self.engine, keys, event_builder, metrics, stream)
        hot = {"/rank": ranking.answer, "/learn": learning.answer}
        origins = Origins(settings.host, keys.open, settings.allowed_origins)
        super().__init__(hot, self.api, origins, metrics, self.edge.budget)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with the headers of CORS on every answer, or pass a lifespan on."""
        await self.edge.cors.call(super().__call__, scope, receive, send)


def create_app(
    settings: Settings,
    store: Store | None = None,
    clock: Callable[[], float] = time.monotonic,
    wall_clock: Callable[[], float] = time.time,
) -> App:
    """Return the service as an ASGI application; its lifespan starts and closes the engine.

    `clock` measures intervals and must never be set; `wall_clock` dates snapshots.
    Opens the store the settings name unless one is given. Raises StoreError.
    """
    if store is None:
        store = open_store(settings.store, wall_clock, settings.store_seconds)
    return App(settings, store, clock, wall_clock)


def _api(engine: Engine, peer_lookup: PeerLookup) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        starting = asyncio.create_task(engine.start())  # meanwhile the health checks are answered
        try:
            yield
        finally:
            await engine.close()
            await peer_lookup.close()
            await starting

    api = FastAPI(
        title="Manyclass",
        summary=SUMMARY,
        version=version("manyclass"),
        lifespan=lifespan,
        docs_url=None,  # routes/reference.py
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        dependencies=[Depends(require_known_parameters)],
        exception_handlers={kind: _answer_problem for kind in (*EXPECTED, Exception)},
    )
    for routes in (rank, learn, names, learners, stats, snapshots, state, health, reference):
        api.include_router(routes.router)
    api.mount("/docs/files", reference.FILES)
    return api


async def _answer_problem(request: Request, error: Exception) -> Response:
    request.app.state.metrics.out_of_memory.note(error)
    problem = problem_of(error)
    if problem.status == 500 and isinstance(error, EXPECTED):  # others are logged by the server
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    if problem.status == 405:
        problem = _with_all_methods(request, problem)
    status, headers, body = problem.answer()
    response = Response(body, status)
    response.raw_headers = headers
    return response


def _with_all_methods(request: Request, problem: Problem) -> Problem:
    """FastAPI names the methods of one route only, also where several share the path."""
    path = getattr(request.scope.get("route"), "path_format", None)
    operations = request.app.openapi()["paths"].get(path)
    if operations is None:
        return problem
    methods = ", ".join(sorted(map(str.upper, operations)))
    return Problem(405, problem.detail, headers={"Allow": methods})
