"""create_app(settings): connects the parts of the service. No logic."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache, lru_cache, partial
from importlib.metadata import version
from secrets import randbits

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route, Router

from manyclass.core.errors import CoreError
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine, history_segments
from manyclass.service.errors import HistoryOff, RebuildRefused, Rejected
from manyclass.service.history.advisor import Advisor
from manyclass.service.history.error_count import ErrorCounts
from manyclass.service.history.peer_rebuild import PeerRebuild
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.console import router as console
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.described_classes import DescribedClasses
from manyclass.service.http.documents import document_of
from manyclass.service.http.entrance import ApiEntrance, Entrance
from manyclass.service.http.event_builder import EventBuilder
from manyclass.service.http.front import Front
from manyclass.service.http.head import with_head
from manyclass.service.http.instance_labels import InstanceLabels
from manyclass.service.http.limits import Limits
from manyclass.service.http.native_tier import Guards, NativeTier
from manyclass.service.http.openapi.document import document, served_below
from manyclass.service.http.prefix import Prefix
from manyclass.service.http.problems import Problem, problem_of
from manyclass.service.http.reads import ReadingThreads, Reads
from manyclass.service.http.routes import (
    advice,
    agreement,
    events,
    health,
    label_errors,
    learners,
    names,
    operating_points,
    quality,
    rebuild,
    reference,
    review,
    settings,
    snapshots,
    state,
    stats,
    taxonomy,
)
from manyclass.service.http.routes.add_learner import AddLearner
from manyclass.service.http.routes.advice import StartAdvice
from manyclass.service.http.routes.correct import CorrectEvent
from manyclass.service.http.routes.give_review import GiveReview, LeaseReview, UndoReview
from manyclass.service.http.routes.learn import Learn
from manyclass.service.http.routes.learn_stream import LearnStream
from manyclass.service.http.routes.put_class import PutClass, PutClasses
from manyclass.service.http.routes.rank import Rank
from manyclass.service.http.routes.rebuild import RebuildState
from manyclass.service.http.routes.rename import RenameClass
from manyclass.service.http.routes.sheets import ReadWorkbook
from manyclass.service.http.routes.state import StateDownloads
from manyclass.service.http.routes.titles import GiveTitles
from manyclass.service.http.second_labels import SecondLabels
from manyclass.service.ingest.erasure import Erasure
from manyclass.service.ingest.peer_lookup import PeerLookup
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.queue_bounds import QueueBounds
from manyclass.service.ingest.review_queue import ReviewQueue, discard
from manyclass.service.log.hooks import Hooks
from manyclass.service.observability.exposition import (
    EngineCollector,
    Exposition,
    LimitsCollector,
    ReviewCollector,
)
from manyclass.service.observability.metrics import Metrics
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError
from manyclass.service.store.protocol import Store
from manyclass.service.store.waiting import MemoryWaiting, waiting_of

log = logging.getLogger(__name__)

MOST_PREFIXES = 8  # path prefixes of proxies for which documents are kept
SUMMARY = "Ranks sparse instances against very many classes, and learns from each answer"
EXPECTED = (
    Problem,
    CoreError,
    StoreError,
    Rejected,
    RebuildRefused,
    HistoryOff,
    HTTPException,
    RequestValidationError,
    MemoryError,
    msgspec.MsgspecError,
)


class App(Front):
    """The ASGI application, with the parts that its server and its tests use."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        metrics = Metrics()
        keys = ApiKeys(settings.rank_keys, settings.learn_keys, settings.admin_keys)
        keeps_texts = history_segments(settings, store) is not None
        pending = PendingLabels(
            settings.late_label_seconds, settings.late_label_bytes, clock, keeps_texts
        )
        waiting = waiting_of(store, clock) if settings.review_stored else MemoryWaiting(clock)
        self.stopping = asyncio.Event()
        self.limits = Limits(settings)
        cluster = Cluster(store)
        rebuilds = PeerRebuild(cluster)
        peers = PeerLookup(cluster, pending, metrics, rebuilds.on_message)
        self.engine = Engine(
            settings,
            cluster,
            clock,
            hash_seed=randbits(63),
            wall_clock=wall_clock,
            hooks=Hooks(
                on_applied=metrics.applied,
                on_learned=metrics.learned,
                on_short=metrics.out_of_memory.run_short,
                on_message=peers.on_message,
            ),
        )
        threads = ReadingThreads()
        labels = InstanceLabels(self.engine, threads.run)
        queue = ReviewQueue(
            waiting,
            pending,
            labels.is_labelled,
            wall_clock,
            QueueBounds(settings.review_items, settings.review_bytes, settings.review_seconds),
            # Without history, the first reviewer is unknown.
            settings.review_twice if keeps_texts else 0,
        )
        erasure = Erasure(queue, pending, peers)
        second_labels = SecondLabels(self.engine, queue, wall_clock)
        builder = EventBuilder(
            self.engine,
            pending,
            peers,
            metrics,
            settings.max_features_per_instance,
            keeps_texts,
            labels,
            queue,
            second_labels,
        )
        stream = LearnStream(settings, self.engine, builder, metrics, self.stopping)
        advisor = Advisor(wall_clock)
        described = DescribedClasses()
        calls = [
            Rank(settings, self.engine, keys, pending, metrics, self.limits, described.titles),
            Learn(settings, self.engine, keys, builder, metrics, stream, self.limits.budget),
            PutClass(settings, self.engine, keys, self.limits.budget),
            PutClasses(settings, self.engine, keys, self.limits.budget),
            GiveTitles(settings, self.engine, keys, self.limits.budget),
            CorrectEvent(settings, self.engine, keys, self.limits.budget, threads),
            RenameClass(settings, self.engine, keys, self.limits.budget),
            RebuildState(settings, self.engine, keys, self.limits.budget, rebuilds),
            AddLearner(settings, self.engine, keys, self.limits.budget, rebuilds),
            StartAdvice(settings, self.engine, keys, self.limits.budget, advisor),
            ReadWorkbook(settings, keys, self.limits.budget),
            GiveReview(settings, self.engine, keys, self.limits.budget, queue, labels),
            LeaseReview(settings, self.engine, keys, self.limits.budget, queue),
            UndoReview(settings, self.engine, keys, self.limits.budget, queue, labels),
        ]
        error_counts = ErrorCounts(clock)
        csrf = CsrfGuard(settings.host, keys.open, settings.allowed_origins, settings.allowed_hosts)
        entrance = Entrance(csrf, metrics.out_of_memory)
        self.calls = calls
        routes = [call.route(entrance) for call in calls]
        self.api = _api(self.engine, peers, rebuilds, error_counts, advisor, queue, erasure, routes)
        self.limits.cors.methods = self.api.state.methods
        self.api.state.engine = self.engine
        self.api.state.keys = keys
        self.api.state.rebuilds = rebuilds
        self.api.state.advisor = advisor
        self.api.state.error_counts = error_counts
        self.api.state.downloads = StateDownloads(self.engine)
        self.api.state.described = described
        self.api.state.pending = pending
        self.api.state.queue = queue
        self.api.state.erasure = erasure
        self.api.state.labels = labels
        self.api.state.metrics = metrics
        self.api.state.exposition = Exposition(
            metrics,
            LimitsCollector(self.limits),
            EngineCollector(self.engine, metrics, wall_clock),
            ReviewCollector(queue),
        )
        self.api.openapi = cache(  # type: ignore[method-assign]  # FastAPI's way to replace it
            partial(document, self.api, settings, keys.open)
        )
        self.api.state.prefix = Prefix(settings)
        self.api.state.document = lru_cache(MOST_PREFIXES)(
            lambda prefix: document_of("openapi.json", served_below(self.api.openapi(), prefix))
        )
        self.api.state.reads = reads = Reads(self.api, threads)
        self.native: NativeTier | None = NativeTier(
            self.engine,
            Guards(keys, csrf),
            pending,
            described,
            metrics,
            self.limits,
            clock,
            self.stopping,
        )
        router = Router(
            [*routes, ApiEntrance(reads, entrance)],
            lifespan=self._lifespan,
        )
        super().__init__(router, self.limits.cors, metrics)

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        async with self.api.router.lifespan_context(self.api):
            yield


