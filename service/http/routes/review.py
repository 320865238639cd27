"""GET /review: the ranked instances with the most useful labels."""

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

MOST_RANKED_AGAIN = 10_000  # instances that another learner ranks for one request


@router.get("/review", response_model=Review, **needs(Scope.LEARN, 404, 422))
async def review(
    engine: TheEngine,
    reads: TheReads,
    request: Request,
    limit: Annotated[
        int, Query(ge=1, le=MOST_REVIEWED, description="The largest number of instances.")
    ] = DEFAULT_REVIEWED,
    learner: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Rank the instances with this learner, named as in GET /learners.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="List only instances of this source.",
        ),
    ] = None,
) -> Response:
    """Return ranked instances that wait for a label, least certain first.

    Instances are ordered by the confidence with which they were served. Instances without a
    confidence come first: none of their features was known, they were ranked `among` given classes,
    or fewer than 100 outcomes were known. Among equals, the oldest comes first because it expires
    first. Instances without features are left out.

    A label is an event sent to /learn with the `id`; an instance stays on the list until it is
    labelled or expires. With `learner`, for example a shadow, this learner ranks the instances now;
    its `ranked` and `confidence` are returned, and its confidence orders the list. It ranks at most
    10,000 instances, those served with the least confidence.

    An event with `not` and without `classes` does not count as a label. Only the first 4,096 bytes
    of a text are shown. A service that keeps no history drops the texts.

    The list contains the instances that the answering process ranked itself. Any process on the
    store accepts the labels.
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
    """Return instances that wait for a label; this analysis reads their texts. Blocks."""
    waiting = pending.least_certain(limit, source)
    return [_read_by(analysis, pending, each) for each in waiting]


def _read_by(
    analysis: TextAnalysis, pending: PendingLabels, waiting: WaitingInstance
) -> WaitingInstance:
    """Return an instance as this analysis reads its text; a former analysis may have read it."""
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
    """Return instances that wait for a label, those least certain to `learner` first. Blocks."""
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
    """Return the fields of a ReviewInstance."""
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
