"""Warnings of instances without features, and of values below 0 that a learner does not use."""

from collections.abc import Sequence
from typing import Final, Literal

from manyclass.core.abilities import has_features, names_without_signs
from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.service.http.decoding import LONGEST_SHOWN
from manyclass.service.http.instances import Form, features_of
from manyclass.service.http.problems import pointer
from manyclass.service.http.schemas.parts import WarningDocument
from manyclass.service.observability.metrics import Metrics

_EMPTY: Final = {
    "text": "The text has no words.",
    "features": "No feature has a value other than 0.",
    "id": "The instance of this id has no features.",
}


def warning_of(
    metrics: Metrics,
    call: Literal["rank", "learn"],
    model: Model,
    form: Form,
    instance: Instance,
    *place: str | int,
) -> WarningDocument | None:
    """Return the warning about the instance of a form, if there is one, and count the instance.

    The primary learner ranks; the shadows learn too.
    """
    if len(instance) > 0 and not instance.is_signed:
        return None
    member = _member_of(form)
    warned, detail = metrics.without_features, _EMPTY[member]
    if len(instance) > 0:
        learners = [model.options] if call == "rank" else model.model_set.learners
        names = names_without_signs(learners)
        if not names:
            return None
        if has_features(instance, model.options):
            warned = metrics.with_absent_values
            detail = _values_below_0([name for name, value in instance.items() if value < 0], names)
        else:
            absent_to = ", ".join(names)
            detail = f"No feature has a value above 0, and those below are absent to {absent_to}."
    warned[call] += 1
    return WarningDocument(detail, pointer((*place, member)))


def _member_of(form: Form) -> Literal["text", "features", "id"]:
    """Return the member of a form that its instance comes from."""
    if form.text is not None:
        return "text"
    return "id" if features_of(form) is None else "features"


def _values_below_0(features: Sequence[str], learners: Sequence[str]) -> str:
    """Return the sentence that the values of these features are absent to these learners."""
    first = features[0]
    shown = repr(first if len(first) <= LONGEST_SHOWN else first[:LONGEST_SHOWN] + "…")
    absent_to = ", ".join(learners)
    if len(features) == 1:
        return f"The value of feature {shown} is below 0, so it is absent to {absent_to}."
    others = len(features) - 1
    return (
        f"The values of feature {shown} and {others} more are below 0, so they are absent to"
        f" {absent_to}."
    )
