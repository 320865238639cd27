"""Labelled rows of CSR arrays: blocks of rows, and their instances and classes by name."""

from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.instance import Instance

# The arguments of `Learner.learn_csr`: columns and CSR arrays of the instances (indptr, indices,
# values), then columns and CSR arrays of their true classes (indptr, indices).
Labelled = tuple[
    Columns,
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    Columns,
    NDArray[np.int64],
    NDArray[np.int32],
]


def block_of(rows: Labelled, begin: int, end: int) -> Labelled:
    """Return the rows from `begin` up to, but without, `end`."""
    features, indptr, indices, values, classes, class_indptr, class_indices = rows
    part = slice(indptr[begin], indptr[end])
    class_part = slice(class_indptr[begin], class_indptr[end])
    return (
        features,
        indptr[begin : end + 1] - indptr[begin],
        indices[part],
        values[part],
        classes,
        class_indptr[begin : end + 1] - class_indptr[begin],
        class_indices[class_part],
    )


def instances_of(
    columns: Columns,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
) -> list[Instance]:
    """Return the rows as instances; the arrays must have been checked by a learner."""
    left = iter(values.tolist())
    instances = []
    for names in names_of(columns, indptr, indices):
        active = zip(names, islice(left, len(names)), strict=True)
        instances.append(Instance(dict(active)))
    return instances


def names_of(
    columns: Columns, indptr: NDArray[np.int64], indices: NDArray[np.int32]
) -> list[list[str]]:
    """Return the names of the columns of each row."""
    name_of = {column: columns[column] for column in np.unique(indices).tolist()}
    names = [name_of[column] for column in indices.tolist()]
    return [names[begin:end] for begin, end in pairwise(indptr.tolist())]
