"""Liveness, readiness and metrics of the process, without a key."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from manyclass.service.engine import Engine
from manyclass.service.http.problems import OUT_OF_MEMORY_SECONDS, unavailable
from manyclass.service.http.routes.contract import TheEngine, problems
from manyclass.service.http.routes.learners import TheMetrics
from manyclass.service.http.schemas.snapshots import Live, Ready, RecoveryReport
from manyclass.service.observability.exposition import Exposition

router = APIRouter(tags=["health"])


@router.get("/livez", responses=problems(422))
async def livez() -> Live:
    """Answer that the process runs."""
    return Live()


@router.get("/readyz", responses=problems(422, 503))
async def readyz(
    engine: TheEngine, metrics: TheMetrics, to: Literal["rank", "learn"] = "learn"
) -> Ready:
    """Answer 200 if the process is ready, else 503 with the reason.

    Ready to learn: the state is restored and replayed, and the store is reachable. Ready to rank:
    the process has a state, also while its store is unreachable, or while it restores the state
    because the log had lost events. For half a minute after memory ran out the process is ready for
    neither.
    """
    if metrics.out_of_memory.is_recent:
        raise unavailable("Memory ran out a moment ago.", OUT_OF_MEMORY_SECONDS)
    if to == "rank" and engine.status != "closed":
        return _ready(engine)
    if engine.status == "recovering":
        recovery = engine.recovery
        if engine.cluster.waiting is not None:
            raise unavailable(f"the service waits to learn: {engine.cluster.waiting}")
        raise unavailable(
            f"the service is recovering: {recovery.replayed} events replayed, up to event"
            f" {recovery.last_seq}"
        )
    if engine.cluster.shared is None or engine.status != "ready":
        await engine.snapshots()  # raises StoreError unless the store answers
    elif await engine.cluster.poll() is None:  # concurrent requests share one call of the store
        raise unavailable("the store does not answer")
    return _ready(engine)


def _ready(engine: Engine) -> Ready:
    recovery = RecoveryReport.model_validate(engine.recovery)
    return Ready(seq=engine.model.seq, recovery=recovery)


@router.get("/metrics", response_class=PlainTextResponse, responses=problems(422))
async def metrics(request: Request) -> Response:
    """Return the metrics in the text format of Prometheus."""
    exposition: Exposition = request.app.state.exposition
    return Response(exposition.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/", include_in_schema=False)
async def home(request: Request) -> RedirectResponse:
    """Redirect a browser to the console, and other clients to the reference."""
    browser = "text/html" in request.headers.get("accept", "")
    return RedirectResponse("console" if browser else "docs", headers={"Vary": "Accept"})
