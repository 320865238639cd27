// PA-II: passive-aggressive learning with a quadratic penalty (Crammer et al., JMLR 2006).
#pragma once

#include <vector>

#include "learners/rules/rule.hpp"

namespace manyclass {

struct PassiveAggressive : SignedRule {
    double C = 1;

    template <class V>
    void visit_options(V&& option) {
        SignedRule::visit_options(option);
        option("C", C);
    }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        take_steps(SignedWeights(postings, max_outdegree), example.active,
                   steps(context, squared_norm(example.active)));
        return true;
    }

private:
    // Each positive whose margin over the best negative is too small steps forward, and the
    // negatives within the margin step back, by all of it together. Of several positives each takes
    // its part of such a step: all of them in full, from the same scores, would be too far.
    std::vector<Step> steps(const UpdateContext& context, double squares) const {
        std::vector<Step> steps;
        std::vector<std::size_t> step_of;  // of each negative that steps back
        const double softness = 1 / (2 * C);
        for (const Ranked& positive : context.positives) {
            const double loss = margin - positive.score + context.best_negative();
            const double forward =
                loss / (squares + softness) / static_cast<double>(context.positives.size());
            steps.push_back({positive.cls, forward});
            const std::vector<double> shares = violation_shares(context, positive.score, margin);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                if (i == step_of.size()) {
                    step_of.push_back(steps.size());
                    steps.push_back({context.negatives[i].cls, 0});
                }
                steps[step_of[i]].gain -= forward * shares[i];
            }
        }
        return steps;
    }
};

}  // namespace manyclass
