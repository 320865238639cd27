// The classes that a part of a mixture finds best for an instance, or that a caller asks for.
#pragma once

#include <cstdint>
#include <string_view>

#include "beside/mixture.hpp"

namespace manyclass {

// The scores of a class by each part, in usual spreads (see PartScale).
struct ScoreParts {
    double words = 0, names = 0, vectors = 0;

    double operator[](Part part) const {
        return part == Part::words ? words : part == Part::names ? names : vectors;
    }
};

// A class with its scores. A part finds all classes below its best ones equal: `bounded` has the same
// number for all of them, and `exact` has their own numbers, which order classes with equal scores.
struct MixedCandidate {
    std::string_view name;
    std::uint32_t id;  // of the evidence; NO_ID if it does not know the class
    ScoreParts bounded, exact;
    double names_weight;  // usual weight of the description of this class
    double score, exact_score;  // the weighted sums of `bounded` and of `exact`

    // True if this class ranks before the other.
    bool precedes(const MixedCandidate& other) const {
        if (score != other.score) return score > other.score;
        if (exact_score != other.exact_score) return exact_score > other.exact_score;
        return name < other.name;
    }
};

}  // namespace manyclass