def create_app(
    settings: Settings,
    store: Store | None = None,
    clock: Callable[[], float] = time.monotonic,
    wall_clock: Callable[[], float] = time.time,
) -> App:
    """Return the service as an ASGI application; its lifespan starts and closes the engine.

    `clock` measures intervals and must never be set back; `wall_clock` dates snapshots. Without
    `store`, the store of the settings is opened. Raises StoreError.
    """
    if store is None:
        store = open_store(
            settings.store, wall_clock, settings.store_seconds, archive=settings.archive
        )
    return App(settings, store, clock, wall_clock)


def _api(
    engine: Engine,
    peers: PeerLookup,
    rebuilds: PeerRebuild,
    error_counts: ErrorCounts,
    advisor: Advisor,
    queue: ReviewQueue,
    erasure: Erasure,
    calls: Sequence[APIRoute],
) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        starting = asyncio.create_task(engine.start())  # meanwhile health checks are answered
        serving = asyncio.create_task(rebuilds.serve(engine.rebuild_state, engine.rebuild_status))
        copying = [asyncio.create_task(queue.run()), asyncio.create_task(erasure.run())]
        if not engine.settings.review_stored:
            stored = waiting_of(engine.store, time.monotonic)
            copying.append(asyncio.create_task(discard(stored)))
        try:
            yield
        finally:
            await advisor.stop()  # before the engine closes the store that it reads
            for each in copying:
                each.cancel()
            await asyncio.wait(copying)
            await asyncio.to_thread(queue.close)
            await error_counts.close()  # before the engine closes the store that it reads
            await engine.close()
            serving.cancel()
            await asyncio.wait([serving])
            await peers.close()
            await starting

    api = FastAPI(
        title="Manyclass",
        summary=SUMMARY,
        version=version("manyclass"),
        lifespan=lifespan,
        docs_url=None,  # routes/reference.py
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers={kind: _answer_problem for kind in (*EXPECTED, Exception)},
    )
    routes = (
        names,
        taxonomy,
        review,
        agreement,
        learners,
        advice,
        operating_points,
        events,
        label_errors,
        quality,
        rebuild,
        stats,
        settings,
        snapshots,
        state,
        health,
        reference,
        console,
    )
    api.router.routes += calls  # for the document
    for each in routes:
        api.router.routes += each.router.routes
    api.state.methods_by_path = methods = _methods_by_path(api.routes)
    api.state.methods = with_head(set().union(*methods.values()))
    return api


def _methods_by_path(routes: Sequence[BaseRoute]) -> dict[str, set[str]]:
    """Return the methods of all routes of each path."""
    methods = defaultdict[str, set[str]](set)
    for route in routes:
        if isinstance(route, Route):
            methods[route.path_format].update(route.methods or ())
    return methods


async def _answer_problem(request: Request, error: Exception) -> Response:
    request.app.state.metrics.out_of_memory.note(error)
    problem = problem_of(error)
    if problem.status == 500 and isinstance(error, EXPECTED):  # the server logs all others
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    if problem.status == 405:
        problem = _with_all_methods(request, problem)
    status, headers, body = problem.answer()
    response = Response(body, status)
    response.raw_headers = headers
    return response


def _with_all_methods(request: Request, problem: Problem) -> Problem:
    """Return the problem with the methods of all routes of the path; FastAPI names one route's."""
    path = getattr(request.scope.get("route"), "path_format", None)
    allowed = request.app.state.methods_by_path.get(path) or problem.headers["Allow"].split(", ")
    return Problem(405, problem.detail, headers={"Allow": ", ".join(with_head(allowed))})
