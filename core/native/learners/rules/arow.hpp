// AROW: adaptive regularization of weights (Crammer, Kulesza and Dredze, NIPS 2009): as PA-II, but
// each weight moves by its variance, which shrinks.
#pragma once

#include <vector>

#include "learners/rules/rule.hpp"

namespace manyclass {

struct Arow : SignedRule {
    static constexpr bool HAS_VARIANCES = true, HAS_REJECTIONS = true;

    double C = 1;  // 1/r of the paper

    template <class V>
    void visit_options(V&& option) {
        SignedRule::visit_options(option);
        option("C", C);
    }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        for (const Ranked& positive : context.positives)
            step(postings, example, context, positive);
        return true;
    }

    // A class that is said to be wrong, with a score above 0, steps back by that loss.
    void reject(Postings& postings, const Example& example, const UpdateContext& context,
                const Ranked& rejected) const {
        SignedWeights weights = this->weights(postings, context);
        double variance = 0;
        each_known(example.active, [&](const ActiveFeature& each) {
            variance += each.value * each.value * weights.variance(each.feature, rejected.cls);
        });
        const double certainty = 1 / (variance + 1 / (C * example.weight));
        each_known(example.active, [&](const ActiveFeature& each) {
            weights.add_by_variance(each.feature, rejected.cls,
                                    -rejected.score * certainty * each.value,
                                    certainty * each.value * each.value);
        });
    }

private:
    void step(Postings& postings, const Example& example, const UpdateContext& context,
              const Ranked& positive) const {
        const std::vector<ActiveFeature>& active = example.active;
        const double loss = margin - positive.score + context.best_negative();
        const std::vector<double> shares = violation_shares(context, positive, margin);
        SignedWeights weights = this->weights(postings, context);
        double variance = 0;
        each_known(active, [&](const ActiveFeature& each) {
            double sum = weights.variance(each.feature, positive.cls);
            for (std::size_t i = 0; i < shares.size(); ++i)
                sum += shares[i] * shares[i] *
                       weights.variance(each.feature, context.negatives[i].cls);
            variance += each.value * each.value * sum;
        });
        const double certainty =
            1 / (variance + 1 / (C * example.weight)) /
            static_cast<double>(context.positives.size());
        each_known(active, [&](const ActiveFeature& each) {
            const double gain = loss * certainty * each.value;
            const double shrink = certainty * each.value * each.value;
            weights.add_by_variance(each.feature, positive.cls, gain, shrink);
            for (std::size_t i = 0; i < shares.size(); ++i)
                weights.add_by_variance(each.feature, context.negatives[i].cls, -gain * shares[i],
                                        shrink * shares[i] * shares[i]);
        });
    }
};

}  // namespace manyclass
