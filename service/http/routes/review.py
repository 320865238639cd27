"""GET /review: the ranked instances whose label would teach most."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from manyclass.core.instance import Instance
from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.http.schemas.review import (
    DEFAULT_REVIEWED,
    MOST_FEATURES,
    MOST_REVIEWED,
    Review,
    ReviewInstance,
)
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.stored_instance import WaitingInstance

router = APIRouter(tags=["learn"])


@router.get("/review", **needs(Scope.LEARN, 422))
async def review(
    engine: TheEngine,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST_REVIEWED)] = DEFAULT_REVIEWED,
) -> Review:
    """Return ranked instances that wait for a label, least certain first.

    Their order is that of the confidence they were served with. Instances without one come first:
    those of which no feature was known, of rankings `among` given classes, and of the time before
    100 outcomes. Of equal ones the oldest comes first, as it is the first to expire. Instances
    without features are left out.

    A label is an event of /learn with the `id`; the instance is on the list until then, or until it
    expires. An event with `not` and without `classes` does not count as a label. The texts of
    instances are not stored: a text shows as its words and other features.

    The list is that of the process that answers, of the instances that it ranked itself. Any
    process on the store takes the labels.
    """
    pending: PendingLabels = request.app.state.pending
    waiting = await asyncio.to_thread(pending.least_certain, limit)
    shared = engine.cluster.shared
    return Review(
        process=None if shared is None else shared.name,
        instances=[_shown(each) for each in waiting],
    )


def _shown(waiting: WaitingInstance) -> ReviewInstance:
    features = Instance.from_bytes(waiting.data).items()
    return ReviewInstance(
        id=waiting.id,
        ranked=list(waiting.served.classes),
        confidence=waiting.served.confidence,
        abstained=waiting.served.abstained,
        age=max(0.0, waiting.age),
        features=dict(features[:MOST_FEATURES]),
        omitted_features=max(0, len(features) - MOST_FEATURES),
    )
