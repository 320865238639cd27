"""One-versus-rest: a binary classifier for each class; their scores rank the classes.

As in the paper (§5), each is trained on all instances, and raw scores rank: probabilities did not
rank better there (footnote 18). An instance with several true classes is
positive for each.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.measures import hits_in
from manyclass.training.rows import Rows
from studies.peers.binary import Binary, SupportVectors
from studies.peers.linear_model import LinearModel
from studies.peers.package import imported
from studies.peers.ranking import best
from studies.peers.vectors import Vectors


class OneVersusRest:
    """A binary linear classifier for every class with a training row."""

    def __init__(self, name: str, binary: Binary, seed: int) -> None:
        imported("sklearn", "scikit-learn")
        self.name = name
        self._binary = binary
        self._seed = seed

    def fit(self, rows: Rows) -> None:
        self._model = LinearModel(len(rows.features), len(rows.classes))
        matrix = Vectors.of(rows).matrix()
        for column, positive in members(rows):
            if positive.all():
                weights = np.zeros(len(rows.features), np.float32)
                self._model.add(column, (weights, 0.0))
                continue
            self._model.add(column, self._binary.train(matrix, positive, self._seed + column))
        self._model.close()

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        matrix = Vectors.of(rows).matrix()
        ranked = [best(scores, k) for scores in self._model.parts(matrix)]
        return np.concatenate([np.empty((0, k), np.int32), *ranked])

    def bytes(self) -> int:
        return self._model.bytes()


class TunedSupportVectors:
    """One-versus-rest linear SVMs with the C of the best R1 on a held-out fifth.

    They are then trained on all rows. The training time includes the search for C; the paper
    reports the best C on the test set.
    """

    CANDIDATES = (0.1, 1.0, 10.0)

    def __init__(self, name: str, seed: int) -> None:
        imported("sklearn", "scikit-learn")
        self.name = name
        self._seed = seed

    def fit(self, rows: Rows) -> None:
        learned, held_out = rows.shuffled(self._seed).split(0.8)
        right = {}
        for c in self.CANDIDATES:
            trial = OneVersusRest(self.name, SupportVectors(c), self._seed)
            trial.fit(learned)
            right[c] = hits_in(trial.rank(held_out, 1), held_out).sum()
        self.c = max(self.CANDIDATES, key=right.__getitem__)
        self._chosen = OneVersusRest(self.name, SupportVectors(self.c), self._seed)
        self._chosen.fit(rows)

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        return self._chosen.rank(rows, k)

    def bytes(self) -> int:
        return self._chosen.bytes()


def members(rows: Rows) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield each class column with a row, and (n,), bool: the rows with this class."""
    row = np.repeat(np.arange(len(rows)), np.diff(rows.class_indptr))
    order = np.argsort(rows.class_indices, kind="stable")
    columns, starts = np.unique(rows.class_indices[order], return_index=True)
    for column, having in zip(columns, np.split(row[order], starts[1:]), strict=True):
        positive = np.zeros(len(rows), bool)
        positive[having] = True
        yield int(column), positive
