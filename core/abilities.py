"""Parts of events that not every learner learns: weights, rejected classes, values below 0.

`check_ability` refuses weights and rejected classes that a learner cannot learn. Values below 0 are
not refused: a learner that cannot use them treats them as absent.
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
    """Raise InstanceError unless every learner can learn the whole event."""
    for options in learners:
        if event.rejected and not options.learns_rejections:
            raise _refusal("not", options, "learns_rejections")
        if event.weight != 1 and not options.learns_weights:
            raise _refusal("weight", options, "learns_weights")


def within_ability(event: Event, options: "Options") -> Event | None:
    """Return the part of the event that the learner can learn; None if it can learn nothing.

    A log can have events that `check_ability` would refuse today, because a learner was changed or
    promoted after the check.
    """
    rejected = event.rejected if options.learns_rejections else []
    weight = event.weight if options.learns_weights else 1.0
    if rejected == event.rejected and weight == event.weight:
        return event
    if not event.classes and not rejected:
        return None
    return Event.learn(event.instance, event.classes, rejected=rejected, weight=weight)


def has_features(instance: Instance, options: "Options") -> bool:
    """Return whether the learner, or one of its members, uses any value of the instance."""
    if not instance.is_signed:
        return len(instance) > 0
    if len(options.without_signs) < len(options.member_options or (options,)):
        return True
    return any(value > 0 for _, value in instance.items())


def names_without_signs(learners: "Iterable[Options]") -> list[str]:
    """Return the names of the learners and members that treat values below 0 as absent."""
    return [*dict.fromkeys(each.learner for one in learners for each in one.without_signs)]


def check_weights(weights: Any, indptr: Any, options: "Options") -> None:
    """Raise InstanceError unless the learner can learn rows with these weights; None: 1 for all."""
    if weights is None:
        return
    numbers = np.asarray(weights)
    if len(numbers) != len(indptr) - 1:
        raise InstanceError("weights must have one number for each row", ("weight",))
    if not ((numbers >= np.float32(SMALLEST_WEIGHT)) & (numbers <= LARGEST_WEIGHT)).all():
        raise InstanceError(
            f"a weight must be from {SMALLEST_WEIGHT} to {LARGEST_WEIGHT}", ("weight",)
        )
    if not options.learns_weights and (numbers != 1).any():
        raise _refusal("weight", options, "learns_weights")


def _refusal(key: str, options: "Options", ability: str) -> InstanceError:
    from manyclass.core.learners.registry import LEARNERS  # it imports this module's users

    able = [name for name, learner in LEARNERS.items() if getattr(learner, ability)]
    return InstanceError(
        f"{options.specification} cannot learn `{key}`; {', '.join(able)} can, and a committee of"
        " these alone",
        (key,),
    )
