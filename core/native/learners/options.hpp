// The options of one learner, as the native code reads them (core/learners/options.py says what they mean).
#pragma once

#include <cstdint>

namespace manyclass {

enum class Kind : std::uint8_t {
    feature_focus,
    independent,
    moving_average,
    slack,
    passive_aggressive,
    perceptron,
    confidence,
    vector_machine,
    frequency,
    label_tree,
};

// In which a label tree is planted.
enum class Shape : std::uint8_t { complete, random, huffman, kmeans };

struct Options {
    Kind kind;
    Shape tree;
    double margin_threshold, min_weight, feature_memory, rate, aggressiveness, caution;
    double epsilon, alpha;
    std::uint32_t max_outdegree, rating, retrieval_window, negatives, replay, replay_size;
    std::uint32_t arity, max_leaves, sample;
    std::uint32_t max_features, max_classes;
    std::uint64_t max_bytes, seed;
    bool leak, boolean, l2, sublinear, tfidf, pairs, greedy;

    // An edge's weight is its share of the feature mass; a row stands heaviest first.
    bool shares() const {
        return kind == Kind::feature_focus || kind == Kind::independent ||
               kind == Kind::moving_average;
    }
    // A true class far down the ranking counts as not retrieved.
    bool has_window() const {
        return kind == Kind::feature_focus || kind == Kind::moving_average;
    }
    // SignedWeights, and so scores, may be negative.
    bool signed_weights() const {
        return kind == Kind::passive_aggressive || kind == Kind::perceptron ||
               kind == Kind::confidence || kind == Kind::vector_machine;
    }
};

}  // namespace manyclass
