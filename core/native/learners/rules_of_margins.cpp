#include "learners/linear_algorithm.hpp"
#include "learners/registry.hpp"
#include "learners/rules/arow.hpp"
#include "learners/rules/dual_svm.hpp"
#include "learners/rules/passive_aggressive.hpp"
#include "learners/rules/perceptron.hpp"

namespace manyclass {

std::vector<LearnerType> rules_of_margins() {
    return {
        learner_type<LinearAlgorithm<PassiveAggressive>>("pa"),
        learner_type<LinearAlgorithm<Perceptron>>("mmp"),
        learner_type<LinearAlgorithm<Arow>>("arow"),
        learner_type<LinearAlgorithm<DualSvm>>("svm"),
    };
}

}  // namespace manyclass
