// IND: class-conditional proportions by counting (the baseline of Madani, Connor and Greiner, JMLR
// 2009).
#pragma once

#include "learners/rules/rule.hpp"

namespace manyclass {

struct Counting : NormalizedRule {
    static constexpr bool ALWAYS_UPDATES = true, DROPS_LIGHT_VOTES = true;
    static constexpr double MOST_MASS = LARGEST_MASS;

    double min_weight = 0, mass_cap = 0;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("min_weight", min_weight);
        option("mass_cap", mass_cap);
    }

    // Count exactly: light edges stay in the row, and do not vote.
    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        NormalizedWeights weights(postings, 0.0, mass_cap, /*leak=*/true);
        each_known(example.active, [&](const ActiveFeature& each) {
            for (const Ranked& positive : context.positives)
                weights.strengthen(each.feature, positive.cls,
                                   static_cast<float>(example.weight * each.value));
        });
        return true;
    }
};

}  // namespace manyclass
