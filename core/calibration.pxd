from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from manyclass.core.locking cimport raise_error


cdef extern from "core/native/calibration.hpp" namespace "manyclass" nogil:
    const size_t BINS "manyclass::RELIABILITY_BINS"
    const size_t NUMBERS "manyclass::Calibration::NUMBERS"
    const size_t NEWEST "manyclass::NEWEST_OUTCOMES"
    const size_t MOST "manyclass::KeptOutcomes::MOST"

    cdef cppclass TopTwoScores:
        double first
        double second

    cdef cppclass NativeBin "manyclass::Reliability":
        uint64_t count
        double confidence
        double right

    cdef cppclass NativeBins "std::array<manyclass::Reliability, manyclass::RELIABILITY_BINS>":
        NativeBin& operator[](size_t position)

    cdef cppclass KeptSizes "manyclass::KeptOutcomes::Sizes":
        size_t outcomes
        size_t names
        size_t name_bytes

    cdef cppclass KeptArrays "manyclass::KeptOutcomes::Arrays":
        float* confidences
        uint8_t* rights
        uint32_t* classes
        uint32_t* sources
        uint16_t* name_sizes
        char* names

    cdef cppclass NativeKept "manyclass::KeptOutcomes":
        uint64_t added()
        size_t size()
        KeptSizes sizes()
        size_t resident_bytes()

    cdef cppclass NativeCalibration "manyclass::Calibration":
        NativeCalibration(uint64_t hash_seed)
        uint64_t outcomes()
        const NativeKept& kept()
        double confidence(const TopTwoScores& top_two)
        double limit_for(double accuracy)
        void add(const TopTwoScores& top_two, cpp_bool is_right, string_view cls,
                 string_view source) except +
        void settle(const TopTwoScores* top_two, const uint8_t* rights, size_t count) except +
        void forget_class(string_view name) except +
        NativeBins reliability()
        double brier()
        void dump(double* numbers, const KeptArrays& kept)
        void load(uint64_t outcomes, uint64_t added, const double* numbers, const KeptSizes& sizes,
                  const KeptArrays& kept) except +


cdef extern from "core/native/outcome_groups.hpp" namespace "manyclass" nogil:
    cdef enum GroupedBy "manyclass::GroupedBy":
        CLS "manyclass::GroupedBy::cls"
        SOURCE "manyclass::GroupedBy::source"

    cdef cppclass NativePoint "manyclass::OperatingPoint":
        double limit
        uint64_t answers
        uint64_t right

    cdef cppclass NativeCurve "manyclass::OutcomeCurve":
        uint64_t outcomes
        uint64_t right
        vector[NativePoint] points
        vector[uint32_t] groups

    cdef cppclass NativeGroup "manyclass::OutcomeGroup":
        uint64_t outcomes
        uint64_t right
        vector[NativePoint] reached
        NativePoint best

    cdef cppclass GroupPage:
        vector[NativeGroup] groups
        vector[string] names
        uint64_t total
        vector[uint64_t] reached

    cdef cppclass Interval90:
        double low
        double high

        @staticmethod
        Interval90 of(uint64_t right, uint64_t answers)

    NativeCurve read_curve(const NativeCalibration& calibration, size_t newest,
                           const vector[pair[string, string]]& aliases) except +raise_error
    GroupPage read_groups(const NativeCalibration& calibration, size_t newest,
                          const vector[pair[string, string]]& aliases, GroupedBy by,
                          const vector[double]& targets, size_t offset,
                          size_t limit) except +raise_error


cdef class Calibration:
    cdef unique_ptr[NativeCalibration] _native
