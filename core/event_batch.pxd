from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.event_parts cimport EventOrigin
from manyclass.core.learner cimport Seconds
from manyclass.core.locking cimport raise_error
from manyclass.core.published_learner cimport NativePublishedLearner


cdef extern from "core/native/event_batch.hpp" namespace "manyclass" nogil:
    const size_t FULL_BATCH_BYTES

    cdef cppclass BatchedEvent:
        uint32_t rank
        cpp_bool is_updated
        double seconds

    cdef cppclass NativeEventBatch "manyclass::EventBatch":
        NativeEventBatch()
        void add[Names](string_view instance, const Names& classes,
                        const EventOrigin& origin) except +
        size_t count()
        size_t bytes()
        const BatchedEvent& operator[](size_t at)
        string_view payload(size_t at)
        string_view instance(size_t at)
        EventOrigin origin(size_t at)
        cpp_bool is_read_by(uint8_t parts)
        cpp_bool has_vectors_of(size_t dimension)
        void read_classes(size_t at, vector[string_view]& names) except +
        size_t learned()
        void note(uint32_t rank, cpp_bool is_updated)
        void learn(Seconds time, NativePublishedLearner& learner) except +raise_error


cdef class EventBatch:
    cdef NativeEventBatch _native
    cdef readonly uint64_t first_seq
