// MMP: the multiclass multilabel perceptron, uniform variant (Crammer and Singer, JMLR 2003).
#pragma once

#include <cstdint>
#include <vector>

#include "learners/rules/rule.hpp"

namespace manyclass {

struct Perceptron : SignedRule {
    static constexpr bool HAS_REJECTIONS = true;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("negatives", negatives);  // the margin is 0
        visit_budget(option);
    }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        take_steps(weights(postings, context), example.active,
                   steps(context, example.weight));
        return true;
    }

    // A class that is said to be wrong, with a score above 0, steps back by 1.
    void reject(Postings& postings, const Example& example, const UpdateContext& context,
                const Ranked& rejected) const {
        take_steps(weights(postings, context), example.active,
                   {{rejected.cls, -example.weight}});
    }

private:
    // Every pair of a positive and a negative that does not stand below it moves the two apart, all
    // pairs together by 1. A positive without such a negative steps forward. The weight of the
    // example multiplies every step.
    static std::vector<Step> steps(const UpdateContext& context, double weight) {
        std::vector<Step> steps;
        std::vector<std::uint32_t> pairs_of(context.negatives.size(), 0);
        std::uint64_t pairs = 0;
        for (const Ranked& positive : context.positives) {
            std::uint32_t its_pairs = 0;
            while (its_pairs < pairs_of.size() &&
                   context.negatives[its_pairs].score >= positive.score)
                ++pairs_of[its_pairs++];
            pairs += its_pairs;
            steps.push_back({positive.cls, static_cast<double>(its_pairs)});
        }
        for (Step& step : steps)
            step.gain = step.gain == 0 ? 1 : step.gain / static_cast<double>(pairs);
        for (std::size_t i = 0; i < pairs_of.size() && pairs_of[i] > 0; ++i)
            steps.push_back({context.negatives[i].cls,
                             -static_cast<double>(pairs_of[i]) / static_cast<double>(pairs)});
        for (Step& step : steps) step.gain *= weight;
        return steps;
    }
};

}  // namespace manyclass
