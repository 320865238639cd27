// OOZ: online updates that move weight from negatives to the true class (Madani and Huang, Flat
// Techniques).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "learners/rules/rule.hpp"

namespace manyclass {

struct Ooz : Rule {
    static constexpr double MOST_MASS = 1 + 1e-9;
    static constexpr double ROUNDING = 1e-9;  // of the mass, a difference of larger numbers

    double margin = 0, rate = 0;
    std::uint32_t negatives = 1;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("margin_threshold", margin);
        option("rate", rate);
        option("negatives", negatives);
    }

    std::size_t most_negatives(const UpdateContext&) const { return negatives; }

    bool update(Postings& postings, const Example& example, const UpdateContext& context) const {
        for (const Ranked& positive : context.positives)
            shift_weight(postings, example, context, positive);
        return true;
    }

private:
    // Each active feature moves weight to the positive, first from the negatives that it has edges
    // to, best first, then from the weight that it has not given away yet.
    void shift_weight(Postings& postings, const Example& example, const UpdateContext& context,
                      const Ranked& positive) const {
        const double step = std::min(rate * example.weight, margin / 2);
        const std::vector<double> given = deductions(context, positive.score - margin, step);
        std::vector<double> left = given;
        SignedWeights weights(postings, max_outdegree, /*mass_is_settled=*/false);
        each_known(example.active, [&](const ActiveFeature& each) {
            double allowed = each.value * step, boost = 0;
            for (std::size_t i = 0; i < given.size() && allowed > 0; ++i) {
                const double most =
                    std::min({left[i] / each.value, each.value * given[i], allowed});
                if (!(most > 0)) continue;
                const double taken = weights.take(each.feature, context.negatives[i].cls, most);
                boost += taken;
                left[i] -= taken * each.value;
                allowed -= taken;
            }
            Row& row = postings[each.feature];  // its mass is the weight it has given away
            row.mass -= boost;
            boost += std::max(0.0, std::min(1.0 - row.mass - boost, allowed));
            row.mass += weights.give(each.feature, positive.cls, boost);
            row.mass = row.outdegree == 0 ? 0.0 : std::max(row.mass, 0.0);
        });
    }

    // Compute_Deductions: how much of `step` each of the negatives, best first, gives. In round n
    // the n best share the gap to the next score; the last of them share the rest.
    std::vector<double> deductions(const UpdateContext& context, double least, double step) const {
        std::vector<double> given;
        for (const Ranked& negative : context.negatives) {
            if (given.size() == negatives || !(negative.score > least)) break;
            given.push_back(0);
        }
        double spent = 0;
        for (std::size_t n = 1; n <= given.size() && spent < step; ++n) {
            double share = step - spent;
            if (n < negatives) {
                const double next = n < given.size() ? context.negatives[n].score : least;
                share = std::min(share, context.negatives[n - 1].score - next);
            }
            for (std::size_t i = 0; i < n; ++i) given[i] += share / static_cast<double>(n);
            spent += share;
        }
        return given;
    }
};

}  // namespace manyclass
