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

from evaluation.peers.folder import bytes_of, own_folder
from evaluation.peers.lines import classes_of
from evaluation.peers.package import imported
from evaluation.peers.silence import without_output
from evaluation.peers.vectors import Vectors
from training.rows import Rows


class NapkinXC:
    """`PLT` or `BR` of the package, or a label tree that grows online (`kind` "oplt").

    Classes are numbered without gaps and each row's ascend: its k-means crashes on others.

    OPLT (Jasinska-Kobus et al. 2021) sees each instance once: AdaGrad with the package's default
    step of 1, and the best-greedy tree. It has no class of its own in the package.
    """

    def __init__(self, name: str, kind: str, seed: int) -> None:
        models = imported("napkinxc.models", "napkinxc")
        self.name = name
        self._folder = own_folder(self)
        common: dict[str, Any] = {"output": str(self._folder), "threads": 1, "seed": seed}
        if kind == "oplt":
            self._model = models.LabelTreeModel(
                model="oplt",
                tree_type="onlineBestScore",
                tree_structure=None,
                optimizer="adagrad",
                epochs=1,
                **common,
            )
        else:
            self._model = {"plt": models.PLT, "br": models.BR}[kind](**common)

    def fit(self, rows: Rows) -> None:
        self._columns, places = np.unique(rows.class_indices, return_inverse=True)
        trained = replace(rows, class_indices=places.astype(np.int32))
        labels = [sorted(classes.tolist()) for classes in classes_of(trained)]
        matrix = Vectors.of(rows).matrix()
        with without_output():  # its bars are drawn with `verbose=0` too
            self._model.fit(matrix, labels)
            self._model.load()

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        ranked = np.full((len(rows), k), -1, np.int32)
        matrix = Vectors.of(rows).matrix()
        with without_output():
            found = self._model.predict(matrix, top_k=k)
        for at, labels in enumerate(found):
            ranked[at, : len(labels)] = self._columns[labels]
        return ranked

    def bytes(self) -> int:
        """The size of the folder it writes: tree, weights and parameters."""
        return bytes_of(self._folder)
