"""A tree of classes, as top-down training walks it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import ROOT, Taxonomy
from manyclass.training.rows import Rows


@dataclass(frozen=True)
class Hierarchy:
    """Nodes 0, 1, ... below a root, which is node -1.

    The first nodes are the class columns of the rows, all of them leaves; the further ones are
    classes that stand above others. A class that stands above others and has instances of its own
    is both: a node, and a leaf right below it for the instances that go no deeper.

    `parents` has each node's parent; `by_parent` the nodes below each that has any.
    """

    parents: NDArray[np.int64]
    by_parent: dict[int, NDArray[np.int64]]

    @classmethod
    def of(cls, rows: Rows, taxonomy: Taxonomy | None) -> "Hierarchy":
        """The part of the taxonomy that the classes of training rows need; flat without one.

        A class with several parents goes below the first of them by name, as top-down training is
        about trees. Where parents go round in a circle, the circle is cut where it was entered.
        """
        columns = np.unique(rows.class_indices)
        parent_of = dict[str, str]()
        if taxonomy is not None:
            for column in columns:
                _climb(rows.classes[column], taxonomy, parent_of)
        inner = {name: len(rows.classes) + at for at, name in enumerate(_above(parent_of))}
        inner[ROOT] = -1
        parents = np.full(len(rows.classes) + len(inner) - 1, -1, np.int64)
        for name, node in inner.items():
            if name != ROOT:
                parents[node] = inner[parent_of[name]]
        for column in columns:
            name = rows.classes[column]
            parents[column] = inner.get(name, inner[parent_of.get(name, ROOT)])
        nodes = np.concatenate([columns, np.arange(len(rows.classes), len(parents))])
        nodes = nodes[np.argsort(parents[nodes], kind="stable")]
        above_each, starts = np.unique(parents[nodes], return_index=True)
        below = np.split(nodes, starts[1:])
        return cls(parents, {int(at): each for at, each in zip(above_each, below, strict=False)})

    def instances(self, rows: Rows) -> dict[int, NDArray[np.int64]]:
        """Which rows, ascending, have a true class at or below each node."""
        row = np.repeat(np.arange(len(rows)), np.diff(rows.class_indptr))
        node = rows.class_indices.astype(np.int64)
        found = list[NDArray[np.int64]]()
        while len(node):
            found.append(np.column_stack([node, row]))
            node = self.parents[node]
            row, node = row[node >= 0], node[node >= 0]
        pairs = np.unique(np.concatenate([np.empty((0, 2), np.int64), *found]), axis=0)
        nodes, starts = np.unique(pairs[:, 0], return_index=True)
        having = np.split(pairs[:, 1], starts[1:])
        return {int(at): each for at, each in zip(nodes, having, strict=False)}


def _climb(name: str, taxonomy: Taxonomy, parent_of: dict[str, str]) -> None:
    """Note the parent of a class, of that one, and so on up to the root or to one noted before."""
    path = set[str]()
    while name != ROOT and name not in parent_of:
        path.add(name)
        above = min(taxonomy.parents(name))
        parent_of[name] = ROOT if above in path else above
        name = parent_of[name]


def _above(parent_of: dict[str, str]) -> list[str]:
    """The classes that stand above others, by name."""
    return sorted(set(parent_of.values()) - {ROOT})
