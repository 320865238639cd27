"""Rows that are easy to learn, and estimators with fixed behaviour."""

import numpy as np

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Comparison, Facts, Plan, compare, variants
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


def compared(learners=None, vary=None, peers=None, on_progress=None, **plan):
    """Compare learners and peers on the easy rows."""
    reported = [on_progress] if on_progress else []
    varied = variants(learners or [Options()], vary or {})
    return compare(data_set(), varied, peers or {}, Plan(**plan), *reported)


def comparison_of(*results, classes=1.0, taxonomy=False, splits=2):
    """Return a comparison of given results."""
    facts = Facts("set", 100, 50, 7, 3.25, classes, 80, 20, "at random", taxonomy)
    return Comparison(facts, Plan(splits=splits), list(results))


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
