"""River: online learners in Python, which see each instance once.

Values are l2-normalised for the linear ones and as they are for naive Bayes, which counts. An
instance with several true classes is positive for each. Parameters are River's defaults, unless
said below. River keeps its weights in dictionaries; the bytes are those of the pickled model.
"""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.package import imported
from studies.peers.ranking import best
from studies.peers.text_formats import classes_of
from studies.peers.vectors import Vectors


class RiverOneVersusRest:
    """`multiclass.OneVersusRestClassifier` over `kind`: "pa" (PA-II, C = 1) or "lr".

    "lr" is logistic regression by AdaGrad with a step of 1: River's default, plain gradient steps
    of 0.01, hardly moves on vectors of length 1. The wrapper takes one class an instance, so its
    binary classifiers are trained here, in the same way: every known class learns every instance.
    """

    def __init__(self, name: str, kind: str) -> None:
        models = imported("river.linear_model", "river")
        wrapper = imported("river.multiclass", "river")
        rates = imported("river.optim", "river")
        binary = {
            "pa": lambda: models.PAClassifier(C=1.0, mode=2),
            "lr": lambda: models.LogisticRegression(optimizer=rates.AdaGrad(1.0)),
        }[kind]()
        self.name = name
        self._model: Any = wrapper.OneVsRestClassifier(binary)

    def fit(self, rows: Rows) -> None:
        self._classes = len(rows.classes)
        classifiers = self._model.classifiers
        for instance, true in zip(instances(Vectors.of(rows)), classes_of(rows), strict=True):
            labels = set(true.tolist())
            for label in labels - classifiers.keys():
                classifiers[label] = self._model.classifier.clone()
            for label, binary in classifiers.items():
                binary.learn_one(instance, label in labels)

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        return ranked_by(self._model, Vectors.of(rows), self._classes, k)

    def bytes(self) -> int:
        return len(pickle.dumps(self._model))


class RiverBayes:
    """`naive_bayes.MultinomialNB`.

    `ComplementNB` and `BernoulliNB` took more than a second for one ranking of 150 classes.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._model: Any = imported("river.naive_bayes", "river").MultinomialNB()

    def fit(self, rows: Rows) -> None:
        self._classes = len(rows.classes)
        vectors = Vectors.unscaled(rows)
        for instance, true in zip(instances(vectors), classes_of(rows), strict=True):
            for label in true.tolist():
                self._model.learn_one(instance, label)

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        return ranked_by(self._model, Vectors.unscaled(rows), self._classes, k)

    def bytes(self) -> int:
        return len(pickle.dumps(self._model))


def instances(vectors: Vectors) -> Iterator[dict[int, float]]:
    """Yield each row as a dictionary for River."""
    for at in range(len(vectors)):
        columns, values = vectors.row(at)
        yield dict(zip(columns.tolist(), values.tolist(), strict=True))


def ranked_by(model: Any, vectors: Vectors, classes: int, k: int) -> NDArray[np.int32]:
    """Return the most probable classes (n, k) of each row."""
    ranked = np.full((len(vectors), k), -1, np.int32)
    for at, instance in enumerate(instances(vectors)):
        scores = np.full((1, classes), -np.inf)
        found = model.predict_proba_one(instance)
        scores[0, list(found)] = list(found.values())
        ranked[at] = best(scores, k)[0]
    return ranked
