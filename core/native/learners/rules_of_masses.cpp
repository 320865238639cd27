#include "learners/linear_learner.hpp"
#include "learners/registry.hpp"
#include "learners/rules/counting.hpp"
#include "learners/rules/ema.hpp"
#include "learners/rules/feature_focus.hpp"
#include "learners/rules/ooz.hpp"

namespace manyclass {

std::vector<LearnerType> rules_of_masses() {
    return {
        learner_type<LinearLearner<FeatureFocus>>("ff"),
        learner_type<LinearLearner<Counting>>("ind"),
        learner_type<LinearLearner<MovingAverage>>("ema"),
        learner_type<LinearLearner<Ooz>>("ooz"),
    };
}

}  // namespace manyclass
