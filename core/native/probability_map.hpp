// A map from three scale-free inputs to a probability, learned online from outcomes:
//
//   inputs -> logistic regression -> monotone knots -> probability
//
// The regression fits the shape within a few hundred outcomes (Platt 1999, learned online). The
// knots correct its residuals, each from its own recent outcomes; falling neighbours are pooled
// (isotonic regression; Zadrozny and Elkan 2002). Both decay old outcomes, because a learner
// improves and its scores grow, so that the meaning of a score changes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "math/elementary.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

constexpr std::uint64_t FEWEST_OUTCOMES = 100;  // before the first probability
constexpr std::size_t PROBABILITY_INPUTS = 3;
using ProbabilityInputs = std::array<double, PROBABILITY_INPUTS>;  // between -1 and 1

// Threads: one at a time; any number may call const functions at once.
class ProbabilityMap {
public:
    using Inputs = ProbabilityInputs;
    static constexpr std::size_t INPUTS = PROBABILITY_INPUTS, KNOTS = 21;
    static constexpr std::size_t NUMBERS = 2 * INPUTS + (INPUTS + 1) + 2 * KNOTS;
    static constexpr double FORGETTING = 0.001;  // of means and variances, an outcome

    // The probability for these inputs; it never falls with the first two.
    double of(const Inputs& inputs) const { return isotonic(regressed(standardised(inputs))); }

    // Learn an outcome, which is the one of this number, from 1.
    void add(const Inputs& inputs, bool is_right, std::uint64_t number) {
        const double share = std::max(FORGETTING, 1 / static_cast<double>(number));
        const Inputs values = standardised(inputs);
        const double probability = regressed(values);
        note_at_knots(probability, is_right);
        learn(values, is_right - probability, number);
        for (std::size_t i = 0; i < INPUTS; ++i) {
            const double away = inputs[i] - means_[i];
            means_[i] += away * share;
            if (number > 1) variances_[i] += (away * away - variances_[i]) * share;
        }
        fit_knots();
    }

    // Fit regression and knots to outcomes of a learner that has hardly changed between them, after
    // so many outcomes. All count alike: `add` follows changes, at the price of noise from its last
    // outcomes. The inputs' scales stay.
    void settle(const std::vector<std::pair<Inputs, bool>>& given, std::uint64_t number) {
        std::vector<std::pair<Inputs, bool>> outcomes;
        for (const auto& [inputs, is_right] : given)
            outcomes.emplace_back(standardised(inputs), is_right);
        // The mean over all steps has little of their noise (Polyak and Juditsky 1992).
        std::array<double, INPUTS + 1> sums{};
        for (std::size_t round = 0; round < SETTLING_ROUNDS; ++round) {
            for (const auto& [values, is_right] : outcomes) {
                learn(values, is_right - regressed(values), number);
                for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weights_[i];
            }
        }
        const auto steps = static_cast<double>(SETTLING_ROUNDS * outcomes.size());
        for (std::size_t i = 0; i < sums.size(); ++i) weights_[i] = sums[i] / steps;
        counts_.fill(0);
        residuals_.fill(0);
        for (const auto& [values, is_right] : outcomes) {
            const double probability = regressed(values);
            const auto [knot, beyond] = interval_of(probability);
            const double residual = is_right - probability;
            counts_[knot] += 1 - beyond;
            residuals_[knot] += (1 - beyond) * residual;
            counts_[knot + 1] += beyond;
            residuals_[knot + 1] += beyond * residual;
        }
        for (std::size_t knot = 0; knot < KNOTS; ++knot) {  // as many as a knot remembers
            const double kept = std::min(1.0, 1 / (KNOT_FORGETTING * std::max(counts_[knot], 1.0)));
            counts_[knot] *= kept;
            residuals_[knot] *= kept;
        }
        fit_knots();
    }

    // --- state ---------------------------------------------------------------------------------

    // Visit the NUMBERS numbers of the state. After a change, call `loaded`.
    template <class Self, class F>
    static void each_number(Self& self, F&& visit) {
        for (auto& each : self.means_) visit(each);
        for (auto& each : self.variances_) visit(each);
        for (auto& each : self.weights_) visit(each);
        for (auto& each : self.counts_) visit(each);
        for (auto& each : self.residuals_) visit(each);
    }

