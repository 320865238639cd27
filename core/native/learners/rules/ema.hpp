// EMA: weights as exponential moving averages (Madani and Huang, KDD 2008).
#pragma once

#include "learners/rules/rule.hpp"

namespace manyclass {

struct MovingAverage : NormalizedRule {
    static constexpr bool HAS_WINDOW = true, MASS_IS_SCALE = true;
    // a scale above the largest is brought down; weights add up to 1 but for the rounding of
    // updates
    static constexpr double MOST_MASS = LARGEST_SCALE * LARGEST_SCALE, MOST_SUM = 2;

    double margin = 0, min_weight = 0, rate = 0;
    std::uint32_t retrieval_window = 0;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("margin_threshold", margin);
        option("min_weight", min_weight);
        option("rate", rate);
        option("retrieval_window", retrieval_window);
    }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        NormalizedWeights weights(postings, min_weight, 0, /*leak=*/true);
        each_known(example.active, [&](const ActiveFeature& each) {
            for (const Ranked& positive : context.positives)
                weights.average(each.feature, positive.cls, rate * each.value * example.weight);
        });
        return true;
    }
};

}  // namespace manyclass
