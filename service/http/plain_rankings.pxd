from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.locking cimport raise_error
from manyclass.core.published_learner cimport NativePublishedLearner
from manyclass.core.text cimport TextParts
from manyclass.service.http.gate cimport Gate
from manyclass.service.http.titles cimport NativeTitles
from manyclass.service.ingest.pending_labels cimport PendingInstances


cdef extern from "service/http/native/plain_ranker.hpp" namespace "manyclass::http" nogil:
    cdef cppclass PlainRequest:
        string_view body
        size_t length
        cpp_bool is_whole()

    cdef cppclass Histogram:
        size_t size()
        uint64_t count(size_t bound)
        double sum()

    cdef cppclass PlainCounts:
        Histogram ranking
        Histogram rank_request
        Histogram learn_request
        uint64_t abstained

    cdef cppclass RankTask:
        RankTask(const vector[double]& ranking_bounds,
                 const vector[double]& request_bounds) except +
        PlainRequest request
        PlainCounts counts

    cdef cppclass PlainRanker:
        PlainRanker(size_t most_bytes, size_t most_features, Gate gate, string last_headers,
                    PendingInstances& pending, const NativeTitles& titles) except +
        void use(const NativePublishedLearner* learner, const TextParts& parts)
        cpp_bool read_head(string_view data, PlainRequest& request)
        string_view answer(RankTask& task, string_view first, double now) except +raise_error


cdef class PlainRankings:
    cdef unique_ptr[PlainRanker] _ranker
    cdef unique_ptr[RankTask] _task
    cdef object _pending, _titles, _learner  # kept alive
    cdef object _clock, _stopping, _budget, _places
    cdef object _default_headers  # the server's headers that `_first` was made from
    cdef bytes _first
    cdef uint32_t _taken  # rankings counted as in progress in this turn of the loop

    @staticmethod
    cdef object counts_of(const PlainCounts& counts)

    cdef bint _has_room(self, size_t held) except *
    cdef bytes _first_lines(self, list default_headers)
    cdef _take_place(self)
