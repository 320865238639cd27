"""GET /operating-points: limits of confidence, and how often the answers above each were right."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response

from manyclass.core.calibration import (
    MOST_OUTCOMES,
    NEWEST_OUTCOMES,
    interval_of,
)
from manyclass.core.confidence_limits import best_point, drawn, least_limit
from manyclass.core.operating_points import TARGETS, Curve, Group, Point, ProbabilityCurve
from manyclass.service.http.auth import Scope
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, require, router_of
from manyclass.service.http.routes.learners import enrolled
from manyclass.service.http.schemas.operating_points import OperatingPoints

router = router_of("learners")


@router.get("/operating-points", response_model=OperatingPoints, **needs(Scope.RANK, 400, 404, 422))
async def operating_points(
    engine: TheEngine,
    reads: TheReads,
    request: Request,
    target: Annotated[
        float | None,
        Query(gt=0, lt=1, description="A share of right answers; without it 0.8, 0.9, 0.95, 0.99."),
    ] = None,
    by: Annotated[
        Literal["class", "source"] | None,
        Query(
            description="List the points of each class ranked first, or of each source, which needs"
            " a key of the scope learn: sources may be people."
        ),
    ] = None,
    window: Annotated[
        Literal["newest", "all"],
        Query(description="The outcomes that the groups are of."),
    ] = "all",
    learner: Annotated[
        str | None,
        Query(description="A learner, as in /learners; without it the primary one."),
    ] = None,
    curve: Annotated[
        bool,
        Query(description="False: leave the curves empty, most of the answer."),
    ] = True,
    limit: Annotated[int, Query(ge=1, le=1000, description="The largest number of groups.")] = 100,
    offset: Annotated[
        int, Query(ge=0, le=MOST_OUTCOMES, description="List groups from this position on.")
    ] = 0,
) -> Response:
    """Return the least limit of confidence whose answers were right often enough, for each target.

    The outcomes are those of past events, each ranked before it was learned. A limit reaches a
    target if the lower end of a Wilson interval at 90 % of its accuracy does. `min_confidence` in
    /rank then abstains below this limit; `min_accuracy` follows the limit of the newest outcomes.

    `probabilities` is for events with several classes: it has the least limit of the probability of
    each ranked class above which so many classes were right, with precision and recall; send it as
    `min_probability` in /rank, or the target as `min_precision`.
    """
    if by == "source":
        require(Scope.LEARN, request)  # as the other lists of sources
    model = engine.model
    found = model.answering if learner is None else enrolled(model, learner)
    calibration, label = found.calibration, found.label
    aliases, seq = dict(model.aliases), model.seq
    targets = TARGETS if target is None else (target,)

    def points() -> dict[str, Any]:
        groups = None
        if by is not None:
            newest = NEWEST_OUTCOMES if window == "newest" else MOST_OUTCOMES
            page = calibration.groups(by, newest, aliases, targets, offset, limit)
            reached = zip(targets, page.reached, strict=True)
            end = offset + len(page.groups)
            groups = {
                "by": by,
                "total": page.total,
                "reached": [{"target": each, "groups": count} for each, count in reached],
                "groups": [_group(each, targets) for each in page.groups],
                "next": end if end < page.total else None,
            }
        return {
            "seq": seq,
            "learner": label,
            "newest": curve_of(calibration.curve(NEWEST_OUTCOMES, aliases), targets, curve),
            "all": curve_of(calibration.curve(MOST_OUTCOMES, aliases), targets, curve),
            "probabilities": probabilities_of(calibration.probability_curve(), targets, curve),
            "groups": groups,
        }

    return await reads.page(points)


def curve_of(curve: Curve, targets: Sequence[float], is_drawn: bool) -> dict[str, Any]:
    """Return an operating curve, with its points or without, as the schema has it."""
    return {
        "outcomes": curve.outcomes,
        "right": curve.right,
        "accuracy": curve.right / curve.outcomes if curve.outcomes else None,
        "classes": curve.classes[-1] if curve.classes else 0,
        "targets": [
            {"target": target, "point": _of_curve(curve, least_limit(curve.points, target))}
            for target in targets
        ],
        "best": _of_curve(curve, best_point(curve.points)),
        "curve": [
            _of_curve(curve, at) for at in (drawn(curve.points, curve.outcomes) if is_drawn else ())
        ],
    }


def probabilities_of(
    curve: ProbabilityCurve, targets: Sequence[float], is_drawn: bool
) -> dict[str, Any]:
    """Return precision and recall of ranked classes, as the schema has them."""

    classes = curve.points[-1].classes if curve.points else 0

    def at_point(at: int | None) -> dict[str, Any] | None:
        if at is None:
            return None
        point = curve.points[at]
        low, high = interval_of(point.right, point.classes)
        return {
            "limit": point.limit,
            "classes": point.classes,
            "right": point.right,
            "rankings": point.rankings,
            "precision": point.precision,
            "precision_low": low,
            "precision_high": high,
            "recall": point.right / curve.true_classes,
        }

    return {
        "rankings": curve.rankings,
        "true_classes": curve.true_classes,
        "targets": [
            {"target": target, "point": at_point(least_limit(curve.points, target))}
            for target in targets
        ],
        "best": at_point(best_point(curve.points)),
        "curve": [at_point(at) for at in (drawn(curve.points, classes) if is_drawn else ())],
    }


def _of_curve(curve: Curve, at: int | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return point_of(curve.points[at], curve.outcomes, curve.classes[at])


def _group(group: Group, targets: Sequence[float]) -> dict[str, Any]:
    reached = zip(targets, group.reached, strict=True)
    return {
        "name": group.name,
        "outcomes": group.outcomes,
        "right": group.right,
        "accuracy": group.right / group.outcomes,
        "targets": [
            {"target": target, "point": point and point_of(point, group.outcomes, None)}
            for target, point in reached
        ],
        "best": group.best and point_of(group.best, group.outcomes, None),
    }


def point_of(point: Point, outcomes: int, classes: int | None) -> dict[str, Any]:
    """Return an operating point, as the schema has it."""
    covered, right = interval_of(point.answers, outcomes), interval_of(point.right, point.answers)
    return {
        "limit": point.limit,
        "answers": point.answers,
        "right": point.right,
        "coverage": point.answers / outcomes,
        "coverage_low": covered[0],
        "coverage_high": covered[1],
        "accuracy": point.accuracy,
        "accuracy_low": right[0],
        "accuracy_high": right[1],
        "classes": classes,
    }
