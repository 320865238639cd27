"""Warnings about instances without features and vector, about values below 0 that a learner
ignores, about texts of which a part was left out, and about names that no class has."""

from collections.abc import Sequence
from typing import Final, Literal

from manyclass.core.abilities import has_features, names_without_signs
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.model import Model
from manyclass.core.text import AnalysedText
from manyclass.service.http.decoding import LONGEST_SHOWN
from manyclass.service.http.instances import Form, features_of
from manyclass.service.http.problems import pointer
from manyclass.service.http.schemas.parts import WarningDocument
from manyclass.service.observability.metrics import Metrics

_EMPTY: Final = {
    "text": "The text has no words.",
    "features": "No feature has a value other than 0.",
    "id": "The instance with this id has no features.",
}


def warnings_of(
    metrics: Metrics,
    call: Literal["rank", "learn"],
    model: Model,
    form: Form,
    read: AnalysedText,
    *place: str | int,
) -> list[WarningDocument]:
    """Return the warnings about the instance of a form, and count the instance.

    For a ranking, only the primary learner matters; for learning, the shadows too.
    """
    instance, long_words, truncated, _ = read
    details = []
    member = _member_of(form)
    if long_words or truncated:
        metrics.with_cut_texts[call] += 1
    if long_words:
        details.append(_long_words(long_words))
    if truncated:
        details.append(
            "The text has more features than an instance may have; all after the first"
            f" {len(instance)} are left out."
        )
    if instance.is_empty:
        metrics.without_features[call] += 1
        details.append("No other word remains." if long_words else _EMPTY[member])
    elif instance.is_signed:
        learners = [model.options] if call == "rank" else model.model_set.learners
        if names := names_without_signs(learners):
            details.append(_about_signs(metrics, call, model, instance, names))
    return [WarningDocument(detail, pointer((*place, member))) for detail in details]


def warnings_of_names(model: Model, among: Sequence[str]) -> list[WarningDocument]:
    """Return one warning for all names that no class has."""
    unknown = [name for name in among if name not in model.classes]
    if not unknown:
        return []
    first = f"No class is named {_shown(unknown[0])}"
    rest = f", nor {len(unknown) - 1} more of these names." if len(unknown) > 1 else "."
    return [WarningDocument(first + rest, pointer(("among",)))]


def _about_signs(
    metrics: Metrics,
    call: Literal["rank", "learn"],
    model: Model,
    instance: Instance,
    names: Sequence[str],
) -> str:
    """Return the warning that these learners ignore values below 0, and count the instance."""
    if has_features(instance, model.options):
        metrics.with_absent_values[call] += 1
        return _values_below_0([name for name, value in instance.items() if value < 0], names)
    metrics.without_features[call] += 1
    return f"No feature has a value above 0, and values below 0 are ignored by {', '.join(names)}."


_LONGER = f"longer than a name may be ({LONGEST_NAME} bytes, with its field)"


def _long_words(count: int) -> str:
    if count == 1:
        return f"A word of the text is {_LONGER} and is left out."
    return f"{count} words of the text are {_LONGER} and are left out."


def _member_of(form: Form) -> Literal["text", "features", "id"]:
    """Return the member of a form that has its instance."""
    if form.text is not None:
        return "text"
    return "id" if features_of(form) is None else "features"


def _values_below_0(features: Sequence[str], learners: Sequence[str]) -> str:
    """Return the sentence that these learners ignore the values of these features."""
    shown = _shown(features[0])
    ignored = f"below 0 and ignored by {', '.join(learners)}."
    if len(features) == 1:
        return f"The value of feature {shown} is {ignored}"
    return f"The values of feature {shown} and of {len(features) - 1} more are {ignored}"


def _shown(name: str) -> str:
    """Return a name in quotes, of which a long one is cut."""
    return repr(name if len(name) <= LONGEST_SHOWN else name[:LONGEST_SHOWN] + "…")
