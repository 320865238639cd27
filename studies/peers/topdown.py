"""Top-down training and ranking in a tree of classes (Madani et al. 2009, §5.1 and figure 7).

Siblings are trained one against the others, on the instances of these siblings only. Platt's
sigmoid turns scores into probabilities. It is fitted to the scores, by classifiers trained on 80 %
of the instances, of the other 20 %, pooled over `trials` splits; then the classifier is trained on
all. Without trials the sigmoid is the paper's fixed one. The paper used three trials for
perceptrons and committees; for SVMs one or more on Reuters and none on its larger set: three, three
and one here.

A ranking multiplies the probabilities along a path, which ends where the product falls below
`p_min`. The paper tried 0.05, 0.10, ... and reports the best on the test set; here it is 0.05. Only
leaves are ranked. Many instances have an inner class as their only one, so such a class has a leaf
of its own (the paper's rule, to leave out a class above a reached one, would hardly ever rank it).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows
from studies.peers.binary import Binary
from studies.peers.hierarchy import Hierarchy
from studies.peers.linear_model import LinearModel
from studies.peers.package import imported
from studies.peers.ranking import best_pairs
from studies.peers.sigmoid import Sigmoid
from studies.peers.vectors import Vectors

SIGMOID_BYTES = 8
HELD_OUT = 0.2

Probabilities = Callable[[int, NDArray[np.int64]], NDArray[np.float64]]
"""Of a parent and rows: the probability (rows, children) of each child given the parent."""


@dataclass(frozen=True)
class Siblings:
    """The classifiers of the children of one node, on the features of their rows."""

    features: NDArray[np.int32]
    model: LinearModel
    sigmoids: list[Sigmoid]


class TopDown:
    """Binary linear classifiers in the nodes of a taxonomy; one level without a taxonomy.

    `flat` always makes one level: one-versus-rest, ranked by probabilities.
    """

    def __init__(
        self,
        name: str,
        binary: Binary,
        seed: int,
        trials: int,
        p_min: float = 0.05,
        flat: bool = False,
    ) -> None:
        imported("sklearn", "scikit-learn")
        self.name = name
        self._binary = binary
        self._seed = seed
        self._trials = trials
        self._p_min = p_min
        self._flat = flat
        self._taxonomy: Taxonomy | None = None

    def use(self, taxonomy: Taxonomy) -> None:
        """Train by this taxonomy."""
        if not self._flat:
            self._taxonomy = taxonomy

    def fit(self, rows: Rows) -> None:
        vectors = Vectors.of(rows)
        self._hierarchy = Hierarchy.of(rows, self._taxonomy)
        instances = self._hierarchy.instances(rows)
        self._families = {
            parent: self._family(vectors, [instances[node] for node in nodes], parent)
            for parent, nodes in self._hierarchy.by_parent.items()
        }

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        matrix = Vectors.of(rows).matrix()

        def probabilities(parent: int, some: NDArray[np.int64]) -> NDArray[np.float64]:
            family = self._families[parent]
            scores = family.model.scores(matrix[some][:, family.features])
            columns = [sigmoid(scores[:, at]) for at, sigmoid in enumerate(family.sigmoids)]
            return np.column_stack(columns)

        row, node, probability = walk(self._hierarchy, probabilities, len(rows), self._p_min)
        named = node < len(rows.classes)
        return best_pairs(row[named], node[named], probability[named], len(rows), k)

    def bytes(self) -> int:
        """Return the bytes of all weights, of their features, and of the sigmoids."""
        return sum(
            family.model.bytes() + family.features.nbytes + SIGMOID_BYTES * len(family.sigmoids)
            for family in self._families.values()
        )

    def _family(
        self, vectors: Vectors, instances: list[NDArray[np.int64]], parent: int
    ) -> Siblings:
        """Return the trained classifiers of siblings, from the rows of each."""
        rows = np.unique(np.concatenate(instances))
        narrow, features = vectors.take(rows).compact()
        positive = [np.isin(rows, having) for having in instances]
        draw = np.random.default_rng([self._seed, parent + 1])
        splits = [held_out(len(rows), draw) for _ in range(self._trials)]
        matrix = narrow.matrix()
        model = LinearModel(len(features), len(instances))
        sigmoids = list[Sigmoid]()
        for position, having in enumerate(positive):
            seed = int(draw.integers(2**31))
            if having.all():
                model.add(position, (np.zeros(len(features), np.float32), 0.0))
                sigmoids.append(CERTAIN)
                continue
            sigmoids.append(self._sigmoid(matrix, having, splits, seed))
            model.add(position, self._binary.train(matrix, having, seed))
        model.close()
        return Siblings(features, model, sigmoids)

    def _sigmoid(
        self,
        matrix: Any,
        positive: NDArray[np.bool_],
        splits: list[NDArray[np.bool_]],
        seed: int,
    ) -> Sigmoid:
        """Return the sigmoid fitted to the pooled scores of the held-out rows of each split."""
        scores, targets = [np.empty(0)], [np.empty(0, bool)]
        for out in splits:
            learned = positive[~out]
            if learned.all() or not learned.any():
                continue
            weights, bias = self._binary.train(matrix[~out], learned, seed)
            scores.append(matrix[out] @ weights + bias)
            targets.append(positive[out])
        return Sigmoid.fit(np.concatenate(scores), np.concatenate(targets))


CERTAIN = Sigmoid(0.0, -np.inf)
"""Probability 1, of a node that has all instances of its siblings."""


def held_out(rows: int, draw: np.random.Generator) -> NDArray[np.bool_]:
    """Return (rows,), bool: a random fifth of the rows."""
    out = np.zeros(rows, bool)
    out[draw.permutation(rows)[: round(rows * HELD_OUT)]] = True
    return out


def walk(
    hierarchy: Hierarchy, probabilities: Probabilities, rows: int, p_min: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows, nodes and products that TopDownProbabilities (figure 7) reaches."""
    reached = list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]()
    waiting = [(-1, np.arange(rows), np.ones(rows))]
    while waiting:
        parent, some, product = waiting.pop()
        nodes = hierarchy.by_parent.get(parent)
        if nodes is None or len(some) == 0:
            continue
        below = product[:, None] * probabilities(parent, some)
        for node, each in zip(nodes, below.T, strict=True):
            going = each >= p_min
            reached.append((some[going], np.full(going.sum(), node), each[going]))
            waiting.append((int(node), some[going], each[going]))
    none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    rows_reached, nodes_reached, products = zip(none, *reached, strict=True)
    return np.concatenate(rows_reached), np.concatenate(nodes_reached), np.concatenate(products)
