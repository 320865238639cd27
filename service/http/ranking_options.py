"""Checks of the options of a ranking request: their limits, and which apply together."""

from collections.abc import Sequence
from typing import Final

from manyclass.core.event_parts import class_names
from manyclass.service.http.decoding import check_many, names_of, whole
from manyclass.service.http.problems import invalid
from manyclass.service.http.schemas.rank import (
    MOST_DECODED,
    MOST_EXPLAINED,
    MOST_EXPLAINED_INSTANCES,
    MOST_RANKED_AT_ONCE,
    RankInstance,
    RankRequest,
)

_PROBABILITIES: Final = ("probabilities", "min_probability", "min_precision")
# These are learned from rankings of all classes.
_OF_ALL_CLASSES: Final = ("min_confidence", "min_accuracy", *_PROBABILITIES)


def check_options(request: RankRequest) -> None:
    """Raise Problem for options above a limit, or that cannot apply together."""
    if isinstance(request.wanted, float):
        whole(request.wanted, "k")
    if request.explain and request.wanted > MOST_EXPLAINED:
        raise invalid(f"`k` is at most {MOST_EXPLAINED} with `explain`.", "k")
    if request.decode is not None and request.wanted > MOST_DECODED:
        raise invalid(f"`k` is at most {MOST_DECODED} with `decode`.", "k")
    if request.min_accuracy is not None and request.min_precision is not None:
        detail = (
            "`min_accuracy` is about the first class and `min_precision` about each class: send one"
            " of them."
        )
        raise invalid(detail, "min_precision")
    if request.decode is not None and (name := _first_given(request, _PROBABILITIES)):
        detail = f"`{name}` cannot be used with `decode`, which orders classes by their losses."
        raise invalid(detail, name)


def classes_among(request: RankRequest) -> list[str] | None:
    """Return the names of the classes to rank, each once; None for all."""
    if request.among is None:
        return None
    if name := _first_given(request, _OF_ALL_CLASSES):
        detail = (
            f"`{name}` cannot be used with `among`: confidence is learned from rankings of all"
            " classes."
        )
        raise invalid(detail, name)
    return class_names(names_of(request.among, "among"), "among")


def check_instances(
    request: RankRequest, forms: Sequence[RankInstance], among: list[str] | None, most: int
) -> None:
    """Raise Problem for more than `most` instances, or too many rankings of them."""
    check_many(request, RankInstance, "instances", forms, most, "instance to rank")
    if request.explain and len(forms) > MOST_EXPLAINED_INSTANCES:
        detail = f"A request has at most {MOST_EXPLAINED_INSTANCES} instances with `explain`."
        raise invalid(detail, "instances", MOST_EXPLAINED_INSTANCES)
    if len(forms) * request.wanted > MOST_RANKED_AT_ONCE:
        detail = f"The number of instances times `k` is at most {MOST_RANKED_AT_ONCE}."
        raise invalid(detail, "instances", int(MOST_RANKED_AT_ONCE // request.wanted))
    if among is not None and len(forms) * len(among) > MOST_RANKED_AT_ONCE:
        detail = (
            "The number of instances times the number of classes in `among` is at most"
            f" {MOST_RANKED_AT_ONCE}."
        )
        raise invalid(detail, "instances", MOST_RANKED_AT_ONCE // len(among))


def _first_given(request: RankRequest, names: Sequence[str]) -> str | None:
    """Return the first of the options that a request has; 0 is a limit."""
    values = ((name, getattr(request, name)) for name in names)
    return next((name for name, value in values if value is not None and value is not False), None)
