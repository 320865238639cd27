// The learners by name, each in the list of one .cpp file: the lists are compiled at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "learners/learner.hpp"

namespace manyclass {

struct LearnerType {
    std::string_view name;
    void (*visit_options)(OptionNames& names);  // lists the options of the learner's own
    std::unique_ptr<Learner> (*make)(Tables& tables, std::uint64_t seed,
                                     const OptionValues& options);
};

template <class L>
constexpr LearnerType learner_type(std::string_view name) {
    return {name, &L::visit_options,
            [](Tables& tables, std::uint64_t seed, const OptionValues& options) {
                return std::unique_ptr<Learner>(std::make_unique<L>(tables, seed, options));
            }};
}

// The linear learners by their rules: masses that stay positive, weights that part true classes from
// wrong ones, and such weights along the paths of a taxonomy.
std::vector<LearnerType> rules_of_masses();
std::vector<LearnerType> rules_of_margins();
std::vector<LearnerType> rules_of_paths();

// Return the learner of this name, nullptr if there is none.
const LearnerType* learner_type_of(std::string_view name);

}  // namespace manyclass
