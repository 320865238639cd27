"""Small random problems, and their dense algebra in float64."""

from dataclasses import dataclass

import numpy as np

from manyclass.training.klr.arrays import ByFeature, Targets
from manyclass.training.klr.kernels import LinearKernel
from manyclass.training.klr.tree import ClassTree, tree_of

PARENTS = {
    "a1": ["a"],
    "a2": ["a"],
    "a": ["top"],
    "b1": ["b"],
    "b2": ["b"],
    "b": ["top"],
    "c": [],
}
CLASSES = ["b2", "a1", "c", "a", "a2", "b1"]


def parents(name):
    return PARENTS.get(name, [])


@dataclass
class Problem:
    tree: ClassTree
    x: np.ndarray
    targets: Targets
    dtype: type = np.float64

    @property
    def columns(self):
        row, column = np.nonzero(self.x)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(self.x)))])
        values = self.x[row, column].astype(self.dtype)
        return ByFeature.of_rows(indptr, column.astype(np.int32), values, self.x.shape[1])

    @property
    def y(self):
        dense = np.zeros((len(self.x), self.tree.classes))
        row = np.repeat(np.arange(len(self.x)), np.diff(self.targets.starts))
        dense[row, self.targets.classes] = self.targets.shares
        return dense

    def kernel(self, bias=0.0, workers=None):
        return LinearKernel(self.columns, self.tree, bias, workers)


def path_matrix(tree):
    """Return (C, P): whether a node is on the path to a class."""
    paths = np.zeros((tree.classes, tree.nodes))
    for c, node in enumerate(tree.leaves.tolist()):
        while node >= 0:
            paths[c, node] = 1
            node = tree.parents[node]
    return paths


def problem(seed=0, n=24, d=12, sharing="H2", classes=CLASSES, parents=parents, dtype=np.float64):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, d)) * (random.random((n, d)) < 0.4)
    x[:, 0] += 0.5
    true = [random.choice(len(classes), 1 + (i % 5 == 0), replace=False) for i in range(n)]
    sizes = np.array([len(each) for each in true])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shares = np.repeat(1 / sizes, sizes).astype(dtype)
    weights = random.choice([0.5, 1.0, 2.0], n)
    targets = Targets(starts, np.concatenate(true).astype(np.int32), shares, weights)
    return Problem(tree_of(classes, parents, sharing), x, targets, dtype)


def dense_kernel(problem, logs, bias=0.0):
    """Return K over (row, class) pairs, row by row."""
    paths = path_matrix(problem.tree)
    variances = problem.tree.counts @ np.exp(logs)
    gram = problem.x @ problem.x.T
    covariance = (paths * variances) @ paths.T
    return np.kron(gram, covariance) + bias * np.kron(np.ones_like(gram), paths @ paths.T)
