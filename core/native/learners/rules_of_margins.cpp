#include "learners/linear_learner.hpp"
#include "learners/registry.hpp"
#include "learners/rules/arow.hpp"
#include "learners/rules/dual_svm.hpp"
#include "learners/rules/passive_aggressive.hpp"
#include "learners/rules/perceptron.hpp"

namespace manyclass {

std::vector<LearnerType> rules_of_margins() {
    return {
        learner_type<LinearLearner<PassiveAggressive>>("pa"),
        learner_type<LinearLearner<Perceptron>>("mmp"),
        learner_type<LinearLearner<Arow>>("arow"),
        learner_type<LinearLearner<DualSvm>>("svm"),
    };
}

}  // namespace manyclass
