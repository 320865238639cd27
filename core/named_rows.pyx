"""Rows of named values as CSR arrays: each new name becomes the next column."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from libcpp.string_view cimport string_view

cimport cython

from manyclass.core.instance cimport Instance, bytes_of, text_of

import numpy as np


cdef extern from "core/native/storage/named_rows.hpp" namespace "manyclass" nogil:
    cdef cppclass NativeRows "manyclass::NamedRows":
        NativeRows() except +
        void add(string_view name, double value) except +
        void end_row() except +
        void add_instance(string_view instance) except +
        size_t name_count()
        string_view name(size_t id)
        size_t row_count()
        size_t size()
        const int64_t* indptr()
        const int32_t* indices()
        const float* values()


@cython.final
cdef class NamedRows:
    """Rows that are added one by one. Threads: one at a time."""

    cdef NativeRows _native

    def append(self, row):
        cdef double value
        if type(row) is Instance:
            self._native.add_instance(bytes_of(<Instance>row))
            return
        pairs = row.items() if hasattr(row, "items") else None
        if pairs is None:
            for name in row:
                self._native.add(Instance.utf8(<str?>name, "column", (name,)), 1.0)
        else:
            for name, given in pairs:
                value = given
                self._native.add(Instance.utf8(<str?>name, "column", (name,)), value)
        self._native.end_row()

    def __len__(self):
        return self._native.row_count()

    def names(self):
        return [text_of(self._native.name(at)) for at in range(self._native.name_count())]

    def arrays(self):
        cdef int64_t[::1] indptr = np.empty(self._native.row_count() + 1, np.int64)
        cdef size_t size = self._native.size()
        cdef int32_t[::1] indices = np.empty(size, np.int32)
        cdef float[::1] values = np.empty(size, np.float32)
        memcpy(&indptr[0], self._native.indptr(), (self._native.row_count() + 1) * sizeof(int64_t))
        if size:
            memcpy(&indices[0], self._native.indices(), size * sizeof(int32_t))
            memcpy(&values[0], self._native.values(), size * sizeof(float))
        return indptr.base, indices.base, values.base
