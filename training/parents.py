"""The parents of classes, as a tree."""

from collections.abc import Callable, Iterable
from typing import Final

ROOT: Final = ""  # the name of the root, above classes without a parent


def single_parents(
    classes: Iterable[str], parents: Callable[[str], Iterable[str]], root: str = ROOT
) -> dict[str, str]:
    """Return the one parent of each class and of each name above it, up to the root.

    Of several parents, the first by name counts. A cycle of parents is cut where it was entered.
    """
    parent_of = dict[str, str]()
    for name in classes:
        path = set[str]()
        while name not in (root, ROOT) and name not in parent_of:
            path.add(name)
            above = min(parents(name), default=ROOT)
            parent_of[name] = root if above in path or above == ROOT else above
            name = parent_of[name]
    return parent_of
