// FF: feature focus (Madani, Connor and Greiner, JMLR 2009, section 3.2).
#pragma once

#include "learners/rules/rule.hpp"

namespace manyclass {

struct FeatureFocus : NormalizedRule {
    static constexpr bool HAS_WINDOW = true;
    static constexpr double MOST_MASS = LARGEST_MASS;

    double margin = 0, min_weight = 0, mass_cap = 0;
    std::uint32_t retrieval_window = 0;
    bool leak = true;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("margin_threshold", margin);
        option("min_weight", min_weight);
        option("mass_cap", mass_cap);
        option("retrieval_window", retrieval_window);
        option("leak", leak);
    }

    // Strengthen the edge of every active feature to every positive.
    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        NormalizedWeights weights(postings, min_weight, mass_cap, leak);
        each_known(example.active, [&](const ActiveFeature& each) {
            for (const Ranked& positive : context.positives)
                weights.strengthen(each.feature, positive.cls,
                                   static_cast<float>(example.weight * each.value));
        });
        return true;
    }
};

}  // namespace manyclass
