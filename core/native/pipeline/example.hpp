// One instance with its true classes, by ids, on its way through the pipeline.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/vocabulary.hpp"

namespace manyclass {

// An active feature. Either the column or the hash and name are set, by the way it was read.
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

struct Example {
    std::vector<ActiveFeature> active;
    std::vector<float> raw_values;        // of the active features, before preprocessing
    std::vector<std::uint32_t> classes;   // the true classes; NO_ID: not in the vocabulary
    std::vector<std::uint32_t> rejected;  // classes that are said to be wrong, all of them known
    double weight = 1;                    // of the example beside others
    std::vector<Constraint> constraints;  // stored with the example from one learning to the next
};

}  // namespace manyclass
