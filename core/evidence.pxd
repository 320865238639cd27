from libc.stdint cimport uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport shared_ptr
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.event cimport Event
from manyclass.core.locking cimport raise_error
from manyclass.core.taxonomy cimport Section


cdef extern from "core/native/beside/evidence.hpp" namespace "manyclass" nogil:
    cdef cppclass EvidenceLimits:
        uint64_t classes
        uint64_t bytes

    cdef cppclass EvidenceSizes "manyclass::Evidence::Sizes":
        uint64_t described
        uint64_t classes
        uint64_t events
        uint64_t dimension
        uint64_t bytes

    cdef cppclass NativeEvidence "manyclass::Evidence":
        NativeEvidence(uint64_t hash_seed) except +raise_error
        cpp_bool concerns_any() except +raise_error
        size_t dimension()
        void describe(string_view cls, string_view instance, uint64_t since) except +raise_error
        void learn(string_view instance, const vector[string_view]& classes, double weight,
                   uint64_t seq, uint64_t of, const EvidenceLimits& limits) except +raise_error
        void take_back(string_view instance, const vector[string_view]& classes, double weight,
                       uint64_t of) except +raise_error
        void expire()
        void forget(string_view cls) except +raise_error
        void rename(string_view cls, string_view to) except +raise_error
        EvidenceSizes sizes() except +raise_error
        uint64_t bytes_of_descriptions() except +raise_error
        double events_of(string_view cls) except +raise_error
        cpp_bool has(string_view cls) except +raise_error
        size_t resident_bytes() except +raise_error
        vector[Section] measure() except +raise_error
        void dump(const vector[Section]& sections) except +raise_error
        void load(const vector[Section]& sections) except +raise_error


cdef class Evidence:
    cdef shared_ptr[NativeEvidence] _native
    cdef EvidenceLimits _limits

    cdef add(self, Event event, uint64_t seq, uint64_t of)
