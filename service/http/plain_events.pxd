from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.event cimport Event
from manyclass.core.event_batch cimport EventBatch
from manyclass.core.event_parts cimport EventOrigin
from manyclass.core.text cimport TextParts
from manyclass.service.http.gate cimport Gate
from manyclass.service.http.plain_rankings cimport PlainRequest


cdef extern from "service/http/native/plain_learner.hpp" namespace "manyclass::http" nogil:
    cdef cppclass PlainEvent:
        string instance
        vector[string] classes
        string id
        string source
        string reviewer
        string batch
        string text
        double weight
        cpp_bool keeps_text
        cpp_bool is_alone()
        EventOrigin origin()

    cdef cppclass PlainLearner:
        PlainLearner(size_t most_bytes, size_t most_features, size_t most_pairs,
                     cpp_bool keeps_texts, Gate gate) except +
        void use(const TextParts& parts)
        cpp_bool read_head(string_view data, PlainRequest& request)
        cpp_bool read(const PlainRequest& request, PlainEvent& event) except +


cdef extern from "service/http/native/learn_answer.hpp" namespace "manyclass::http" nogil:
    cdef cppclass LearnAnswer:
        void* connection
        uint64_t seq
        uint32_t rank
        cpp_bool is_updated
        cpp_bool is_duplicate
        string refusal
        string body() except +
        string whole(string_view first, string_view last) except +


cdef class PlainEvents:
    cdef unique_ptr[PlainLearner] _learner
    cdef PlainRequest _request
    cdef PlainEvent _event

    cdef bint _reads_head(self, bytes data)

    @staticmethod
    cdef Event made_of(const PlainEvent& read)

    @staticmethod
    cdef int add_to(EventBatch batch, const PlainEvent& read) except -1


cdef LearnAnswer answer_of(result)
cdef LearnAnswer answer_in(EventBatch batch, size_t place)
