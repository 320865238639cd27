"""GET /review/agreement: how far two reviewers agree about the instances that both labelled."""

from typing import Annotated, Any

from fastapi import Query, Request, Response

from manyclass.service.http.auth import Scope
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.schemas.agreement import ReviewAgreement
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.ingest.second_labels import LabelPair, agreement

router = router_of("learn")

DEFAULT_LISTED = 20
MOST_LISTED = 100


@router.get("/review/agreement", response_model=ReviewAgreement, **needs(Scope.LEARN))
async def review_agreement(
    engine: TheEngine,
    reads: TheReads,
    request: Request,
    limit: Annotated[
        int, Query(ge=1, le=MOST_LISTED, description="The largest number of disagreements.")
    ] = DEFAULT_LISTED,
) -> Response:
    """Compare the labels of instances that two reviewers labelled, with Cohen's κ.

    `MANYCLASS_REVIEW_TWICE` percent of the instances stay in the queue after their label, and
    `GET /review` gives each of them once to another reviewer, without the label. The label that
    this one sends to /learn is not learned. If it has other classes, the answer is 409 with the
    first label, which `replace` corrects. Pairs are kept as long as instances that wait.
    """
    queue: ReviewQueue = request.app.state.queue
    percent = engine.settings.review_twice

    def page() -> dict[str, Any]:
        pairs = queue.pairs.all()
        found = agreement(pairs.values())
        differing = {name: each for name, each in pairs.items() if not each.is_equal}
        shown = list(differing)[:limit]
        texts = queue.texts(shown)
        return {
            "percent": percent,
            **found._asdict(),
            "disagreements": [_shown(each, differing[each], texts.get(each)) for each in shown],
        }

    return await reads.page(page)


def _shown(instance_id: str, pair: LabelPair, text: Any) -> dict[str, Any]:
    """Return the fields of a Disagreement."""
    return {
        "id": instance_id,
        "text": text,
        "first": {"reviewer": pair.first_reviewer, "classes": pair.first},
        "second": {"reviewer": pair.second_reviewer, "classes": pair.second},
        "time": pair.time,
    }