    // Throw std::invalid_argument "section: fault" if no `outcomes` outcomes can lead to the numbers.
    // Inputs are between -1 and 1, so means, variances and residuals are bounded; a step of the
    // regression moves no weight by more than 1. The comparisons are false for NaN.
    void loaded(std::uint64_t outcomes, const char* section) {
        for (std::size_t i = 0; i < INPUTS; ++i) {
            need(std::fabs(means_[i]) <= 1, section, "a mean is out of range");
            need(variances_[i] >= 0 && variances_[i] <= 4, section, "a variance is out of range");
        }
        const double largest_weight = 1 + static_cast<double>(outcomes);
        for (const double weight : weights_)
            need(std::fabs(weight) <= largest_weight, section, "a weight is out of range");
        for (std::size_t at = 0; at < 2; ++at)
            need(weights_[at] >= 0, section, "a weight of a lead is negative");
        for (std::size_t knot = 0; knot < KNOTS; ++knot) {
            need(counts_[knot] >= 0 && counts_[knot] <= 1 / KNOT_FORGETTING + ROUNDING, section,
                 "a knot has a count out of range");
            need(std::fabs(residuals_[knot]) <= counts_[knot] + ROUNDING, section,
                 "a knot has a residual out of range");
        }
        fit_knots();
    }

private:
    static constexpr double KNOT_FORGETTING = 0.005;  // of a knot, an outcome of its own
    static constexpr double FIRST_RATE = 0.5, LAST_RATE = 0.03;
    static constexpr std::size_t SETTLING_ROUNDS = 5;
    static constexpr double PRIOR = 10;  // the regression counts for a knot as this many outcomes
    static constexpr double SMALLEST_VARIANCE = 1e-6;
    static constexpr double ROUNDING = 1e-6;  // sums may miss their bounds by this much

    Inputs standardised(Inputs values) const {
        for (std::size_t i = 0; i < INPUTS; ++i)
            values[i] = (values[i] - means_[i]) / std::sqrt(variances_[i] + SMALLEST_VARIANCE);
        return values;
    }

    double regressed(const Inputs& values) const {
        double sum = weights_[INPUTS];
        for (std::size_t i = 0; i < INPUTS; ++i) sum += weights_[i] * values[i];
        return logistic(sum);
    }

    // A step of the regression against the gradient of its log loss, smaller for large values. The
    // probability never falls with the first two inputs.
    void learn(const Inputs& values, double error, std::uint64_t number) {
        const double rate =
            std::max(LAST_RATE, FIRST_RATE / std::sqrt(static_cast<double>(number)));
        double squares = 1;
        for (const double value : values) squares += value * value;
        const double step = rate * error / (1 + rate * squares / 4);
        for (std::size_t i = 0; i < INPUTS; ++i) weights_[i] += step * values[i];
        weights_[INPUTS] += step;
        for (std::size_t at = 0; at < 2; ++at) weights_[at] = std::max(weights_[at], 0.0);
    }

    struct Interval {
        std::size_t knot;
        double beyond;  // it, as a share of the way to the next
    };

    static Interval interval_of(double probability) {
        const double at = probability * (KNOTS - 1);
        const std::size_t knot = std::min(static_cast<std::size_t>(at), KNOTS - 2);
        return {knot, at - static_cast<double>(knot)};
    }

    double isotonic(double probability) const {
        const auto [knot, beyond] = interval_of(probability);
        return knots_[knot] + (knots_[knot + 1] - knots_[knot]) * beyond;
    }

    void note_at_knots(double probability, bool is_right) {
        const auto [knot, beyond] = interval_of(probability);
        note_at(knot, 1 - beyond, is_right - probability);
        note_at(knot + 1, beyond, is_right - probability);
    }

    void note_at(std::size_t knot, double share, double residual) {
        const double kept = 1 - KNOT_FORGETTING * share;
        counts_[knot] = counts_[knot] * kept + share;
        residuals_[knot] = residuals_[knot] * kept + share * residual;
    }

    // The share of right outcomes at each knot; falling neighbours take their mean (pool
    // adjacent violators).
    void fit_knots() {
        std::array<double, KNOTS> means, weights;
        std::array<std::size_t, KNOTS> sizes;
        std::size_t pools = 0;
        for (std::size_t knot = 0; knot < KNOTS; ++knot, ++pools) {
            const double regressed = static_cast<double>(knot) / (KNOTS - 1);
            weights[pools] = counts_[knot] + PRIOR;
            means[pools] = std::clamp(regressed + residuals_[knot] / weights[pools], 0.0, 1.0);
            sizes[pools] = 1;
            for (; pools > 0 && means[pools - 1] >= means[pools]; --pools) {
                const double both = weights[pools - 1] + weights[pools];
                means[pools - 1] = (means[pools - 1] * weights[pools - 1] +
                                    means[pools] * weights[pools]) / both;
                weights[pools - 1] = both;
                sizes[pools - 1] += sizes[pools];
            }
        }
        double* knot = knots_.data();
        for (std::size_t pool = 0; pool < pools; ++pool)
            knot = std::fill_n(knot, sizes[pool], std::min(means[pool], 1.0));
    }

    Inputs means_{}, variances_{1, 1, 1};
    std::array<double, INPUTS + 1> weights_{};  // the last is the bias
    std::array<double, KNOTS> counts_{};        // outcomes
    std::array<double, KNOTS> residuals_{};     // decayed sums of outcome - regression
    std::array<double, KNOTS> knots_{};         // computed from both
};

}  // namespace manyclass
