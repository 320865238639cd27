#include "learners/linear_learner.hpp"
#include "learners/registry.hpp"
#include "learners/rules/dual_svm.hpp"
#include "learners/rules/passive_aggressive.hpp"

namespace manyclass {

std::vector<LearnerType> rules_of_paths() {
    return {
        learner_type<LinearLearner<DualSvmBy<PathSteps>>>("path"),
        learner_type<LinearLearner<PassiveAggressiveBy<PathSteps>>>("hieron"),
    };
}

}  // namespace manyclass
