"""Errors of the model and of labels: confused classes, and events with likely wrong labels."""

from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response

from manyclass.core.model import Model
from manyclass.service.history.error_count import MOST_SUSPECTS, ErrorCount, ErrorCounts
from manyclass.service.history.history import History
from manyclass.service.history.likely_errors import Suspect
from manyclass.service.history.reader import Record
from manyclass.service.http.auth import Scope
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.routes.events import shown
from manyclass.service.http.schemas.label_errors import ConfusionReport, SuspectList

router = router_of("events")

Last = Annotated[
    int, Query(ge=1, le=10_000, description="Count only this many of the newest events.")
]
Limit = Annotated[
    int, Query(ge=1, le=1000, description="The largest number of pairs, and of classes.")
]
Seconds = Annotated[
    float | None,
    Query(
        ge=0,
        le=60,
        description="Answer after this time even if the count is unfinished: with a complete count"
        " up to 10 seconds old, or else with the events counted so far. The count continues.",
    ),
]


async def _counts(request: Request) -> ErrorCounts:
    counts: ErrorCounts = request.app.state.error_counts
    return counts


TheCounts = Annotated[ErrorCounts, Depends(_counts)]


@router.get("/confusions", response_model=ConfusionReport, **needs(Scope.LEARN, 404))
async def list_confusions(
    engine: TheEngine,
    reads: TheReads,
    counts: TheCounts,
    last: Last = 10_000,
    limit: Limit = 100,
    seconds: Seconds = None,
) -> Response:
    """Count which classes were ranked first instead of the true one, most frequent first.

    The count covers the newest events as they ranked before they were learned, with corrected
    labels. Only the rank of the true class is recorded, so the class ranked first instead is the
    best other class of the present model. Classes are listed by their number of errors, with
    recall and precision among these events.

    Events that were ranked wrong are ranked again, which takes a second or more for 10,000 events.
    With `seconds`, the answer does not wait for all of them; `complete` tells whether it includes
    all.
    """
    count = await counts.of(engine.history, engine.model, last, seconds)
    return await reads.page(lambda: _confusions(count, limit))


def _confusions(count: ErrorCount, limit: int) -> dict[str, Any]:
    """Return the fields of a ConfusionReport."""
    found = count.confusions(limit)
    return {
        "seq": count.seq,
        "complete": count.is_done,
        "events": found.events,
        "r1": found.right / found.events if found.events else None,
        "pairs": [
            {
                "ranked_first": first,
                "true": true,
                "count": times,
                "events": found.examples[first, true],
            }
            for (first, true), times in found.pairs.items()
        ],
        "classes": [
            {
                "class": name,
                "events": each.true,
                "recall": each.right / each.true if each.true else None,
                "precision": each.right / each.first if each.first else None,
            }
            for name, each in found.classes.items()
        ],
    }


@router.get("/suspects", response_model=SuspectList, **needs(Scope.LEARN, 404))
async def list_suspects(
    engine: TheEngine,
    reads: TheReads,
    counts: TheCounts,
    last: Last = 10_000,
    limit: Annotated[
        int, Query(ge=1, le=MOST_SUSPECTS, description="The largest number of events.")
    ] = MOST_SUSPECTS,
    seconds: Seconds = None,
) -> Response:
    """List events whose label is likely wrong, most likely first; `PUT /events/{name}` corrects
    them.

    The label of such an event did not rank first before it was learned. `suggested` is the best
    other class of the present model; `confidence`, that the label is wrong, follows from the scores
    of both classes. Corrected events are left out. The list is empty until the model has a
    confidence (100 outcomes).

    With `seconds`, the answer does not wait until all events are ranked, as for `/confusions`.
    """
    count = await counts.of(engine.history, engine.model, last, seconds)
    history, model = engine.history, engine.model
    return await reads.page(lambda: _suspects(count, limit, history, model))


def _suspects(count: ErrorCount, limit: int, history: History, model: Model) -> dict[str, Any]:
    """Return the fields of a SuspectList."""
    return {
        "seq": count.seq,
        "complete": count.is_done,
        "suspects": [
            {
                "suggested": each.suggested,
                "confidence": each.confidence,
                "event": shown(record, model),
            }
            for each, record in recorded(count.suspects(limit), history)
        ],
    }


def recorded(suspects: list[Suspect], history: History) -> list[tuple[Suspect, Record]]:
    """Return the suspects with their events, except events corrected or undone since."""
    found = ((each, history.find(each.seq)) for each in suspects)
    return [
        (each, record)
        for each, record in found
        if record is not None and not (record.is_corrected or record.is_undone)
    ]
