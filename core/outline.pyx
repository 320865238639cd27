"""The Python interface of the outline of a large JSON body, native/text/outline.hpp."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython


cdef extern from "core/native/text/outline.hpp" namespace "manyclass" nogil:
    cdef enum class Fault "manyclass::Outline::Fault":
        none
        malformed
        repeated
        elements
        values

    cdef cppclass Span "manyclass::Outline::Span":
        size_t begin
        size_t end

    cdef cppclass NativeOutline "manyclass::Outline":
        NativeOutline() except +
        Fault read(string_view body, string_view name, size_t most_elements,
                   size_t most_values) except +
        size_t count_members(string_view json, size_t most)
        bint has_list()
        const vector[Span]& elements()
        Span list()
        bint in_list()
        size_t at()
        string_view key()

cdef dict FAULTS = {
    <int>Fault.none: None,
    <int>Fault.malformed: "malformed",
    <int>Fault.repeated: "repeated",
    <int>Fault.elements: "elements",
    <int>Fault.values: "values",
}


@cython.final
cdef class Outline:
    """The elements of a list in a JSON body, found but not parsed. Immutable."""

    cdef readonly object fault
    cdef readonly list elements
    cdef readonly object rest
    cdef readonly object position
    cdef readonly bytes key
    cdef readonly Py_ssize_t bytes_read

    def __init__(self, bytes body not None, bytes name not None, size_t most_elements,
                 size_t most_values):
        cdef NativeOutline native
        cdef Fault fault
        cdef string_view text = string_view(PyBytes_AS_STRING(body), PyBytes_GET_SIZE(body))
        cdef string_view wanted = string_view(PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name))
        with nogil:
            fault = native.read(text, wanted, most_elements, most_values)
        self.fault = FAULTS[<int>fault]
        self.bytes_read = native.at()
        self.key = native.key().data()[:native.key().size()]
        self.position = native.elements().size() if native.in_list() else None
        self.elements = None
        self.rest = body
        if fault != Fault.none or not native.has_list():
            return
        whole = memoryview(body)
        self.elements = [
            whole[native.elements()[i].begin:native.elements()[i].end]
            for i in range(native.elements().size())
        ]
        self.rest = b"".join((whole[:native.list().begin], b"[]", whole[native.list().end:]))


def count_members(data, size_t most):
    cdef NativeOutline native
    cdef Py_buffer view
    cdef size_t members
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        with nogil:
            members = native.count_members(string_view(<const char*>view.buf, view.len), most)
    finally:
        PyBuffer_Release(&view)
    return members
