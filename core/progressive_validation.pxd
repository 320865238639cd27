from libc.stdint cimport uint32_t, uint64_t
from libcpp.memory cimport shared_ptr


cdef extern from "core/native/rank_counts.hpp" namespace "manyclass" nogil:
    const size_t KEPT "manyclass::RankCounts::KEPT"
    const size_t DEPTHS "manyclass::RankCounts::DEPTHS"
    const uint32_t* DEPTH "manyclass::RankCounts::HITS_AT.data()"

    cdef cppclass RankCounts:
        RankCounts()
        uint32_t* ranks "ranks.data()"
        uint64_t examples
        uint64_t* hits "hits.data()"
        double reciprocal_ranks
        void add(uint32_t rank)


cdef class ProgressiveValidation:
    cdef shared_ptr[RankCounts] _counts  # of a member shared with its committee
    cdef readonly object taxonomic_loss, parent_accuracy

    cdef object _ranks(self)
