from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from manyclass.core.event cimport Instance


cdef extern from "core/native/pipeline/wire.hpp" namespace "manyclass" nogil:
    const double MOST "manyclass::LARGEST_VALUE"

cdef extern from "core/native/pipeline/columns.hpp" namespace "manyclass" nogil:
    cdef cppclass NativeColumns "manyclass::Columns":
        NativeColumns(string bytes, vector[uint64_t] ends) except +
        size_t size()
        string_view name(size_t column)

cdef extern from "core/native/learners/options.hpp" namespace "manyclass" nogil:
    cdef enum class Kind "manyclass::Kind":
        feature_focus
        independent
        moving_average
        slack
        passive_aggressive
        perceptron
        confidence
        vector_machine
        frequency
        label_tree

    cdef enum class Shape "manyclass::Shape":
        complete
        random
        huffman
        kmeans

cdef extern from *:
    """
    #include "core/native/index.hpp"

    static bool is_half_changed() {
        try {
            throw;
        } catch (const manyclass::IndexHalfChanged&) {
            return true;
        } catch (...) {
            return false;
        }
    }
    static void throw_again() { throw; }
    """
    bint is_half_changed()
    void throw_again() except +

# Raise the Python error of the C++ exception that was caught.
cdef inline int raise_error() except -1:
    if is_half_changed():
        from manyclass.core.errors import IndexHalfChanged
        raise IndexHalfChanged
    throw_again()  # Cython translates the exceptions of the standard library
    return 0

