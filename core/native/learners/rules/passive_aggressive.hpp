// PA-II: passive-aggressive learning with a quadratic penalty (Crammer et al., JMLR 2006).
#pragma once

#include <vector>

#include "learners/rules/rule.hpp"

namespace manyclass {

struct PassiveAggressive : SignedRule {
    static constexpr bool HAS_REJECTIONS = true, HAS_COSTS = true;

    double C = 1;
    Cost cost = Cost::none;

    template <class V>
    void visit_options(V&& option) {
        SignedRule::visit_options(option);
        option("C", C);
        option.choice("cost", cost, COSTS);
    }

    bool compares_pairs(const UpdateContext&) const { return true; }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        take_steps(SignedWeights(postings, max_outdegree), example.active,
                   steps(context, squared_norm(example.active), softness(example)));
        return true;
    }

    // A class that is said to be wrong, with a score above 0, steps back by that loss.
    void reject(Postings& postings, const Example& example, const Ranked& rejected) const {
        const double back = rejected.score / (squared_norm(example.active) + softness(example));
        take_steps(SignedWeights(postings, max_outdegree), example.active, {{rejected.cls, -back}});
    }

private:
    double softness(const Example& example) const { return 1 / (2 * C * example.weight); }

    // Each positive whose margin over a negative is too small steps forward by what it lacks most,
    // and the negatives within the margin step back, by all of it together. Of several positives
    // each takes its part of such a step: all of them in full, from the same scores, would be too
    // far.
    std::vector<Step> steps(const UpdateContext& context, double squares, double softness) const {
        std::vector<Step> steps;
        constexpr auto NONE = static_cast<std::size_t>(-1);
        std::vector<std::size_t> step_of(context.negatives.size(), NONE);
        for (const Ranked& positive : context.positives) {
            const double forward = context.loss(positive, margin) / (squares + softness) /
                                   static_cast<double>(context.positives.size());
            steps.push_back({positive.cls, forward});
            const std::vector<double> shares = violation_shares(context, positive, margin);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                if (shares[i] == 0) continue;
                if (step_of[i] == NONE) {
                    step_of[i] = steps.size();
                    steps.push_back({context.negatives[i].cls, 0});
                }
                steps[step_of[i]].gain -= forward * shares[i];
            }
        }
        return steps;
    }
};

}  // namespace manyclass
