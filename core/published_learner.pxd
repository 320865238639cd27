from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr

from manyclass.core.calibration cimport Calibration, NativeCalibration
from manyclass.core.ensemble cimport Ensemble, NativeEnsemble, Vote
from manyclass.core.index cimport Engine


cdef extern from "core/native/published_learner.hpp" namespace "manyclass" nogil:
    cdef cppclass NativePublishedLearner "manyclass::PublishedLearner":
        NativePublishedLearner() except +
        void use(const Engine* engine, const NativeEnsemble* ensemble, Vote vote,
                 const NativeCalibration* calibration)
        uint64_t seq()
        void set_seq(uint64_t seq)


cdef class PublishedLearner:
    cdef unique_ptr[NativePublishedLearner] _native
    cdef object _ranker, _calibration  # kept alive

    cdef _use_ensemble(self, Ensemble ensemble, str vote, Calibration calibration)
