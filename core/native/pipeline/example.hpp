// An example in the pipeline: an instance and its true classes, by ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/ranking.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// An active feature. A feature read from a row has its column, and its name only if it is not in
// the vocabulary. A feature read from wire form has its hash and name.
struct ActiveFeature {
    std::uint32_t feature;  // NO_ID: not in the vocabulary
    std::uint32_t column;
    double value;
    std::uint64_t hash;
    std::string_view name;
};

// A constraint of a dual solver with its multiplier: class `ahead` scores above class `behind` by a
// margin. NO_ID instead of a class stands for a score of 0.
struct Constraint {
    std::uint32_t ahead, behind;
    float multiplier;
};

// The vote of other examples for a class. The algorithm sets `own`, its own score, when it learns.
struct NeighborVote {
    std::uint32_t cls;
    double share, own;
};

struct Example {
    std::vector<ActiveFeature> active;
    std::vector<float> raw_values;        // of the active features, before preprocessing
    std::vector<std::uint32_t> classes;   // the true classes; NO_ID: not in the vocabulary
    std::vector<std::uint32_t> rejected;  // classes labelled as wrong; all are known
    double weight = 1;                    // of the example
    std::vector<Constraint> constraints;  // stored with the example until it is replayed
    std::vector<NeighborVote> votes;      // by class id
    double vote_scale = 0;  // factor of the votes, which are added to the scores of a ranking
    std::vector<Ranked> best_without_vote;  // best first; set together with the votes
    // Receives the ranking before the example is learned; nullptr: not wanted.
    RankingBefore* before = nullptr;

    // Return how many first ranks are compared to judge votes: the number of true classes, at most
    // 5.
    std::uint32_t ranks_compared() const {
        const auto unknown = std::count(classes.begin(), classes.end(), NO_ID);
        const std::size_t known = classes.size() - static_cast<std::size_t>(unknown);
        return static_cast<std::uint32_t>(std::min<std::size_t>(known, 5));
    }
};

}  // namespace manyclass
