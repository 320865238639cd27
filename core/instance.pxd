from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint32_t
from libcpp.string_view cimport string_view


cdef extern from "core/native/pipeline/wire.hpp" namespace "manyclass" nogil:
    bint is_signed(string_view instance)
    bint has_vector(string_view instance)
    uint32_t feature_count(string_view instance)

cdef extern from "core/native/pipeline/vector.hpp" namespace "manyclass" nogil:
    cdef cppclass VectorView:
        size_t size()
        size_t bytes()
        bint empty()
        bint is_valid()
        const char* data()

    VectorView vector_of(string_view instance)


cdef class Instance:
    cdef bytes _data
    cdef Py_ssize_t _count

    @staticmethod
    cdef str as_name(object name, str what, object path)

    @staticmethod
    cdef string_view utf8(str name, str what, object path) except *

    @staticmethod
    cdef string_view any_utf8(str text) except *

    @staticmethod
    cdef Instance wrap(bytes data, Py_ssize_t count)


cdef inline string_view bytes_of(Instance instance) noexcept:
    """Return the bytes of an instance, valid as long as the instance lives."""
    return string_view(PyBytes_AS_STRING(instance._data), PyBytes_GET_SIZE(instance._data))


cdef inline str text_of(string_view utf8):
    """Return bytes in UTF-8 as text."""
    return PyUnicode_DecodeUTF8(utf8.data(), utf8.size(), NULL)


cdef inline Instance as_instance(object given):
    return <Instance>given if type(given) is Instance else Instance(given)
