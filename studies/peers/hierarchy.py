"""The tree of classes of top-down training."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.parents import ROOT
from manyclass.training.rows import Rows


@dataclass(frozen=True)
class Hierarchy:
    """Nodes 0, 1, ... below a root, which is node -1.

    The first nodes are the class columns of the rows, all leaves; the others are inner classes. An
    inner class with instances of its own is both: a node, and a leaf right below it for them.

    `parents` has each node's parent; `by_parent` the children of each inner node.
    """

    parents: NDArray[np.int64]
    by_parent: dict[int, NDArray[np.int64]]

    @classmethod
    def of(cls, rows: Rows, taxonomy: Taxonomy | None) -> "Hierarchy":
        """Return the part of the taxonomy above the classes of training rows; flat without one.

        A class with several parents goes below the first of them by name: top-down training needs
        a tree. A cycle of parents is cut where it was entered.
        """
        columns = np.unique(rows.class_indices)
        parent_of = dict[str, str]()
        if taxonomy is not None:
            parent_of = taxonomy.single_parents(rows.classes[column] for column in columns)
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
        """Return the rows, ascending, with a true class at or below each node."""
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


def _above(parent_of: dict[str, str]) -> list[str]:
    """Return the inner classes, by name."""
    return sorted(set(parent_of.values()) - {ROOT})
