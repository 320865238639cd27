from libc.stdint cimport uint8_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr


cdef extern from "core/native/calibration.hpp" namespace "manyclass" nogil:
    const size_t BINS "manyclass::RELIABILITY_BINS"
    const size_t NUMBERS "manyclass::Calibration::NUMBERS"

    cdef cppclass TopTwoScores:
        double first
        double second

    cdef cppclass NativeBin "manyclass::Reliability":
        uint64_t count
        double confidence
        double right

    cdef cppclass NativeBins "std::array<manyclass::Reliability, manyclass::RELIABILITY_BINS>":
        NativeBin& operator[](size_t position)

    cdef cppclass NativeCalibration "manyclass::Calibration":
        uint64_t outcomes()
        uint64_t kept()
        double confidence(const TopTwoScores& top_two)
        void add(const TopTwoScores& top_two, cpp_bool is_right) except +
        void settle(const TopTwoScores* top_two, const uint8_t* rights, size_t count) except +
        NativeBins reliability()
        double brier()
        void dump(double* numbers, float* confidences, uint8_t* rights)
        void load(uint64_t outcomes, const double* numbers, size_t kept, const float* confidences,
                  const uint8_t* rights) except +


cdef class Calibration:
    cdef unique_ptr[NativeCalibration] _native
