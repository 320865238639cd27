"""Rows that are easy to learn, and estimators with fixed behaviour."""

import numpy as np

from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows

CLASSES = 4


def separable(rows=80, classes=CLASSES):
    """Return rows with two features each; one of them determines the class."""
    return Rows.of(
        ({f"sign {at % classes}": 1.0, f"noise {at % 3}": 0.5}, [f"class {at % classes}"])
        for at in range(rows)
    )


def data_set(rows=80, **given):
    return Dataset("easy", separable(rows), share=0.75, **given)


class Always:
    """Ranks the classes by their columns and ignores the instance."""

    name = "always"

    def __init__(self, seed=0):
        self.seed = seed
        self.fitted = 0
        self.taxonomy = None

    def use(self, taxonomy):
        self.taxonomy = taxonomy

    def fit(self, rows):
        self.fitted += len(rows)

    def rank(self, rows, k):
        width = min(k, len(rows.classes))
        ranking = np.full((len(rows), k), -1, np.int32)
        ranking[:, :width] = np.arange(width)
        return ranking

    def bytes(self):
        return 1000
