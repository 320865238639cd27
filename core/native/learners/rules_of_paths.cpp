#include "learners/linear_algorithm.hpp"
#include "learners/registry.hpp"
#include "learners/rules/dual_svm.hpp"
#include "learners/rules/passive_aggressive.hpp"

namespace manyclass {

std::vector<LearnerType> rules_of_paths() {
    return {
        learner_type<LinearAlgorithm<DualSvmBy<PathSteps>>>("path"),
        learner_type<LinearAlgorithm<PassiveAggressiveBy<PathSteps>>>("hieron"),
    };
}

}  // namespace manyclass
