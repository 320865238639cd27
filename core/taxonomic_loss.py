"""Progressive taxonomic measures: how far the class ranked first is from the true class."""

from collections.abc import Sequence

from manyclass.core.recent_numbers import RecentNumbers
from manyclass.core.taxonomy import LONGEST_PATH, Taxonomy


class TaxonomicLoss(RecentNumbers):
    """Half the edges from the class ranked first to the nearest true class: 1 between siblings.

    The numbers are edges, over the examples since there was a taxonomy.
    """

    LARGEST = 2 * LONGEST_PATH
    TOTALS, NUMBERS = "taxonomic_totals", "taxonomic_edges"

    def mean(self, window: int) -> float | None:
        """Return the mean loss of the last examples; None without any."""
        edges = super().mean(window)
        return None if edges is None else edges / 2


class ParentAccuracy(RecentNumbers):
    """1 if the class ranked first is a true class or has the parent of one, else 0."""

    LARGEST = 1
    TOTALS, NUMBERS = "parent_totals", "parent_right"


SECTIONS = {**TaxonomicLoss.sections(), **ParentAccuracy.sections()}


def edges_between(taxonomy: Taxonomy, first: str | None, classes: Sequence[str]) -> int:
    """Return the edges from a class to the nearest true class; None stands for the root."""
    return min(taxonomy.distance(first, name) for name in classes)


def has_parent_of(taxonomy: Taxonomy, first: str | None, classes: Sequence[str]) -> bool:
    """Return whether a class is a true class or has the parent of one; None is not."""
    if first is None:
        return False
    parent = taxonomy.parent(first)
    return any(first == name or taxonomy.parent(name) == parent for name in classes)
