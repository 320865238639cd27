from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view


cdef extern from "service/ingest/native/pending_instances.hpp" namespace "manyclass" nogil:
    cdef enum class Found "manyclass::PendingInstances::Found":
        stored
        never_seen
        too_late

    cdef cppclass PendingInstances:
        PendingInstances(double seconds, size_t most_bytes, size_t most_forgotten,
                         size_t aged_at_once, string prefix, uint64_t seed) except +
        void keep(double now, string_view instance, string_view given, string& id) except +
        Found find(double now, string_view id, string& instance, double& ranked_at) except +
        size_t count()
        size_t bytes()


cdef class PendingLabels:
    cdef unique_ptr[PendingInstances] _native
    cdef object _clock
