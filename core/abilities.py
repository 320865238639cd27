"""Parts of events that not every learner learns: weights, rejected classes, values below 0.

A learner that cannot learn these values does not refuse them: they are absent to it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass.core.errors import InstanceError
from manyclass.core.event import Event
from manyclass.core.event_parts import LARGEST_WEIGHT, SMALLEST_WEIGHT
from manyclass.core.instance import Instance

if TYPE_CHECKING:
    from manyclass.core.learners.options import Options


def check_ability(event: Event, learners: "Iterable[Options]") -> None:
    """Raise InstanceError unless every one of these learners can learn all of the event."""
    for options in learners:
        if event.rejected and not options.learns_rejections:
            raise _refusal("not", options, "learns_rejections")
        if event.weight != 1 and not options.learns_weights:
            raise _refusal("weight", options, "learns_weights")


def within_ability(event: Event, options: "Options") -> Event | None:
    """Return the part of the event that the learner can learn, None if there is none.

    A log can have more than `check_ability` accepts today: the learners were changed or promoted
    between the check and the event.
    """
    rejected = event.rejected if options.learns_rejections else []
    weight = event.weight if options.learns_weights else 1.0
    if rejected == event.rejected and weight == event.weight:
        return event
    if not event.classes and not rejected:
        return None
    return Event.learn(event.instance, event.classes, rejected=rejected, weight=weight)


def has_features(instance: Instance, options: "Options") -> bool:
    """Return whether a value of the instance counts for the learner, or for a member of it."""
    if not instance.is_signed:
        return len(instance) > 0
    if len(options.without_signs) < len(options.member_options or (options,)):
        return True
    return any(value > 0 for _, value in instance.items())


def names_without_signs(learners: "Iterable[Options]") -> list[str]:
    """Return the names of the learners, or members, to which values below 0 are absent."""
    return [*dict.fromkeys(each.learner for one in learners for each in one.without_signs)]


def check_weights(weights: Any, indptr: Any, options: "Options") -> None:
    """Raise InstanceError unless the learner can learn rows with these weights; None: of 1."""
    if weights is None:
        return
    given = np.asarray(weights)
    if len(given) != len(indptr) - 1:
        raise InstanceError("weights must have one number for each row", ("weight",))
    if not ((given >= np.float32(SMALLEST_WEIGHT)) & (given <= LARGEST_WEIGHT)).all():
        raise InstanceError(
            f"a weight must be from {SMALLEST_WEIGHT} to {LARGEST_WEIGHT}", ("weight",)
        )
    if not options.learns_weights and (given != 1).any():
        raise _refusal("weight", options, "learns_weights")


def _refusal(key: str, options: "Options", ability: str) -> InstanceError:
    from manyclass.core.learners.registry import LEARNERS  # it imports this module's users

    able = [name for name, learner in LEARNERS.items() if getattr(learner, ability)]
    return InstanceError(
        f"{options.specification} cannot learn `{key}`; {', '.join(able)} can, and a committee of"
        " these alone",
        (key,),
    )
