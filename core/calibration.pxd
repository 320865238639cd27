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
    const size_t LOWER_NUMBERS "manyclass::LowerPlaces::NUMBERS"
    const size_t PLACES "manyclass::Calibration::PLACES"
    const size_t NEWEST "manyclass::NEWEST_OUTCOMES"
    const size_t MOST "manyclass::KeptOutcomes::MOST"

    cdef cppclass Ranked:
        double score
        uint32_t cls

    cdef cppclass TopTwoScores:
        double first
        double second

    TopTwoScores top_two_of(const Ranked* best, size_t count)

    cdef cppclass RankingBefore:
        uint32_t depth
        vector[Ranked] best
        vector[uint8_t] are_true
        string first

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

    cdef cppclass PlaceArrays "manyclass::KeptPlaces::Arrays":
        uint16_t* limits
        uint16_t* are_true
        uint16_t* true_classes

    cdef cppclass NativePlaces "manyclass::KeptPlaces":
        size_t size()
        size_t resident_bytes()

    cdef cppclass NativeProbabilityPoint "manyclass::ProbabilityPoint":
        double limit
        uint64_t classes
        uint64_t right
        uint64_t rankings

    cdef cppclass NativeProbabilityCurve "manyclass::ProbabilityCurve":
        uint64_t rankings
        uint64_t true_classes
        vector[NativeProbabilityPoint] points

    cdef cppclass CalibrationArrays "manyclass::Calibration::Arrays":
        double* numbers
        double* lower
        KeptArrays kept
        PlaceArrays places

    cdef cppclass CalibrationCounts "manyclass::Calibration::Counts":
        uint64_t outcomes
        uint64_t added
        uint64_t places

    cdef cppclass NativeCalibration "manyclass::Calibration":
        NativeCalibration(uint64_t hash_seed)
        uint64_t outcomes()
        uint32_t depth()
        const NativeKept& kept()
        const NativePlaces& places()
        double confidence(const TopTwoScores& top_two)
        double limit_for(double accuracy)
        void probabilities(const Ranked* best, size_t count, vector[double]& found) except +
        double probability_limit_for(double precision)
        void add(const TopTwoScores& top_two, const RankingBefore& before, size_t true_classes,
                 string_view source) except +
        void add(const TopTwoScores& top_two, cpp_bool is_right, string_view cls,
                 string_view source) except +
        void settle(const TopTwoScores* top_two, const uint8_t* rights, size_t count) except +
        void forget_class(string_view name) except +
        NativeBins reliability()
        double brier()
        NativeProbabilityCurve probability_curve() except +
        CalibrationCounts counts()
        void dump(const CalibrationArrays& arrays)
        void load(const CalibrationCounts& counts, const KeptSizes& sizes, size_t places,
                  const CalibrationArrays& arrays) except +


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


cdef extern from "core/native/mean_confidences.hpp" namespace "manyclass" nogil:
    vector[double] read_mean_confidences "manyclass::mean_confidences"(
        const NativeCalibration& calibration, const vector[size_t]& sizes
    ) except +raise_error


cdef class Calibration:
    cdef unique_ptr[NativeCalibration] _native
