"""Liveness, readiness and metrics of the process, without a key."""

from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from manyclass.service.engine import Engine
from manyclass.service.http.problems import OUT_OF_MEMORY_SECONDS, unavailable
from manyclass.service.http.routes.contract import TheEngine, problems, router_of
from manyclass.service.http.routes.learners import TheMetrics
from manyclass.service.http.schemas.snapshots import Live, Ready, RecoveryReport
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.observability.exposition import Exposition
from manyclass.service.observability.metrics import Metrics

router = router_of("health")


@router.get("/livez", responses=problems(422))
async def livez() -> Live:
    """Answer that the process runs."""
    return Live()


@router.get("/readyz", responses=problems(422, 503))
async def readyz(
    engine: TheEngine,
    metrics: TheMetrics,
    request: Request,
    to: Annotated[Literal["rank", "learn"], Query(description="The task to be ready for.")] = (
        "learn"
    ),
) -> Ready:
    """Answer 200 if the process is ready, else 503 with the reason.

    Ready to learn: the state is restored and replayed, and the store is reachable. Ready to rank:
    the process has a state, even while its store is unreachable, or while it restores the state
    because the log had lost events. For half a minute after memory ran out, the process is ready
    for neither.

    A process that is ready may pause learning, for example while the disk is full. It still ranks,
    so the status is 200, `learns` is false, and `reason` and `detail` say why. `review_stored` is
    false while new instances for review are in memory only, which a restart would lose; `/stats`
    has the reason.
    """
    queue: ReviewQueue = request.app.state.queue
    return await readiness(engine, metrics, to, queue.is_stored)


async def readiness(
    engine: Engine, metrics: Metrics, to: Literal["rank", "learn"], review_stored: bool | None
) -> Ready:
    """Return the answer of /readyz. Raises Problem 503, or an error of the store or the engine, if
    the process is not ready.
    """
    if metrics.out_of_memory.is_recent:
        raise unavailable("Memory ran out a moment ago.", OUT_OF_MEMORY_SECONDS)
    pause = engine.pause
    if to == "learn" or engine.status == "closed":
        if pause is not None and pause.reason == "recovering":
            raise unavailable(pause.detail)
        if engine.cluster.shared is not None and engine.status == "ready":
            if await engine.cluster.poll() is None:  # concurrent requests share one store call
                raise unavailable("the store does not answer")
        elif pause is None or pause.reason in ("store_unavailable", "failed"):
            await engine.snapshots()  # raises StoreError unless the store answers
    return Ready(
        seq=engine.model.seq,
        learns=pause is None,
        reason=None if pause is None else pause.reason,
        detail=None if pause is None else pause.detail,
        review_stored=review_stored,
        recovery=RecoveryReport.model_validate(engine.recovery),
    )


@router.get("/metrics", response_class=PlainTextResponse, responses=problems(422, 503))
async def metrics(request: Request) -> Response:
    """Return the metrics in the text format of Prometheus.

    They are computed for each call. After 20 calls in quick succession they are computed once a
    second, and other calls get values up to a second old.
    """
    exposition: Exposition = request.app.state.exposition
    return Response(exposition.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/", include_in_schema=False)
async def home(request: Request) -> RedirectResponse:
    """Redirect a browser to the console, and other clients to the reference."""
    browser = "text/html" in request.headers.get("accept", "")
    return RedirectResponse("console" if browser else "docs", headers={"Vary": "Accept"})
