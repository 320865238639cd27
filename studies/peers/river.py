"""River: online learners in Python, which see each instance once.

Values are l2-normalised for the linear ones and as they are for naive Bayes, which counts. An
instance with several true classes is positive for each. Parameters are River's defaults, unless
said below. River keeps its weights in dictionaries; the bytes are those of the pickled model.
"""

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.package import imported
from studies.peers.ranking import best
from studies.peers.vectors import Vectors


class River:
    """A model of River that predicts probabilities of classes."""

    vectors = staticmethod(Vectors.of)

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model

    def fit(self, rows: Rows) -> None:
        self._classes = len(rows.classes)
        instances = self.vectors(rows).instances()
        for instance, true in zip(instances, rows.true_columns(), strict=True):
            self._learn(instance, true.tolist())

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        ranked = np.full((len(rows), k), -1, np.int32)
        for at, instance in enumerate(self.vectors(rows).instances()):
            scores = np.full((1, self._classes), -np.inf)
            found = self._model.predict_proba_one(instance)
            scores[0, list(found)] = list(found.values())
            ranked[at] = best(scores, k)[0]
        return ranked

    def bytes(self) -> int:
        return len(pickle.dumps(self._model))

    def _learn(self, instance: dict[int, float], labels: list[int]) -> None:
        raise NotImplementedError


class RiverOneVersusRest(River):
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
        super().__init__(name, wrapper.OneVsRestClassifier(binary))

    def _learn(self, instance: dict[int, float], labels: list[int]) -> None:
        classifiers = self._model.classifiers
        for label in {*labels} - classifiers.keys():
            classifiers[label] = self._model.classifier.clone()
        for label, binary in classifiers.items():
            binary.learn_one(instance, label in labels)


class RiverBayes(River):
    """`naive_bayes.MultinomialNB`.

    `ComplementNB` and `BernoulliNB` took more than a second for one ranking of 150 classes.
    """

    vectors = staticmethod(Vectors.unscaled)

    def __init__(self, name: str) -> None:
        super().__init__(name, imported("river.naive_bayes", "river").MultinomialNB())

    def _learn(self, instance: dict[int, float], labels: list[int]) -> None:
        for label in labels:
            self._model.learn_one(instance, label)
