from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.columns cimport CsrRows
from manyclass.core.index cimport Engine, Index, Outcome, Ranked, RankedBlock, Seconds
from manyclass.core.locking cimport raise_error


cdef extern from "core/native/ensemble/ensemble.hpp" namespace "manyclass" nogil:
    cdef enum class Vote:
        majority
        rarest
        score
        probability

    cdef cppclass RowsOfParts:
        RowsOfParts(const CsrRows& rows, size_t parts) except +

    cdef cppclass LabelledRows:
        LabelledRows(const CsrRows& rows, const CsrRows& classes, size_t parts) except +

    cdef cppclass NativeEnsemble "manyclass::Ensemble":
        NativeEnsemble(Engine* table, vector[Engine*] members) except +
        size_t members()
        void rank(string_view instance, Vote vote, uint32_t k, double threshold,
                  vector[Ranked]& best, string& names) except +raise_error
        void rank_among(string_view instance, const vector[string_view]& among, Vote vote,
                        uint32_t k, double threshold, vector[Ranked]& best,
                        string& names) except +raise_error
        void rank_block(const vector[string_view]& instances, size_t begin, Vote vote,
                        uint32_t k, Seconds time, RankedBlock& block) except +raise_error
        void rank_csr(const RowsOfParts& rows, Vote vote, uint32_t k, int32_t* ids,
                      double* scores) except +raise_error
        void spans(string_view instance, vector[double]& spans) except +raise_error
        Outcome learn(string_view instance, const vector[string_view]& true_classes,
                      const vector[string_view]& rejected, float weight, bint is_first_epoch,
                      Vote vote, uint32_t deepest, const uint8_t* takes,
                      int32_t* places) except +raise_error
        Outcome learn_csr(const LabelledRows& given, int64_t row, float weight,
                          bint is_first_epoch, Vote vote, uint32_t deepest, const uint8_t* takes,
                          int32_t* places) except +raise_error


cdef class Ensemble:
    cdef unique_ptr[NativeEnsemble] _native
    cdef Index _table
    cdef tuple _members

    cdef rank_block(self, const vector[string_view]& instances, size_t begin, str vote, uint32_t k,
                    double seconds, RankedBlock& block)

    @staticmethod
    cdef Vote vote_of(str name) except *
