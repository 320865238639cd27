"""Instances and their classes as CSR arrays."""

import numpy as np


def rows_of(names, lists):
    """Return (indptr, indices) of lists of names, each the name of a column."""
    indptr = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    column_of = {name: column for column, name in enumerate(names)}
    return indptr, np.array([column_of[name] for each in lists for name in each], np.int32)


def instances_of(names, instances):
    """Return (indptr, indices, values) of instances, each a dict name -> value."""
    values = [value for instance in instances for value in instance.values()]
    return *rows_of(names, instances), np.array(values, np.float32)
