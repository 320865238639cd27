"""Unweighted indexing (Madani, Greiner, Kempe and Salavatipour 2007), as described in JMLR 2009.

From the later paper (§6.4.1): an index of plain edges retrieves every class with an edge from an
active feature. Training is online; an instance changes the index only if a true class was not
retrieved, or if more than `tolerance` false classes were. Weights between classes and features only
decide whether there is an edge. Classes are ranked by these weights, or by the scores of committees
of perceptrons, trained in tandem with the index, for retrieved classes only.

The paper leaves the rest to its source, which was not available; chosen here: a true class that was
not retrieved doubles its weights to the active features, from 1/2 up to 1; too many false classes
halve theirs. An edge is a weight of at least 1/2. A class and a feature that were never promoted
together have no weight. Instances are l2-normalised; ten passes, each in an order of its own. The
tolerance is 5, the paper's best for newsgroups (it tried 2, 5 and 20).
"""

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.ranking import best_pairs
from studies.peers.vectors import Vectors

PASSES = 10
TOLERANCE = 5  # false classes of an instance
START, EDGE, MOST = 0.5, 0.5, 1.0
FACTOR = 2.0

Columns = NDArray[np.intp]


class Edges:
    """The weights between features and classes; heavy ones are the edges of the index."""

    def __init__(self, features: int, classes: int) -> None:
        self.weights = np.zeros((features, classes), np.float32)

    def retrieved(self, active: NDArray[np.int32]) -> Columns:
        """Return the classes with an edge from an active feature, ascending."""
        return np.flatnonzero((self.weights[active] >= EDGE).any(axis=0))

    def scores(
        self, active: NDArray[np.int32], values: NDArray[np.float32], classes: Columns
    ) -> NDArray[np.float32]:
        """Return the sum of value times weight over the edges of each of these classes."""
        weights = self.weights[np.ix_(active, classes)]
        scores: NDArray[np.float32] = values @ np.where(weights >= EDGE, weights, 0)
        return scores

    def learn(self, active: NDArray[np.int32], true: Columns, found: Columns, most: int) -> None:
        """Promote missed true classes; demote false ones if more than `most` were found."""
        missed = np.setdiff1d(true, found)
        if len(missed):
            cells = np.ix_(active, missed)
            grown = np.maximum(self.weights[cells] * FACTOR, START)
            self.weights[cells] = np.minimum(grown, MOST)
        false = np.setdiff1d(found, true)
        if len(false) > most:
            self.weights[np.ix_(active, false)] /= FACTOR

    @property
    def count(self) -> int:
        """Return the number of edges."""
        return int(np.count_nonzero(self.weights >= EDGE))


class Perceptrons:
    """A committee of perceptrons for each class, trained online.

    The first update of a feature and a class draws a weight from [-1, 1] for each member (§5).
    """

    MEMBERS = 10

    def __init__(self, features: int, classes: int, draw: np.random.Generator) -> None:
        self._draw = draw
        self._position = np.zeros((features, classes), np.int32)  # 0: no pair; all zero
        self._weights = np.zeros((1024, self.MEMBERS), np.float32)
        self._used = 1

    def scores(
        self, active: NDArray[np.int32], values: NDArray[np.float32], classes: Columns
    ) -> NDArray[np.float32]:
        """Return the scores (classes, members) of each member of each class."""
        weights = self._weights[self._position[np.ix_(active, classes)]]
        scores: NDArray[np.float32] = np.einsum("f,fcm->cm", values, weights)
        return scores

    def learn(
        self,
        active: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        true: NDArray[np.bool_],
    ) -> None:
        """Correct the members of these classes that misclassify the instance."""
        sign = np.where(true, 1.0, -1.0).astype(np.float32)
        wrong = self.scores(active, values, classes) * sign[:, None] <= 0
        learning = wrong.any(axis=1)
        if not learning.any():
            return
        positions = self._joined(active, classes[learning])
        steps = (sign[:, None] * wrong)[learning]
        self._weights[positions] += values[:, None, None] * steps[None, :, :]

    @property
    def bytes(self) -> int:
        """Return four bytes a weight, and four for the pair of each row."""
        return self._used * (4 * self.MEMBERS + 4)

    def _joined(self, active: NDArray[np.int32], classes: Columns) -> NDArray[np.int32]:
        """Return the positions of the weights of these pairs; new weights are drawn."""
        cells = np.ix_(active, classes)
        positions: NDArray[np.int32] = self._position[cells]
        new = positions == 0
        count = int(new.sum())
        end = self._used + count
        if end > len(self._weights):
            more = np.zeros((max(end, 2 * len(self._weights)), self.MEMBERS), np.float32)
            more[: self._used] = self._weights[: self._used]
            self._weights = more
        self._weights[self._used : end] = self._draw.uniform(-1, 1, (count, self.MEMBERS))
        positions[new] = np.arange(self._used, end)
        self._position[cells] = positions
        self._used = end
        return positions


class UnweightedIndex:
    """The index of 2007, alone or with classifiers; 4 or 8 bytes for each feature and class."""

    def __init__(self, name: str, seed: int, classifiers: bool = False) -> None:
        self.name = name
        self._seed = seed
        self._with_classifiers = classifiers

    def fit(self, rows: Rows) -> None:
        draw = np.random.default_rng(self._seed)
        size = len(rows.features), len(rows.classes)
        self._edges = Edges(*size)
        self._perceptrons = Perceptrons(*size, draw) if self._with_classifiers else None
        vectors = Vectors.of(rows)
        truths = [np.unique(classes).astype(np.intp) for classes in rows.true_columns()]
        for _ in range(PASSES):
            for at in draw.permutation(len(rows)):
                self._learn(*vectors.row(at), truths[at])

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        vectors = Vectors.of(rows)
        found = list[tuple[NDArray[np.int64], Columns, NDArray[np.float32]]]()
        for at in range(len(rows)):
            active, values = vectors.row(at)
            classes = self._edges.retrieved(active)
            if self._perceptrons is None:
                scores = self._edges.scores(active, values, classes)
            else:
                scores = self._perceptrons.scores(active, values, classes).sum(axis=1)
            found.append((np.full(len(classes), at), classes, scores))
        if not found:
            return np.empty((0, k), np.int32)
        row, column, score = (np.concatenate(each) for each in zip(*found, strict=True))
        return best_pairs(row, column, score, len(rows), k)

    def bytes(self) -> int:
        """Return eight bytes an edge (class and weight), and those of the perceptrons."""
        return 8 * self._edges.count + (self._perceptrons.bytes if self._perceptrons else 0)

    def _learn(self, active: NDArray[np.int32], values: NDArray[np.float32], true: Columns) -> None:
        found = self._edges.retrieved(active)
        self._edges.learn(active, true, found, TOLERANCE)
        if self._perceptrons is not None:
            shown = np.union1d(found, true)
            self._perceptrons.learn(active, values, shown, np.isin(shown, true))
