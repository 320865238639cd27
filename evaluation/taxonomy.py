"""Trees (or acyclic graphs) of classes, and how far apart two classes are in one."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Self

ROOT = ""


class Taxonomy:
    """The parents of each class; below one root stand those without parents, and unknown ones."""

    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        self._parents = {name: frozenset(above) - {name} for name, above in parents.items()}
        self._distance = cache(self._shortest)

    @classmethod
    def of_codes(cls, codes: Iterable[str]) -> Self:
        """A tree in which the digits of a code are its path, as those of the EU's CPV.

        `45233140-2` (the digit after the dash checks the others) lies below the longest of
        `4523314`, `452331`, ... down to two digits that is a code itself.
        """
        by_digits = {digits_of(code): code for code in codes}
        return cls({code: _above(digits, by_digits) for digits, code in by_digits.items()})

    def parents(self, name: str) -> frozenset[str]:
        """The classes right above this one; the root's own name `""` where there is none."""
        return self._parents.get(name) or frozenset({ROOT})

    def siblings(self, one: str, other: str) -> bool:
        """Whether the two have a parent in common."""
        return bool(self.parents(one) & self.parents(other))

    def distance(self, one: str | None, other: str) -> int:
        """The edges of the shortest path between two classes over what is above both.

        None stands for the root.
        """
        return self._distance(ROOT if one is None else one, other)

    def _shortest(self, one: str, other: str) -> int:
        above_one, above_other = self._above(one), self._above(other)
        return min(
            steps + above_other[name] for name, steps in above_one.items() if name in above_other
        )

    def _above(self, name: str) -> dict[str, int]:
        """The class, all that is above it, and in how many steps each is reached."""
        steps = {name: 0}
        level = {name}
        while level:
            reached = min(steps[each] for each in level) + 1
            level = {above for each in level for above in self.parents(each)} - steps.keys()
            steps |= dict.fromkeys(level, reached)
        return steps


def digits_of(code: str) -> str:
    """The digits that say where a code stands: without check digit and without zeros at the end.

    A division keeps two digits even when the second is 0.
    """
    digits = code.partition("-")[0]
    return digits.rstrip("0").ljust(2, "0")


def _above(digits: str, by_digits: Mapping[str, str]) -> list[str]:
    for length in range(len(digits) - 1, 1, -1):
        if digits[:length] in by_digits:
            return [by_digits[digits[:length]]]
    return []
