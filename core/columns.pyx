"""Named columns of CSR arrays, and checked views of the arrays for the engine."""

from cython.operator cimport dereference as deref
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.instance cimport Instance, text_of

import numpy as np

from manyclass.core.errors import InstanceError


cdef extern from "core/native/pipeline/wire.hpp" namespace "manyclass" nogil:
    const double MOST "manyclass::LARGEST_VALUE"


@cython.final
cdef class Columns:
    """The names of the columns of CSR arrays, and their ids in a learner, looked up once.

    Threads: several may rank with the same columns at once. The ids are those of one learner at a
    time: use with another learner looks them up again.
    """

    def __cinit__(self, names):
        cdef string joined
        cdef vector[uint64_t] ends
        cdef string_view encoded
        cdef set unique = set()
        for column, name in enumerate(names):
            encoded = Instance.utf8(<str?>name, "column", (column,))
            if name in unique:
                raise InstanceError(f"two columns are named {name!r}", (column,))
            unique.add(name)
            joined.append(encoded.data(), encoded.size())
            ends.push_back(joined.size())
        self._native.reset(new NativeColumns(joined, ends))

    def __len__(self):
        return deref(self._native).size()

    def __getitem__(self, size_t column):
        if column >= deref(self._native).size():
            raise IndexError(f"there is no column {column}")
        return text_of(deref(self._native).name(column))

    cdef CsrRows rows(self, const int64_t[::1] indptr, const int32_t[::1] indices,
                      const float[::1] values) except *:
        """Return a view of CSR arrays; `values` may be None.

        Raise ValueError unless the columns of each row are unique and the values finite.
        """
        cdef Py_ssize_t row, count = indptr.shape[0] - 1, columns = len(self)
        cdef int64_t at
        cdef int32_t column
        cdef int32_t[::1] last_row
        cdef const char* fault = NULL
        cdef bint has_values = values is not None
        cdef CsrRows rows
        if count < 0 or indptr[0] != 0 or indptr[count] != indices.shape[0]:
            raise ValueError("indptr must run from 0 to the number of indices")
        if has_values and values.shape[0] != indices.shape[0]:
            raise ValueError("values and indices must have the same length")
        last_row = np.full(columns, -1, np.int32)
        with nogil:
            for row in range(count):
                if indptr[row] > indptr[row + 1] or indptr[row + 1] > indices.shape[0]:
                    fault = "indptr must not decrease"
                    break
                for at in range(indptr[row], indptr[row + 1]):
                    column = indices[at]
                    if column < 0 or column >= columns:
                        fault = "indices must be numbers of columns"
                    elif last_row[column] == row:
                        fault = "a column is repeated in the row"
                    elif has_values and not (-MOST <= values[at] <= MOST):
                        fault = "a value is not a finite number of a size up to LARGEST_VALUE"
                    else:
                        last_row[column] = <int32_t>row
                        continue
                    break
                if fault != NULL:
                    break
        if fault != NULL:
            raise ValueError(f"row {row}: {fault.decode()}")
        rows.columns = self._native.get()
        rows.indptr = &indptr[0]
        rows.indices = &indices[0] if indices.shape[0] else NULL
        rows.values = &values[0] if has_values and indices.shape[0] else NULL
        rows.count = count
        return rows

    cdef CsrRows true_classes(self, CsrRows rows, const int64_t[::1] indptr,
                              const int32_t[::1] indices) except *:
        """Return a view of the true classes of rows; ValueError unless each row has one or more."""
        cdef CsrRows labels = self.rows(indptr, indices, None)
        cdef int64_t row
        if labels.count != rows.count:
            raise ValueError("there must be as many rows of classes as of features")
        if labels.columns == rows.columns:
            raise ValueError("features and classes need columns of their own, equal or not")
        for row in range(rows.count):
            if indptr[row] == indptr[row + 1]:
                raise ValueError(f"row {row} has no true class")
        return labels
