// The algorithms by name of the learner. Each .cpp file has a list, so that they compile in
// parallel.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "learners/algorithm.hpp"

namespace manyclass {

struct LearnerType {
    std::string_view name;
    void (*visit_options)(OptionNames& names);  // lists the options of the learner's own
    std::unique_ptr<Algorithm> (*make)(Tables& tables, std::uint64_t seed,
                                     const OptionValues& options);
};

template <class L>
constexpr LearnerType learner_type(std::string_view name) {
    return {name, &L::visit_options,
            [](Tables& tables, std::uint64_t seed, const OptionValues& options) {
                return std::unique_ptr<Algorithm>(std::make_unique<L>(tables, seed, options));
            }};
}

// Linear learners by the kind of rule: positive masses, weights that separate true from wrong
// classes, and such weights along the paths of a taxonomy.
std::vector<LearnerType> rules_of_masses();
std::vector<LearnerType> rules_of_margins();
std::vector<LearnerType> rules_of_paths();

// Return the learner type of this name; nullptr for an unknown name.
const LearnerType* learner_type_of(std::string_view name);

}  // namespace manyclass
