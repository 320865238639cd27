"""Trees or acyclic graphs of classes, and distances between classes."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Self

from manyclass.training.parents import ROOT, single_parents


class Taxonomy:
    """The parents of each class; classes without parents, and unknown ones, are below one root."""

    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        self._parents = {name: frozenset(above) - {name} for name, above in parents.items()}
        self._distance = cache(self._shortest)

    @classmethod
    def of_codes(cls, codes: Iterable[str]) -> Self:
        """Return the tree of codes whose digits are their path, such as those of the EU's CPV.

        `45233140-2` (2 is a check digit) is below the longest of `4523314`, `452331`, ... down to
        two digits that is a code itself.
        """
        by_digits = {digits_of(code): code for code in codes}
        return cls({code: _above(digits, by_digits) for digits, code in by_digits.items()})

    def parents(self, name: str) -> frozenset[str]:
        """Return the parents of a class; the root's name `""` if it has none."""
        return self._parents.get(name) or frozenset({ROOT})

    def single_parents(self, classes: Iterable[str]) -> dict[str, str]:
        """Return one parent for each class and each of its ancestors, or `ROOT`.

        Among several parents, the first by name is taken. A cycle is cut where it was entered.
        """
        return single_parents(classes, self.parents)

    def siblings(self, one: str, other: str) -> bool:
        """Return whether the two have a common parent."""
        return bool(self.parents(one) & self.parents(other))

    def distance(self, one: str | None, other: str) -> int:
        """Return the edges of the shortest path between two classes through a common ancestor.

        None stands for the root.
        """
        return self._distance(ROOT if one is None else one, other)

    def _shortest(self, one: str, other: str) -> int:
        above_one, above_other = self._above(one), self._above(other)
        return min(
            steps + above_other[name] for name, steps in above_one.items() if name in above_other
        )

    def _above(self, name: str) -> dict[str, int]:
        """Return the class and its ancestors, with the number of edges to each."""
        steps = {name: 0}
        level = {name}
        while level:
            reached = min(steps[each] for each in level) + 1
            level = {above for each in level for above in self.parents(each)} - steps.keys()
            steps |= dict.fromkeys(level, reached)
        return steps


def digits_of(code: str) -> str:
    """Return the digits of a code without its check digit and without zeros at the end.

    Two digits always stay, even if the second is 0.
    """
    digits = code.partition("-")[0]
    return digits.rstrip("0").ljust(2, "0")


def _above(digits: str, by_digits: Mapping[str, str]) -> list[str]:
    for length in range(len(digits) - 1, 1, -1):
        if digits[:length] in by_digits:
            return [by_digits[digits[:length]]]
    return []
