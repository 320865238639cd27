// PA-II: passive-aggressive learning with a quadratic penalty (Crammer et al., JMLR 2006).
#pragma once

#include <vector>

#include "learners/rules/rule.hpp"

namespace manyclass {

template <class Steps>
struct PassiveAggressiveBy : SignedRule {
    static constexpr bool HAS_REJECTIONS = true, HAS_COSTS = true, HAS_PATHS = Steps::ON_PATHS;

    double C = 1;
    Cost cost = Cost::none;

    template <class V>
    void visit_options(V&& option) {
        SignedRule::visit_options(option);
        option("C", C);
        option.choice("cost", cost, COSTS);
        if constexpr (HAS_PATHS) option("family_rate", family_rate);
    }

    bool compares_pairs(const UpdateContext&) const { return true; }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        const double squares = squared_norm(example.active);
        const bool is_flat = context.paths == nullptr || context.paths->is_flat();
        take_steps(weights(postings, context), example.active,
                   is_flat ? steps(context, squares, softness(example))
                           : path_steps(context, squares, softness(example)));
        return true;
    }

    // A class that is said to be wrong, with a score above 0, steps back by that loss.
    void reject(Postings& postings, const Example& example, const UpdateContext& context,
                const Ranked& rejected) const {
        const double back = rejected.score / (squared_norm(example.active) + softness(example));
        take_steps(weights(postings, context), example.active, {{rejected.cls, -back}});
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

    // The same along paths: each negative within the margin takes its share of the loss.
    std::vector<Step> path_steps(const UpdateContext& context, double squares,
                                 double softness) const {
        std::vector<Ranked> classes = context.positives;
        classes.insert(classes.end(), context.negatives.begin(), context.negatives.end());
        const std::size_t positives = context.positives.size();
        Steps steps(classes, context.paths, family_rate);
        for (std::size_t ahead = 0; ahead < positives; ++ahead) {
            const Ranked& positive = context.positives[ahead];
            const double loss = context.loss(positive, margin) / static_cast<double>(positives);
            const auto step = [&](std::size_t behind, double share) {
                // two classes without a hierarchy move as far as one
                const double moved = std::max(1.0, steps.lead_moved(ahead, behind) / 2);
                steps.move(ahead, behind, loss * share / (moved * squares + softness));
            };
            const std::vector<double> shares = violation_shares(context, positive, margin);
            for (std::size_t i = 0; i < shares.size(); ++i)
                if (shares[i] > 0) step(positives + i, shares[i]);
            if (shares.empty()) step(Steps::NOWHERE, 1);
        }
        return steps.steps();
    }
};

using PassiveAggressive = PassiveAggressiveBy<FlatSteps>;

}  // namespace manyclass
