"""Parts of data sets that a study can afford."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.datasets import Dataset

MOST_TRAINING, MOST_TEST = 150_000, 10_000  # rows of an affordable part
TRAINING_TO_TEST = 5  # training rows for each test row, where the rows are limited
SEED = 20


def sampled(data: Dataset, rows: int | None) -> Dataset:
    """Return the data set with so many random rows; of a published split, of training rows."""
    if rows is None:
        return data
    if data.published is None:
        return as_stream(data, rows)
    return published_part(data, rows, max(rows // TRAINING_TO_TEST, 1))


def as_stream(data: Dataset, rows: int | None) -> Dataset:
    """Return the data set without its split, with so many random rows."""
    if rows is None or len(data.rows) <= rows:
        return replace(data, published=None)
    chosen = data.rows.shuffled(0).take(np.arange(rows))
    return replace(data, rows=chosen, published=None)


def affordable(data: Dataset, rows: int | None) -> Dataset:
    """Return 150,000 training and 10,000 test rows at most, unless `rows` says otherwise."""
    if rows is not None:
        return sampled(data, rows)
    return published_part(data, MOST_TRAINING, MOST_TEST)


def training_only(data: Dataset, rows: int | None) -> Dataset:
    """Return the affordable training rows; a random tenth of them is for testing."""
    part = affordable(data, rows)
    return Dataset(part.name, part.rows.take(np.arange(part.published or 0)), share=0.9)


def published_part(data: Dataset, training: int, test: int) -> Dataset:
    """Return so many random rows of each side of the published split; ValueError without one."""
    if data.published is None:
        raise ValueError(f"{data.name} has no published split")
    draw = np.random.default_rng(SEED)
    first = _some(draw, 0, data.published, training)
    second = _some(draw, data.published, len(data.rows), test)
    rows = data.rows.take(np.concatenate([first, second]))
    return replace(data, rows=rows, published=len(first))


def _some(draw: np.random.Generator, begin: int, end: int, most: int) -> NDArray[np.int64]:
    rows = np.arange(begin, end)
    return rows if len(rows) <= most else np.sort(draw.choice(rows, most, replace=False))
