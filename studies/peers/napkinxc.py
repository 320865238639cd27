"""napkinXC: probabilistic label trees, and binary relevance.

Values are l2-normalised. Every parameter but the number of threads, 1, and the seed is the
package's default unless a class below says otherwise: logistic regression by liblinear with C = 10
in every node, weights under 0.1 dropped, a balanced 2-means tree with at most 100 leaves a node.
The seed decides the tree, not the order in which liblinear goes through the instances: runs differ.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.package import bytes_of, imported, own_folder, without_output
from studies.peers.ranking import padded
from studies.peers.vectors import Vectors


def growing(policy: str, arity: int = 2, max_leaves: int = 100) -> dict[str, Any]:
    """Return the options of an online label tree (Jasinska-Kobus et al. 2021), kind "oplt".

    It sees each instance once: AdaGrad with the package's default step of 1. `policy` is "greedy"
    or "random"; the default `arity` and `max_leaves` are those of the package and the paper.
    """
    trees = {"greedy": "onlineBestScore", "random": "onlineRandom"}
    return {
        "model": "oplt",
        "tree_type": trees[policy],
        "tree_structure": None,
        "arity": arity,
        "max_leaves": max_leaves,
        "optimizer": "adagrad",
        "epochs": 1,
    }


class NapkinXC:
    """`PLT` or `BR` of the package, or its OPLT, which lacks a class of its own.

    Classes are numbered without gaps and each row's ascend: its k-means crashes on others.
    """

    def __init__(self, name: str, kind: str, seed: int, **given: Any) -> None:
        models = imported("napkinxc.models", "napkinxc")
        self.name = name
        self._folder = own_folder(self)
        kinds = {"plt": models.PLT, "br": models.BR, "oplt": models.LabelTreeModel}
        self._model = kinds[kind](output=str(self._folder), threads=1, seed=seed, **given)

    def fit(self, rows: Rows) -> None:
        self._columns, positions = np.unique(rows.class_indices, return_inverse=True)
        trained = replace(rows, class_indices=positions.astype(np.int32))
        labels = [sorted(classes.tolist()) for classes in trained.true_columns()]
        matrix = Vectors.of(rows).matrix()
        with without_output():  # it draws bars with `verbose=0` too
            self._model.fit(matrix, labels)
            self._model.load()

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        matrix = Vectors.of(rows).matrix()
        with without_output():
            found = self._model.predict(matrix, top_k=k)
        return padded((self._columns[labels] for labels in found), len(rows), k)

    def bytes(self) -> int:
        """Return the size of the written folder: tree, weights and parameters."""
        return bytes_of(self._folder)
