"""Errors of the model and of labels: confused classes, and events that are likely wrong."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from manyclass.service.history.likely_errors import confusions, suspects
from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.http.routes.events import shown
from manyclass.service.http.schemas.label_errors import (
    ClassErrors,
    ConfusedPair,
    ConfusionReport,
    SuspectEvent,
    SuspectList,
)

router = APIRouter(tags=["events"])

Last = Annotated[int, Query(ge=1, le=10_000, description="so many of the newest events")]
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/confusions", **needs(Scope.LEARN, 404))
async def list_confusions(
    engine: TheEngine, last: Last = 10_000, limit: Limit = 100
) -> ConfusionReport:
    """Count which classes were ranked first in place of the true one, most frequent first.

    It counts how the newest events ranked before they were learned, with corrected labels. Only the
    rank of the true class is recorded, so the class in its place is the best other class of the
    model as it is now. Classes are listed by their number of errors, recall and precision among
    these events.
    """
    history, model = engine.history, engine.model
    found = await asyncio.to_thread(lambda: confusions(model, history.newest(last)))
    classes = sorted(
        found.classes.items(), key=lambda item: item[1].right - item[1].true - item[1].first
    )
    return ConfusionReport(
        events=found.events,
        r1=found.right / found.events if found.events else None,
        pairs=[
            ConfusedPair(
                ranked_first=first, true=true, count=count, events=found.examples[first, true]
            )
            for (first, true), count in found.pairs.most_common(limit)
        ],
        classes=[
            ClassErrors(
                name=name,
                events=each.true,
                recall=each.right / each.true if each.true else None,
                precision=each.right / each.first if each.first else None,
            )
            for name, each in classes[:limit]
        ],
    )


@router.get("/suspects", **needs(Scope.LEARN, 404))
async def list_suspects(
    engine: TheEngine, last: Last = 10_000, limit: Annotated[int, Query(ge=1, le=100)] = 100
) -> SuspectList:
    """List events whose label is likely wrong, the likeliest first, to be corrected by
    `PUT /events/{name}` or left.

    Their label did not rank first before it was learned. `suggested` is the best other class of the
    model as it is now, and `confidence` that the label is wrong follows from the scores of both.
    Corrected events are left out. Empty before the model has a confidence (100 outcomes).
    """
    history, model = engine.history, engine.model
    found = await asyncio.to_thread(lambda: suspects(model, history.newest(last), limit))
    return SuspectList(
        suspects=[
            SuspectEvent(
                suggested=each.suggested,
                confidence=each.confidence,
                event=shown(each.record, model),
            )
            for each in found
        ]
    )
