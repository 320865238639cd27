from libc.stdint cimport uint8_t, int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from manyclass.core.calibration cimport (
    Calibration, NativeCalibration, Ranked, RankingBefore, TopTwoScores,
)
from manyclass.core.columns cimport CsrRows, NativeColumns
from manyclass.core.evidence cimport NativeEvidence
from manyclass.core.instance cimport Instance
from manyclass.core.locking cimport raise_error
from manyclass.core.progressive_validation cimport RankCounts
from manyclass.core.taxonomy cimport Taxonomy


cdef extern from "core/native/pipeline/state_lock.hpp" namespace "manyclass" nogil:
    cdef cppclass StateLock:
        void hold(uint32_t milliseconds) except +raise_error
        void let_go()
        bint is_held()


cdef extern from "core/native/row_outcomes.hpp" namespace "manyclass" nogil:
    cdef struct RowOutcomes:
        int32_t* ranks
        TopTwoScores* top_two
        NativeCalibration* calibration
        const uint8_t* counts

cdef extern from "core/native/learner.hpp" namespace "manyclass" nogil:
    cdef cppclass OptionValues:
        OptionValues()
        void set_flag(string name, cpp_bool value) except +
        void set_count(string name, uint64_t value) except +
        void set_number(string name, double value) except +
        void set_word(string name, string value) except +
        void add_part(const OptionValues& options) except +

    cdef cppclass RankedBlock:
        vector[Ranked] ranked
        vector[uint32_t] counts
        string names
        void clear()

    cdef cppclass Seconds "std::chrono::duration<double>":
        Seconds(double count)

    cdef cppclass Outcome:
        uint32_t rank
        cpp_bool updated
        TopTwoScores top_two

    cdef cppclass PathNode:
        uint64_t classes
        double probability
        double bias
        vector[pair[string, double]] moved
        string name
        double score

    cdef cppclass Section:
        string name
        string type
        uint64_t size
        void* data

    const char* OTHER_LEARNER

    cdef cppclass Sizes "manyclass::Inspection::Sizes":
        uint64_t features
        uint64_t classes
        uint64_t edges
        uint64_t learned
        uint64_t evicted_features
        uint64_t evicted_classes
        uint64_t bytes

    cdef cppclass Work "manyclass::Inspection::Work":
        uint64_t active_features_ranked
        uint64_t edges_touched
        uint64_t names_visited
        uint64_t ids_looked_at
        uint64_t rows_swept
        uint64_t nodes_opened
        uint64_t nodes_visited

    cdef cppclass Feature "manyclass::Inspection::Feature":
        uint32_t times_seen
        double mass
        double rating
        vector[pair[string, double]] weights

    cdef cppclass Inspection:
        Sizes sizes() except +raise_error
        uint64_t resident_bytes() except +raise_error
        Work work() except +raise_error
        void outdegrees(int64_t* counts) except +raise_error
        bint has_class(string_view name) except +raise_error
        bint has_feature(string_view name) except +raise_error
        double neighbor_weight() except +raise_error
        bint feature(string_view name, Feature& feature) except +raise_error
        bint cls(string_view name, size_t limit, uint64_t& learned,
                 vector[pair[string, double]]& weights) except +raise_error
        void class_page(string_view prefix, string_view after, size_t limit,
                        vector[pair[string, uint64_t]]& page) except +raise_error
        void classes_by(bint is_newest_first, string_view prefix, string_view after, size_t limit,
                        vector[pair[string, uint64_t]]& page) except +raise_error
        void feature_page(string_view prefix, string_view after, size_t limit,
                          vector[pair[string, uint64_t]]& page) except +raise_error
        void class_ids(NativeColumns& columns, int32_t* ids) except +raise_error

    cdef cppclass MemberView:
        shared_ptr[NativeLearner] learner
        shared_ptr[RankCounts] progress
        uint64_t waiting
        uint64_t waiting_bytes

    cdef cppclass NativeLearner "manyclass::Learner":
        void configure(const OptionValues& options) except +raise_error
        void rank(string_view instance, uint32_t k, double threshold, vector[Ranked]& best,
                  string& names) except +raise_error
        void rank_among(string_view instance, const vector[string_view]& among, uint32_t k,
                        double threshold, vector[Ranked]& best, string& names) except +raise_error
        void rank_block(const vector[string_view]& instances, size_t begin, uint32_t k,
                        Seconds time, RankedBlock& block) except +raise_error
        void rank_csr(const CsrRows& rows, uint32_t k, int32_t* ids,
                      double* scores) except +raise_error
        void explain(string_view instance, const vector[string_view]& classes, size_t limit,
                     vector[vector[pair[string, double]]]& explained) except +raise_error
        void paths(string_view instance, const vector[string_view]& classes, size_t limit,
                   vector[vector[PathNode]]& paths) except +raise_error
        void probabilities(string_view instance, const vector[string_view]& classes,
                           vector[double]& found) except +raise_error
        Outcome learn(string_view instance, const vector[string_view]& classes,
                      const vector[string_view]& rejected, double weight,
                      bint is_first_epoch, RankingBefore* before) except +raise_error
        void learn_csr(const CsrRows& rows, const CsrRows& classes, const float* weights,
                       bint is_first_epoch, const RowOutcomes& outcomes) except +raise_error
        bint build_csr(const CsrRows& rows, const CsrRows& classes) except +raise_error
        void find_nodes(const vector[string_view]& names,
                        bint is_before_learning) except +raise_error
        void find_all_nodes() except +raise_error
        bint forget_class(string_view name) except +raise_error
        bint rename_class(string_view name, string_view to) except +raise_error
        bint forget_feature(string_view name) except +raise_error
        size_t drop_example(string_view instance,
                            const vector[string_view]& classes) except +raise_error
        bint can_sparsify()
        uint64_t sparsify(uint64_t wanted) except +raise_error
        const Inspection& inspection()
        vector[MemberView] members() except +raise_error
        StateLock& lock()
        vector[Section] measure(uint64_t& changes) except +raise_error
        bint dump(const vector[Section]& sections, uint64_t changes) except +raise_error
        void load(const vector[Section]& sections) except +raise_error


