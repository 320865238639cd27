"""Rows that any learner can learn, for peers with their real packages."""

import numpy as np
import pytest

from manyclass.training.rows import Rows

CLASSES = 12


def labelled(count, seed, several):
    """Yield noisy instances: each class has three own features, an instance shows two of them."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        true = draw.choice(CLASSES, 2 if several else 1, replace=False)
        signs = {f"sign {each} {at}": 2.0 for each in true for at in draw.permutation(3)[:2]}
        noise = {f"noise {at}": 1.0 for at in draw.permutation(20)[:3]}
        yield signs | noise, [f"class {each}" for each in true]


def split_rows(several):
    rows = Rows.of([*labelled(600, 0, several), *labelled(200, 1, several)])
    return rows.take(np.arange(600)), rows.take(np.arange(600, 800))


@pytest.fixture(scope="session")
def single():
    """Return (training, test) rows with one class each."""
    return split_rows(several=False)


@pytest.fixture(scope="session")
def several():
    """Return (training, test) rows with two classes each."""
    return split_rows(several=True)
