"""GET /review: the ranked instances whose label would teach most."""

from collections.abc import Callable
from functools import partial
from heapq import nsmallest
from typing import Annotated, Any

from fastapi import Query, Request, Response

from manyclass.core.enrolled import Enrolled
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.text import TextAnalysis
from manyclass.service.http.auth import Scope
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.routes.learners import enrolled
from manyclass.service.http.schemas.review import (
    DEFAULT_REVIEWED,
    MOST_FEATURES,
    MOST_REVIEWED,
    Review,
)
from manyclass.service.ingest.pending_labels import MOST_SERVED, PendingLabels
from manyclass.service.ingest.stored_instance import Absence, ServedClasses, WaitingInstance

router = router_of("learn")

MOST_RANKED_AGAIN = 10_000  # instances, for another learner


@router.get("/review", response_model=Review, **needs(Scope.LEARN, 404, 422))
async def review(
    engine: TheEngine,
    reads: TheReads,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST_REVIEWED)] = DEFAULT_REVIEWED,
    learner: Annotated[
        str | None,
        Query(min_length=1, max_length=LONGEST_NAME, description="a name as in GET /learners"),
    ] = None,
    source: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_NAME, description="only of this source")
    ] = None,
) -> Response:
    """Return ranked instances that wait for a label, least certain first.

    Their order is that of the confidence they were served with. Instances without one come first:
    those of which no feature was known, of rankings `among` given classes, and of the time before
    100 outcomes. Of equal ones the oldest comes first, as it is the first to expire. Instances
    without features are left out.

    A label is an event of /learn with the `id`; the instance is on the list until then, or until it
    expires. With `learner`, `ranked` and `confidence` are those of this learner now, a shadow for
    example, and order the list: of the 10,000 instances at most that were served least certain.

    An event with `not` and without `classes` does not count as a label. Of a text the first 4,096
    bytes are shown. A service that keeps no history drops the texts.

    The list is that of the process that answers, of the instances that it ranked itself. Any
    process on the store takes the labels.
    """
    pending: PendingLabels = request.app.state.pending
    waiting: Callable[[], list[WaitingInstance]]
    if learner is None:
        waiting = partial(_least_certain, pending, engine.model.text, limit, source)
    else:
        by = enrolled(engine.model, learner)
        waiting = partial(_least_certain_of, by, pending, engine.model.text, limit, source)
    shared = engine.cluster.shared
    process = None if shared is None else shared.name
    return await reads.page(
        lambda: {"process": process, "instances": [_shown(each) for each in waiting()]}
    )


def _least_certain(
    pending: PendingLabels, analysis: TextAnalysis, limit: int, source: str | None
) -> list[WaitingInstance]:
    """Return instances that wait for a label, of texts as this analysis reads them. Blocks."""
    waiting = pending.least_certain(limit, source)
    return [_read_by(analysis, pending, each) for each in waiting]


def _read_by(
    analysis: TextAnalysis, pending: PendingLabels, waiting: WaitingInstance
) -> WaitingInstance:
    """Return an instance as this analysis reads its text: it may have come under another one."""
    if waiting.reading is None or waiting.reading.analysis == analysis:
        return waiting
    stored = pending.find(waiting.id)  # with the whole text
    read = stored if isinstance(stored, Absence) else stored.read_again(analysis)
    return waiting if isinstance(read, Absence) else waiting._replace(data=read.data)


def _least_certain_of(
    learner: Enrolled,
    pending: PendingLabels,
    analysis: TextAnalysis,
    limit: int,
    source: str | None,
) -> list[WaitingInstance]:
    """Return instances that wait for a label, least certain by a learner first. Blocks."""
    candidates = _least_certain(pending, analysis, MOST_RANKED_AGAIN, source)
    waiting = (_ranked_by(learner, each) for each in candidates)
    return nsmallest(limit, waiting, key=_certainty)


def _certainty(waiting: WaitingInstance) -> tuple[float, float]:
    confidence = waiting.served.confidence
    return -1.0 if confidence is None else confidence, -waiting.age


def _ranked_by(learner: Enrolled, waiting: WaitingInstance) -> WaitingInstance:
    ranked, confidence = learner.answer(Instance.from_bytes(waiting.data), MOST_SERVED, None)
    now = ServedClasses(
        tuple(name for name, _ in ranked),
        None if confidence is None else round(confidence, 6),
        waiting.served.abstained,
    )
    return waiting._replace(served=now)


def _shown(waiting: WaitingInstance) -> dict[str, Any]:
    """Return an instance as it is answered, a ReviewInstance."""
    features = Instance.from_bytes(waiting.data).items()
    return {
        "id": waiting.id,
        "ranked": waiting.served.classes,
        "confidence": waiting.served.confidence,
        "abstained": waiting.served.abstained,
        "age": max(0.0, waiting.age),
        "source": waiting.source,
        "text": waiting.text,
        "text_cut": waiting.is_text_cut,
        "features": dict(features[:MOST_FEATURES]),
        "omitted_features": max(0, len(features) - MOST_FEATURES),
    }
