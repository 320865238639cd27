from libcpp.string_view cimport string_view


cdef class Instance:
    cdef bytes _data
    cdef Py_ssize_t _count

    @staticmethod
    cdef string_view utf8(str name, str what, object place) except *

    @staticmethod
    cdef Instance wrap(bytes data, Py_ssize_t count)


cdef class Event:
    cdef bytes _data
    cdef readonly str kind
    cdef readonly str event_id
    cdef readonly unsigned long long fingerprint
    cdef readonly list classes
    cdef readonly str name
    cdef readonly dict options
    cdef readonly unsigned long long restored
    cdef readonly unsigned int rules
    cdef readonly bint joined
    cdef Instance _instance
