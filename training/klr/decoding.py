"""Predictions of least expected loss, given probabilities (Seeger, 2006, section 6.2)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass.training.parents import ROOT, single_parents


class Decoder:
    """The whole taxonomy above some classes, each of which is a node itself.

    The taxo-loss of two classes is half the edges of the path between them.
    """

    def __init__(self, nodes: NDArray[np.int64], parents: NDArray[np.int64]) -> None:
        self._nodes = nodes  # of each class
        self._parents = parents  # of each node, before it in number; -1 below the root

    @classmethod
    def of(cls, classes: Sequence[str], parents: Callable[[str], Iterable[str]]) -> Self:
        """Return the taxonomy of these classes; a class with several parents has the first."""
        parent_of = single_parents(classes, parents)
        depths = dict[str, int]()

        def depth(name: str) -> int:
            if name == ROOT:
                return 0
            if name not in depths:
                depths[name] = depth(parent_of[name]) + 1
            return depths[name]

        names = sorted(parent_of, key=lambda name: (depth(name), name))
        number = {name: at for at, name in enumerate(names)} | {ROOT: -1}
        above = np.array([number[parent_of[name]] for name in names], np.int64)
        return cls(np.array([number[name] for name in classes], np.int64), above)

    def least_taxo_loss(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of least expected taxo-loss for each row of (n, C).

        The expected loss of c is half the sum over nodes of the mass on the other side: an edge
        is on the path of two classes if one of them is below it.
        """
        masses = np.zeros((len(probabilities), len(self._parents)))
        masses[:, self._nodes] = probabilities
        for node in range(len(self._parents) - 1, -1, -1):
            if self._parents[node] >= 0:
                masses[:, self._parents[node]] += masses[:, node]
        losses = 0.5 * (1 - 2 * masses)
        for node, parent in enumerate(self._parents.tolist()):
            if parent >= 0:
                losses[:, node] += losses[:, parent]
        chosen: NDArray[np.int64] = losses[:, self._nodes].argmin(1)
        return chosen

    def best_parent(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the likeliest child of the parent whose classes have the largest mass."""
        families, family = np.unique(self._parents[self._nodes], return_inverse=True)
        masses = np.zeros((len(probabilities), len(families)))
        np.add.at(masses.T, family, probabilities.T)
        outside = family != masses.argmax(1)[:, None]
        chosen: NDArray[np.int64] = np.where(outside, -1.0, probabilities).argmax(1)
        return chosen