cdef extern from "core/native/beside/mixed_learner.hpp" namespace "manyclass" nogil:
    cdef cppclass ScoreParts:
        double words
        double names
        double vectors

    cdef cppclass Mixture:
        bint is_new()
        void dump(double* numbers)
        void load(const double* numbers) except +raise_error

    cdef cppclass MixedLearner(NativeLearner):
        cpp_bool explain_parts(string_view instance, const vector[string_view]& classes,
                               size_t limit, vector[ScoreParts]& parts,
                               vector[vector[pair[string, double]]]& descriptions) \
            except +raise_error
        Mixture& mixture()
        ScoreParts weights() except +raise_error
        uint64_t ranked_classes() except +raise_error
        void unlearned_page(string_view prefix, string_view after, size_t limit,
                            vector[pair[string, uint64_t]]& page) except +raise_error


cdef class Learner:
    cdef shared_ptr[NativeLearner] _native
    cdef shared_ptr[MixedLearner] _mixed  # the same, of a model
    cdef readonly object options
    cdef readonly Taxonomy taxonomy

    cdef rank_block(self, const vector[string_view]& instances, size_t begin, uint32_t k,
                    double seconds, RankedBlock& block)

    cdef learn_unique(self, Instance instance, list classes, list rejected, double weight,
                      bint is_first_epoch, Calibration calibration=*, str source=*)

    @staticmethod
    cdef vector[string_view] names_of(list classes) except *

    @staticmethod
    cdef list list_of_names(object among)

    @staticmethod
    cdef list with_names(const vector[Ranked]& best, const string& names)
