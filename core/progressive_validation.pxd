from libc.stdint cimport uint32_t, uint64_t


cdef extern from "core/native/rank_counts.hpp" namespace "manyclass" nogil:
    const size_t KEPT "manyclass::RankCounts::KEPT"
    const size_t DEPTHS "manyclass::RankCounts::DEPTHS"
    const uint32_t* DEPTH "manyclass::RankCounts::HITS_AT.data()"

    cdef cppclass RankCounts:
        uint32_t* ranks "ranks.data()"
        uint64_t examples
        uint64_t* hits "hits.data()"
        double reciprocal_ranks
        void add(uint32_t rank)


cdef class ProgressiveValidation:
    cdef RankCounts _counts
    cdef readonly object taxonomic_loss, parent_accuracy

    cdef object _ranks(self)
