"""The learners: the accuracy of each; the promotion and the removal of a shadow."""

from typing import Annotated

from fastapi import Depends, Request

from manyclass.core.calibration import Calibration
from manyclass.core.enrolled import Enrolled
from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import Role
from manyclass.core.progressive_validation import ProgressiveValidation
from manyclass.core.reliability import calibration_error
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import Problem
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.routes.names import Name
from manyclass.service.http.schemas.learners import (
    Accuracy,
    Confidence,
    LearnerList,
    LearnerStats,
    MemberStats,
    MixtureWeights,
    Promoted,
    ReliabilityBin,
    Removed,
)
from manyclass.service.observability.metrics import Metrics

router = router_of("learners")


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


TheMetrics = Annotated[Metrics, Depends(_metrics)]


@router.get("/learners", **needs(Scope.RANK))
async def list_learners(engine: TheEngine, metrics: TheMetrics) -> LearnerList:
    """List the learners with size and accuracy, the primary one first."""
    model = engine.model
    return LearnerList(seq=model.seq, learners=learners_of(model, metrics))


@router.post("/learners/{name:name}/promote", **needs(Scope.ADMIN, 400, 404, 413, 422))
async def promote_learner(engine: TheEngine, name: Name) -> Promoted:
    """Make a shadow the primary learner, without a restart; the primary one becomes a shadow.

    The promotion is a durable event and holds for every process on the store. It changes nothing if
    the learner is already the primary one. The options in the learner's name may be in any order.
    """
    options = enrolled(engine.model, name).learner.options
    [result] = await engine.submit([Event.promote(options.specification)])
    return Promoted(seq=result.seq, learner=options.specification)


@router.delete("/learners/{name:name}", **needs(Scope.ADMIN, 400, 404, 409, 413, 422))
async def remove_learner(engine: TheEngine, name: Name) -> Removed:
    """Remove a shadow with all it has learned, without a restart.

    The removal is a durable event and holds for every process on the store and after a restart,
    also if the settings name the shadow. The answer is 409 for the primary learner.
    """
    seq, label = await engine.remove_shadow(enrolled(engine.model, name).label)
    return Removed(seq=seq, learner=label)


def enrolled(model: Model, name: str) -> Enrolled:
    """Return the learner of this specification, with its options in any order.

    Raises Problem 404 if the model has none.
    """
    label = _label(name)
    for each in model.enrolled:
        if each.label == label:
            return each
    there = ", ".join(repr(each.label) for each in model.enrolled)
    raise Problem(404, f"no learner is named {name!r}; the learners are {there}")


def _label(name: str) -> str:
    """Return the specification a text stands for, or the text itself if it is invalid."""
    try:
        return Options.parse(name).specification
    except OptionError:
        return name


def learners_of(model: Model, metrics: Metrics) -> list[LearnerStats]:
    """Return the statistics of all learners of a model, the primary one first."""
    return [_learner(role, each, metrics, model) for role, each in model.roles]


def _accuracy(progress: ProgressiveValidation) -> dict[str, Accuracy]:
    """Return the accuracy of a learner by the number of last events."""
    return {
        str(window): Accuracy.model_validate(
            {
                **figures,
                "taxonomic_loss": progress.taxonomic_loss.mean(window),
                "parent_accuracy": progress.parent_accuracy.mean(window),
            }
        )
        for window, figures in progress.windows().items()
    }


def _learner(role: Role, each: Enrolled, metrics: Metrics, model: Model) -> LearnerStats:
    learner = each.learner
    return LearnerStats(
        learner=each.label,
        primary=role == "primary",
        options=learner.options.to_dict(),
        features=learner.features,
        classes=learner.classes,
        edges=learner.edges,
        learned=learner.learned,
        bytes=learner.bytes,
        resident_bytes=learner.resident_bytes,
        evicted_features=learner.evicted_features,
        evicted_classes=learner.evicted_classes,
        mixture=_mixture(model.part_weights(learner)),
        learn_seconds=metrics.seconds_an_event(each.label),
        accuracy=_accuracy(each.progress),
        confidence=_confidence(each.calibration),
        members=_members(learner),
    )


def _mixture(weights: dict[str, float]) -> MixtureWeights:
    return MixtureWeights(
        words=weights["words"],
        neighbors=weights["neighbors"],
        descriptions=weights.get("descriptions"),
        vectors=weights.get("vectors"),
    )


def _confidence(calibration: Calibration) -> Confidence:
    bins = calibration.reliability
    return Confidence(
        calibration_error=calibration_error(bins),
        brier=calibration.brier,
        reliability=[
            ReliabilityBin(
                outcomes=each.outcomes,
                confidence=each.confidence / each.outcomes if each.outcomes else None,
                right=each.right / each.outcomes if each.outcomes else None,
            )
            for each in bins
        ],
    )


def _members(learner: Learner) -> list[MemberStats]:
    return [
        MemberStats(learner=member.options.specification, accuracy=_accuracy(member.progress))
        for member in learner.members
    ]