cdef extern from "core/native/index.hpp" namespace "manyclass" nogil:
    cdef cppclass NativeOptions "manyclass::Options":
        Kind kind
        Shape tree
        double epsilon
        double alpha
        uint32_t arity
        uint32_t max_leaves
        uint32_t sample
        cpp_bool greedy
        double margin_threshold
        double min_weight
        double feature_memory
        double rate
        double aggressiveness
        double caution
        uint32_t max_outdegree
        uint32_t rating
        uint32_t retrieval_window
        uint32_t negatives
        uint32_t replay
        uint32_t replay_size
        uint32_t max_features
        uint32_t max_classes
        uint64_t max_bytes
        uint64_t seed
        cpp_bool leak
        cpp_bool boolean
        cpp_bool l2
        cpp_bool sublinear
        cpp_bool tfidf
        cpp_bool pairs

    cdef cppclass Ranked:
        double score
        uint32_t cls

    cdef cppclass TopTwoScores:
        double first
        double second

    cdef cppclass NativeLearned "manyclass::Learned":
        uint32_t rank
        cpp_bool updated
        TopTwoScores top_two

    cdef cppclass Row:
        double mass
        uint32_t times_seen
        uint16_t outdegree

    cdef cppclass State:
        uint64_t features
        uint64_t feature_name_bytes
        uint64_t free_features
        uint64_t edges
        uint64_t classes
        uint64_t class_name_bytes
        uint64_t free_classes
        uint64_t retired_classes
        uint64_t variances
        uint64_t kept
        uint64_t kept_values
        uint64_t kept_classes
        uint64_t kept_demands
        uint64_t* counts
        uint16_t* feature_name_sizes
        char* feature_names
        uint32_t* feature_free
        double* feature_mass
        uint32_t* feature_times_seen
        uint32_t* feature_last_seen
        uint16_t* outdegrees
        uint32_t* edge_classes
        float* edge_masses
        float* edge_variances
        uint16_t* class_name_sizes
        char* class_names
        uint32_t* class_free
        uint32_t* class_retired
        uint64_t* class_learned
        uint64_t* class_born
        uint32_t* class_last_learned
        uint32_t* kept_features
        uint32_t* kept_true
        uint32_t* kept_demanded
        uint32_t* kept_feature_ids
        float* kept_feature_values
        uint32_t* kept_class_ids
        uint32_t* kept_demands_ahead
        uint32_t* kept_demands_behind
        float* kept_demands_multiplier
        uint64_t nodes
        uint64_t free_nodes
        uint64_t children
        uint64_t blocks
        uint64_t weights
        uint64_t turns
        uint8_t* node_kinds
        uint32_t* node_children
        uint32_t* node_blocks
        uint32_t* node_free
        uint32_t* children_ids
        uint32_t* block_features
        uint32_t* block_weights
        float* tree_weights
        float* tree_squares
        uint64_t* class_turns

    const size_t COUNTS
    const size_t OUTDEGREES

    cdef cppclass Work "manyclass::Index::Work":
        uint64_t names_visited
        uint64_t ids_looked_at
        uint64_t rows_swept
        uint64_t nodes_opened
        uint64_t nodes_visited

    cdef cppclass NativeNode "manyclass::Index::Node":
        uint64_t classes
        double probability
        double bias
        vector[pair[string, double]] moved

    cdef cppclass NativeIndex "manyclass::Index":
        NativeIndex(const NativeOptions& options, uint64_t hash_seed) except +raise_error
        void configure(const NativeOptions& options) except +raise_error
        void rank(const char* data, size_t size, uint32_t k, double threshold,
                  vector[Ranked]& best, string& names) except +raise_error
        void rank_csr(NativeColumns& columns, const int64_t* indptr, const int32_t* indices,
                      const float* values, int64_t rows, uint32_t k, int32_t* ids,
                      double* scores) except +raise_error
        void explain(const char* data, size_t size, const vector[string_view]& classes,
                     size_t limit,
                     vector[vector[pair[string, double]]]& explained) except +raise_error
        NativeLearned learn(const char* data, size_t size, const vector[string_view]& classes,
                            bint first_pass) except +raise_error
        NativeLearned learn_csr(NativeColumns& columns, int64_t begin, int64_t end,
                                const int32_t* indices, const float* values,
                                NativeColumns& class_columns, const int32_t* class_indices,
                                size_t class_count, bint first_pass) except +raise_error
        void probabilities(const char* data, size_t size, const vector[string_view]& classes,
                           vector[double]& found) except +raise_error
        void paths(const char* data, size_t size, const vector[string_view]& classes, size_t limit,
                   vector[vector[NativeNode]]& paths) except +raise_error
        bint plant_csr(NativeColumns& columns, const int64_t* indptr, const int32_t* indices,
                       const float* values, int64_t rows, NativeColumns& class_columns,
                       const int64_t* class_indptr,
                       const int32_t* class_indices) except +raise_error
        bint forget_class(string_view name) except +raise_error
        bint forget_feature(string_view name) except +raise_error
        uint64_t sparsify(uint64_t wanted) except +raise_error
        bint has_class(string_view name) except +raise_error
        bint has_feature(string_view name) except +raise_error
        uint64_t features() except +raise_error
        uint64_t classes() except +raise_error
        uint64_t edges() except +raise_error
        uint64_t learned() except +raise_error
        uint64_t evicted_features() except +raise_error
        uint64_t evicted_classes() except +raise_error
        uint64_t bytes() except +raise_error
        uint64_t resident_bytes() except +raise_error
        uint64_t active_features_ranked()
        uint64_t edges_touched()
        Work work() except +raise_error
        void outdegrees(int64_t* counts) except +raise_error
        bint feature(string_view name, Row& counters, double& rating,
                     vector[pair[string, double]]& edges) except +raise_error
        bint cls(string_view name, size_t limit, uint64_t& learned,
                 vector[pair[string, double]]& edges) except +raise_error
        void class_page(string_view prefix, string_view after, size_t limit,
                        vector[pair[string, uint64_t]]& page) except +raise_error
        void feature_page(string_view prefix, string_view after, size_t limit,
                          vector[pair[string, uint64_t]]& page) except +raise_error
        void class_ids(NativeColumns& columns, int32_t* ids) except +raise_error
        void hold(uint32_t milliseconds) except +raise_error
        void let_go()
        bint is_held()
        uint64_t measure(State& state) except +raise_error
        bint dump(const State& state, uint64_t changes) except +raise_error
        void load(const State& state) except +raise_error


cdef class Columns:
    cdef unique_ptr[NativeColumns] _native


cdef class Index:
    cdef unique_ptr[NativeIndex] _native
    cdef readonly object options

    cdef learn_unique(self, Instance instance, list classes, bint first_pass)
