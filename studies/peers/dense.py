"""Classifiers of vectors, such as embeddings: each takes a matrix, and gives a score a class."""

import pickle
import warnings
from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from studies.peers.package import imported

Matrix = NDArray[np.float32]


class Dense(Protocol):
    """A classifier of vectors of length 1. PeerMissing if its package is not installed."""

    def fit(self, vectors: Matrix, classes: NDArray[np.int32]) -> None:
        """Learn the vectors with their classes."""

    def scores(self, vectors: Matrix) -> NDArray[np.floating[Any]]:
        """Return the scores (n, classes) of `classes`."""

    @property
    def classes(self) -> NDArray[np.int32]:
        """The classes learned, one a column of scores."""

    def bytes(self) -> int: ...


class NearestMean:
    """The mean of each class by cosine, as routers by meaning and prototypes do. NumPy alone."""

    def fit(self, vectors: Matrix, classes: NDArray[np.int32]) -> None:
        self.classes = np.unique(classes)
        column = np.searchsorted(self.classes, classes)
        sums = np.zeros((len(self.classes), vectors.shape[1]), np.float32)
        np.add.at(sums, column, vectors)
        self._means = sums / np.linalg.norm(sums, axis=1, keepdims=True)

    def scores(self, vectors: Matrix) -> NDArray[np.floating[Any]]:
        found: NDArray[np.floating[Any]] = vectors @ self._means.T
        return found

    def bytes(self) -> int:
        return int(self._means.nbytes)


class OfScikitLearn:
    """A classifier of scikit-learn."""

    def __init__(self, module: str, name: str, **given: Any) -> None:
        self._model = getattr(imported(f"sklearn.{module}", "scikit-learn"), name)(**given)

    def fit(self, vectors: Matrix, classes: NDArray[np.int32]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the limit on passes, and of classes of one vector
            self._model.fit(vectors, classes)
        self.classes = self._model.classes_

    def scores(self, vectors: Matrix) -> NDArray[np.floating[Any]]:
        found: NDArray[np.floating[Any]] = self._model.decision_function(vectors)
        return found

    def bytes(self) -> int:
        return len(pickle.dumps((self._model.coef_, self._model.intercept_)))


def _logistic() -> Dense:
    # with C=1 it is far behind with few labels: vectors of length 1 need larger weights
    return OfScikitLearn("linear_model", "LogisticRegression", C=10.0, max_iter=300)


def _discriminant(shrinkage: float | str) -> Dense:
    return OfScikitLearn(
        "discriminant_analysis", "LinearDiscriminantAnalysis", solver="lsqr", shrinkage=shrinkage
    )


DENSE: Final[dict[str, Callable[[], Dense]]] = {
    "nearest mean": NearestMean,
    "logistic regression": _logistic,
    "LDA (auto)": lambda: _discriminant("auto"),
    "LDA (0.5)": lambda: _discriminant(0.5),
}
"""Returns an untrained classifier of this name; LDA with its shrinkage."""
