from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "core/native/pipeline/columns.hpp" namespace "manyclass" nogil:
    cdef cppclass NativeColumns "manyclass::Columns":
        NativeColumns(string bytes, vector[uint64_t] ends) except +
        size_t size()
        string_view name(size_t column)

    cdef struct CsrRows:
        NativeColumns* columns
        const int64_t* indptr
        const int32_t* indices
        const float* values
        int64_t count


cdef class Columns:
    cdef unique_ptr[NativeColumns] _native

    cdef CsrRows rows(self, const int64_t[::1] indptr, const int32_t[::1] indices,
                      const float[::1] values) except *
    cdef CsrRows true_classes(self, CsrRows rows, const int64_t[::1] indptr,
                              const int32_t[::1] indices) except *
