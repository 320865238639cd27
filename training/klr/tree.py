"""The tree of classes, and the parameters that its nodes share."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from manyclass.training.parents import ROOT, single_parents

Sharing = Literal["F1", "F2", "H1", "H2"]
SHARINGS: Final[tuple[Sharing, ...]] = get_args(Sharing)


@dataclass(frozen=True)
class ClassTree:
    """Nodes 0, 1, ..., P - 1 below a root, numbered breadth first, and the variance of each.

    A node's variance is the sum of some of G parameters: `counts` (P, G) says how often each is
    part of it. A class that stands above others has a leaf of its own below its node.
    """

    names: list[str]  # of each node: a class or an inner name
    parents: NDArray[np.int32]  # the parent of each node, -1 below the root
    leaves: NDArray[np.int32]  # the node of each class
    counts: NDArray[np.float64]
    groups: list[str]  # the name of each parameter
    # The parent of each class and of each name above it, also of names that are not nodes.
    taxonomy: dict[str, str] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """Return P, the number of nodes without the root."""
        return len(self.parents)

    @property
    def classes(self) -> int:
        """Return C, the number of classes."""
        return len(self.leaves)

    @property
    def is_flat(self) -> bool:
        """Return whether all nodes are below the root."""
        return bool((self.parents < 0).all())

    def tied(self) -> Self:
        """Return the tree with one parameter for all nodes."""
        return replace(self, counts=self.counts.sum(1, keepdims=True), groups=["all"])

    def sum_up(self, of_classes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, P), the sums of (n, C) over the classes at or below each node."""
        sums = np.zeros((len(of_classes), self.nodes))
        sums[:, self.leaves] = of_classes
        for node in range(self.nodes - 1, -1, -1):
            if self.parents[node] >= 0:
                sums[:, self.parents[node]] += sums[:, node]
        return sums


def tree_of(
    classes: Sequence[str],
    parents: Callable[[str], Iterable[str]],
    sharing: Sharing,
    root: str = ROOT,
) -> ClassTree:
    """Return the tree above these classes, up to `root`.

    F1 and F2 are flat: all classes are below the root. F1 has one variance, H1 one for each level
    of inner nodes and one for the classes, F2 and H2 one for each child of the root. An inner node
    with one child and without an own class is joined with the child: their variances add up.
    """
    parent_of = single_parents(classes, parents, root)
    inner = set(parent_of.values()) - {root}
    below = defaultdict[str, list[tuple[str, int]]](list)  # (name, class, or -1 for inner nodes)
    for name in sorted(inner):
        below[parent_of[name]].append((name, -1))
    for column, name in enumerate(classes):
        below[name if name in inner else parent_of.get(name, root)].append((name, column))
    labels = dict[str, int]()
    names, above, counts = list[str](), list[int](), list[list[int]]()
    leaves = np.full(len(classes), -1, np.int32)
    hierarchical = sharing in ("H1", "H2")
    level = [(root, -1, 1, "", list[int]())]  # its name, node, depth of children, child of the root
    while level:
        next_level = list[tuple[str, int, int, str, list[int]]]()
        for parent, node, depth, top, joined in level:
            for name, column in below[parent]:
                its_top = top or name
                label = _label(sharing, its_top, depth, column >= 0)
                chain = [*joined, labels.setdefault(label, len(labels))] if hierarchical else []
                only = column < 0 and len(below[name]) == 1
                if only or (column < 0 and not hierarchical):
                    next_level.append((name, node, depth + 1, its_top, chain))
                    continue
                if not hierarchical:
                    chain = [labels.setdefault(label, len(labels))]
                names.append(name)
                above.append(node)
                counts.append(chain)
                if column >= 0:
                    leaves[column] = len(names) - 1
                else:
                    next_level.append((name, len(names) - 1, depth + 1, its_top, []))
        level = next_level
    order = _breadth_first(above)
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order))
    parents_of = np.array(above, np.int32)[order]
    matrix = np.zeros((len(order), len(labels)))
    for node, chain in enumerate(counts):
        np.add.at(matrix[number[node]], chain, 1)
    used = matrix.sum(0) > 0
    return ClassTree(
        [names[node] for node in order],
        np.where(parents_of >= 0, number[parents_of], -1).astype(np.int32),
        number[leaves],
        matrix[:, used],
        [label for label, is_used in zip(labels, used.tolist(), strict=True) if is_used],
        {name: parent for name, parent in parent_of.items() if parent != ROOT},
    )


def flat_tree(classes: Sequence[str]) -> ClassTree:
    """Return the tree of all classes below the root, with one variance."""
    return tree_of(classes, lambda name: (), "F1")


def _label(sharing: Sharing, top: str, depth: int, is_class: bool) -> str:
    if sharing == "F1":
        return "all"
    if sharing == "H1":
        return "classes" if is_class else f"level {depth}"
    return top


def _breadth_first(above: Sequence[int]) -> NDArray[np.int64]:
    """Return the nodes by their depth; a joined chain may have put a node too deep."""
    depths = np.zeros(len(above), np.int64)
    for node, parent in enumerate(above):
        depths[node] = depths[parent] + 1 if parent >= 0 else 0
    return np.argsort(depths, kind="stable")
