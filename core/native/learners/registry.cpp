// All learners. A new one is a header, and a line in a list: here, or in that of its rules.
#include "learners/registry.hpp"

#include "learners/frequency.hpp"
#include "learners/tree/label_tree.hpp"

namespace manyclass {
namespace {

std::vector<LearnerType> other_learners() {
    return {
        learner_type<Frequency>("frequency"),
        learner_type<BuiltLabelTree>("iplt"),
        learner_type<GrownLabelTree>("oplt"),
    };
}

const std::vector<LearnerType>& learner_types() {
    static const std::vector<LearnerType> types = [] {
        std::vector<LearnerType> all;
        for (const auto& list :
             {rules_of_masses(), rules_of_margins(), rules_of_paths(), other_learners()})
            all.insert(all.end(), list.begin(), list.end());
        return all;
    }();
    return types;
}

}  // namespace

const LearnerType* learner_type_of(std::string_view name) {
    for (const LearnerType& each : learner_types())
        if (each.name == name) return &each;
    return nullptr;
}

}  // namespace manyclass
