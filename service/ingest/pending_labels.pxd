from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "service/ingest/native/served_ranking.hpp" namespace "manyclass" nogil:
    cdef cppclass ServedRanking:
        string_view names
        double confidence
        cpp_bool abstained

    const size_t READING_BYTES "manyclass::TextReading::BYTES"

    cdef cppclass InstanceNote:
        string_view source
        string_view reading
        string_view text

cdef extern from "service/ingest/native/pending_instances.hpp" namespace "manyclass" nogil:
    const uint32_t MOST_CLASSES "manyclass::ServedRanking::MOST_CLASSES"

    cdef enum class Found "manyclass::PendingInstances::Found":
        stored
        never_seen
        too_late

    cdef cppclass Stored "manyclass::PendingInstances::Stored":
        string instance
        string names
        double ranked_at
        double confidence
        uint64_t number
        string source
        string text
        cpp_bool abstained
        cpp_bool is_text_cut

    cdef cppclass PendingInstances:
        PendingInstances(double seconds, size_t most_bytes, cpp_bool keeps_texts,
                         size_t most_forgotten, size_t aged_at_once, string prefix,
                         uint64_t seed) except +
        void keep(double now, string_view instance, const ServedRanking& served,
                  InstanceNote note, string_view given, string& id) except +
        Found find(double now, string_view id, Stored& stored) except +
        cpp_bool label(uint64_t number, Stored& stored) except +
        vector[uint64_t] least_certain(double now, size_t most, string_view source,
                                       uint64_t after) except +
        size_t erase_source(string_view source)
        cpp_bool erase(string_view id) except +
        uint64_t newest()
        cpp_bool read(double now, uint64_t number, Stored& stored, string& id) except +
        size_t count()
        size_t bytes()


cdef class PendingLabels:
    cdef unique_ptr[PendingInstances] _native
    cdef object _clock

    @staticmethod
    cdef InstanceNote note_of(str source, bytes stored) except *
