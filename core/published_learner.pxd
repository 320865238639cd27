from libc.stdint cimport uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr

from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.calibration cimport NativeCalibration
from manyclass.core.evidence cimport EvidenceLimits, NativeEvidence
from manyclass.core.learner cimport Learner, NativeLearner, Outcome
from manyclass.core.locking cimport raise_error
from manyclass.core.progressive_validation cimport RankCounts


cdef extern from "core/native/published_learner.hpp" namespace "manyclass" nogil:
    cdef cppclass RankingAsked:
        cpp_bool probabilities

    double asked_limit(const NativeCalibration& calibration, const RankingAsked& asked)

    cdef cppclass NativePublishedLearner "manyclass::PublishedLearner":
        NativePublishedLearner() except +
        void use(NativeLearner* learner, NativeCalibration* calibration, RankCounts* ranks,
                 NativeEvidence* evidence)
        void limit(const EvidenceLimits& limits)
        uint64_t seq()
        void set_seq(uint64_t seq)
        Outcome learn(string_view instance, const vector[string_view]& true_classes,
                      const vector[string_view]& rejected, double weight,
                      string_view source) except +raise_error


cdef extern from "core/native/pipeline/memory_reserve.hpp" namespace "manyclass" nogil:
    cdef cppclass Reserve:
        @staticmethod
        bint try_refill()


cdef class PublishedLearner:
    cdef unique_ptr[NativePublishedLearner] _native
    cdef Learner _learner
    cdef object _kept_alive
    cdef str _label
