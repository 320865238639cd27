// The learners by name: the only file that names all of them. A new learner is one header, and one
// line here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "learners/frequency.hpp"
#include "learners/learner.hpp"
#include "learners/linear_learner.hpp"
#include "learners/rules/arow.hpp"
#include "learners/rules/counting.hpp"
#include "learners/rules/dual_svm.hpp"
#include "learners/rules/ema.hpp"
#include "learners/rules/feature_focus.hpp"
#include "learners/rules/ooz.hpp"
#include "learners/rules/passive_aggressive.hpp"
#include "learners/rules/perceptron.hpp"
#include "learners/tree/label_tree.hpp"

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

inline const std::vector<LearnerType>& learner_types() {
    static const std::vector<LearnerType> types{
        learner_type<LinearLearner<FeatureFocus>>("ff"),
        learner_type<LinearLearner<Counting>>("ind"),
        learner_type<LinearLearner<MovingAverage>>("ema"),
        learner_type<LinearLearner<Ooz>>("ooz"),
        learner_type<LinearLearner<PassiveAggressive>>("pa"),
        learner_type<LinearLearner<Perceptron>>("mmp"),
        learner_type<LinearLearner<Arow>>("arow"),
        learner_type<LinearLearner<DualSvm>>("svm"),
        learner_type<LinearLearner<DualSvmBy<PathSteps>>>("path"),
        learner_type<LinearLearner<PassiveAggressiveBy<PathSteps>>>("hieron"),
        learner_type<Frequency>("frequency"),
        learner_type<BuiltLabelTree>("iplt"),
        learner_type<GrownLabelTree>("oplt"),
    };
    return types;
}

// Return the learner of this name, nullptr if there is none.
inline const LearnerType* learner_type_of(std::string_view name) {
    for (const LearnerType& each : learner_types())
        if (each.name == name) return &each;
    return nullptr;
}

}  // namespace manyclass
