"""Instances that are given to a second reviewer: which ones, and how far two labels agree."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from manyclass.service.ingest.stored_instance import WaitingInstance


class LabelPair(msgspec.Struct, array_like=True, frozen=True):
    """The labels that two reviewers gave to one instance, neither of whom saw the other's.

    There is no `second_reviewer` before the second label.
    """

    first_reviewer: str
    first: tuple[str, ...]
    second_reviewer: str | None = None
    second: tuple[str, ...] = ()
    time: float = 0.0  # of the second one, in unix seconds

    @property
    def is_open(self) -> bool:
        """Return whether a second label is asked for."""
        return self.second_reviewer is None

    @property
    def is_equal(self) -> bool:
        """Return whether both have the same classes, in any order."""
        return set(self.first) == set(self.second)


class Labelled(NamedTuple):
    """Labelled instances to give to a second reviewer, and the number of all that there are."""

    instances: list[WaitingInstance]
    number: int


class Agreement(NamedTuple):
    """The number of pairs, of equal ones, and Cohen's κ, None where it is not defined."""

    pairs: int
    equal: int
    kappa: float | None


def is_chosen(instance_id: str, percent: int) -> bool:
    """Return whether an instance belongs to the share that is labelled twice.

    The hash of its id decides, so every process chooses the same instances.
    """
    digest = blake2b(instance_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % 10_000 < 100 * percent


def agreement(pairs: Iterable[LabelPair]) -> Agreement:
    """Return how far the labels of pairs agree. The classes of a label together are one category.

    κ = (observed - chance) / (1 - chance), where `chance` is the share of equal labels if the
    second ones were shuffled. It is not defined without pairs, or if all labels are the same.
    """
    labels = [(_category(each.first), _category(each.second)) for each in pairs]
    number = len(labels)
    equal = sum(first == second for first, second in labels)
    firsts = Counter(first for first, _ in labels)
    seconds = Counter(second for _, second in labels)
    by_chance = sum(times * seconds[name] for name, times in firsts.items())  # times number²
    if by_chance == number**2:
        return Agreement(number, equal, None)
    kappa = (number * equal - by_chance) / (number**2 - by_chance)
    return Agreement(number, equal, kappa)


def _category(classes: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(classes)))
