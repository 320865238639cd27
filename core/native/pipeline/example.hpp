// One instance with its true classes, by ids, on its way through the pipeline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/ranking.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// An active feature. The column is set, or the hash and name are, by the way it was read. One of a
// column has its name only while it is not in the vocabulary.
struct ActiveFeature {
    std::uint32_t feature;  // NO_ID: not in the vocabulary
    std::uint32_t column;
    double value;
    std::uint64_t hash;
    std::string_view name;
};

// A constraint of a dual solver with its multiplier: class `ahead` scores above class `behind` by a
// margin. NO_ID in the place of a class stands for a score of 0.
struct Constraint {
    std::uint32_t ahead, behind;
    float multiplier;
};

// The vote of other examples for a class, beside the learner's own score, which it fills in when it
// learns.
struct NeighborVote {
    std::uint32_t cls;
    double share, own;
};

struct Example {
    std::vector<ActiveFeature> active;
    std::vector<float> raw_values;        // of the active features, before preprocessing
    std::vector<std::uint32_t> classes;   // the true classes; NO_ID: not in the vocabulary
    std::vector<std::uint32_t> rejected;  // classes that are said to be wrong, all of them known
    double weight = 1;                    // of the example beside others
    std::vector<Constraint> constraints;  // stored with the example from one learning to the next
    std::vector<NeighborVote> votes;      // by class id
    double vote_scale = 0;  // the votes times this are added to the scores of a ranking
    std::vector<Ranked> best_without_vote;  // classes, best first, filled in with the votes

    // The first places by which votes are judged: as many as there are true classes, at most five.
    std::uint32_t places_compared() const {
        const auto unknown = std::count(classes.begin(), classes.end(), NO_ID);
        const std::size_t known = classes.size() - static_cast<std::size_t>(unknown);
        return static_cast<std::uint32_t>(std::min<std::size_t>(known, 5));
    }
};

}  // namespace manyclass
