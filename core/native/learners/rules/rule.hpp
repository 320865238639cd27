// Defaults of the rules of linear learners. A rule is a struct with its options, its update and
// constants by which LinearLearner is compiled; it derives from one of the structs below.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "learners/rules/normalized_weights.hpp"
#include "learners/rules/signed_weights.hpp"
#include "learners/rules/update_context.hpp"
#include "pipeline/example.hpp"
#include "storage/postings.hpp"

namespace manyclass {

struct Rule {
    static constexpr bool NORMALIZED = false;       // a weight is the share of the row's mass
    static constexpr bool SIGNED = false;           // weights, and so scores, may be negative
    static constexpr bool HAS_WINDOW = false;       // a positive ranked far down scores 0
    static constexpr bool HAS_VARIANCES = false;    // of the edges
    static constexpr bool HAS_CONSTRAINTS = false;  // stored with examples
    static constexpr bool ALWAYS_UPDATES = false;   // also if the margin is large enough
    static constexpr bool DROPS_LIGHT_VOTES = false;
    static constexpr bool MASS_IS_SCALE = false;  // it does not shrink with the edges
    // Of a row: its largest mass, the sum of its edges as a multiple of the mass, and how much
    // rounding may add to that.
    static constexpr double MOST_MASS = 0, MOST_SUM = 1 + 1e-9, ROUNDING = 0;

    std::uint32_t max_outdegree = 0, rating = 0;

    template <class V>
    void visit_options(V&& option) {
        option("max_outdegree", max_outdegree);
        option("rating", rating);
    }
};

// Rows stand heaviest first; the best negative alone decides about an update.
struct NormalizedRule : Rule {
    static constexpr bool NORMALIZED = true;
    std::size_t most_negatives(std::size_t) const { return 1; }
};

// Rows hold the weights as they are; the best `negatives` take part in an update.
struct SignedRule : Rule {
    static constexpr bool SIGNED = true;

    double margin = 0;
    std::uint32_t negatives = 1;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("margin_threshold", margin);
        option("negatives", negatives);
    }

    std::size_t most_negatives(std::size_t) const { return negatives; }
};

}  // namespace manyclass
