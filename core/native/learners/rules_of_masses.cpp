#include "learners/linear_algorithm.hpp"
#include "learners/registry.hpp"
#include "learners/rules/counting.hpp"
#include "learners/rules/ema.hpp"
#include "learners/rules/feature_focus.hpp"
#include "learners/rules/ooz.hpp"

namespace manyclass {

std::vector<LearnerType> rules_of_masses() {
    return {
        learner_type<LinearAlgorithm<FeatureFocus>>("ff"),
        learner_type<LinearAlgorithm<Counting>>("ind"),
        learner_type<LinearAlgorithm<MovingAverage>>("ema"),
        learner_type<LinearAlgorithm<Ooz>>("ooz"),
    };
}

}  // namespace manyclass
