// Calibration of a learner's first class: a map from the scores of the two best classes to the
// probability that the first is right, learned online.
//
//   two scores -> three scale-free inputs -> logistic regression -> monotone knots -> probability
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

#include "pipeline/ranking.hpp"
#include "math/elementary.hpp"
#include "pipeline/reader_slots.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

constexpr std::uint64_t FEWEST_OUTCOMES = 100;  // before the first probability
constexpr std::size_t OUTCOMES_KEPT = 10'000;   // to measure the calibration
constexpr std::size_t RELIABILITY_BINS = 10;

// A bin of equal width: the outcomes whose confidence fell into it.
struct Reliability {
    std::uint64_t count = 0;
    double confidence = 0, right = 0;  // sums
};

// Threads: any number may ask for a confidence at once; a change waits for them. One at a time
// calls the other methods.
class Calibration {
public:
    static constexpr std::size_t INPUTS = 3, KNOTS = 21;
    static constexpr std::size_t NUMBERS = 1 + 2 * INPUTS + (INPUTS + 1) + 2 * KNOTS;

    std::uint64_t outcomes() const { return outcomes_; }
    std::uint64_t kept() const { return confidences_.size(); }

    // The probability that the first class is right; negative after too few outcomes, and for an
    // empty ranking.
    double confidence(const TopTwoScores& scores) const {
        const Reading lock(lock_);
        return confidence_now(scores);
    }

    // Add the outcome of a ranking; an empty ranking has no effect.
    void add(const TopTwoScores& scores, bool is_right) {
        if (scores.first == 0) return;
        const Writing lock(lock_);
        if (const double before = confidence_now(scores); before >= 0) keep(before, is_right);
        ++outcomes_;
        const double share = std::max(FORGETTING, 1 / static_cast<double>(outcomes_));
        scale_ += (std::fabs(within_reason(scores.first)) - scale_) * share;
        const Inputs given = inputs(scores);
        const Inputs values = standardised(given);
        const double probability = regressed(values);
        note_at_knots(probability, is_right);
        learn(values, is_right - probability);
        for (std::size_t i = 0; i < INPUTS; ++i) {
            const double away = given[i] - means_[i];
            means_[i] += away * share;
            if (outcomes_ > 1) variances_[i] += (away * away - variances_[i]) * share;
        }
        fit_knots();
    }

    // Fit regression and knots to outcomes of a learner that has hardly changed between them. All
    // count alike: `add` follows changes, at the price of noise from its last outcomes. The kept
    // outcomes and the inputs' scales stay.
    void settle(const TopTwoScores* scores, const std::uint8_t* rights, std::size_t count) {
        const Writing lock(lock_);
        std::vector<std::pair<Inputs, bool>> outcomes;
        for (std::size_t i = 0; i < count; ++i)
            if (scores[i].first != 0)
                outcomes.emplace_back(standardised(inputs(scores[i])), rights[i] != 0);
        if (outcomes.empty() || outcomes_ == 0) return;
        // The mean over all steps has little of their noise (Polyak and Juditsky 1992).
        std::array<double, INPUTS + 1> sums{};
        for (std::size_t round = 0; round < SETTLING_ROUNDS; ++round) {
            for (const auto& [values, is_right] : outcomes) {
                learn(values, is_right - regressed(values));
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

    // The kept outcomes, by their confidence.
    std::array<Reliability, RELIABILITY_BINS> reliability() const {
        std::array<Reliability, RELIABILITY_BINS> bins{};
        for (std::size_t i = 0; i < confidences_.size(); ++i) {
            const std::size_t at = index_of_kept(i);
            const auto confidence = static_cast<double>(confidences_[at]);
            const auto bin = static_cast<std::size_t>(confidence * RELIABILITY_BINS);
            Reliability& it = bins[std::min(bin, RELIABILITY_BINS - 1)];
            ++it.count;
            it.confidence += confidence;
            it.right += rights_[at];
        }
        return bins;
    }

    // The mean square of the residuals, over the kept outcomes; 0 without any.
    double brier() const {
        double sum = 0;
        for (std::size_t i = 0; i < confidences_.size(); ++i) {
            const std::size_t at = index_of_kept(i);
            const double residual = rights_[at] - static_cast<double>(confidences_[at]);
            sum += residual * residual;
        }
        return confidences_.empty() ? 0 : sum / static_cast<double>(confidences_.size());
    }

    // --- state ---------------------------------------------------------------------------------

    // Copy the state into NUMBERS numbers, and as many confidences and outcomes as are kept, oldest
    // first.
    void dump(double* numbers, float* confidences, std::uint8_t* rights) const {
        each_number(*this, [&](double number) { *numbers++ = number; });
        for (std::size_t i = 0; i < confidences_.size(); ++i) {
            const std::size_t at = index_of_kept(i);
            confidences[i] = confidences_[at];
            rights[i] = rights_[at];
        }
    }

    // Load a dumped state; throw std::invalid_argument "section: fault" if no outcomes can lead to
    // it.
    void load(std::uint64_t outcomes, const double* numbers, std::size_t kept,
              const float* confidences, const std::uint8_t* rights) {
        need(outcomes <= LARGEST_COUNT, "calibration_outcomes", "no count can be so large");
        const std::uint64_t judged = outcomes - std::min(outcomes, FEWEST_OUTCOMES);
        need(kept == std::min<std::uint64_t>(judged, OUTCOMES_KEPT), "calibration_confidences",
             "the confidences kept do not match the outcomes");
        for (std::size_t i = 0; i < kept; ++i) {
            need(confidences[i] >= 0 && confidences[i] <= 1, "calibration_confidences",
                 "a confidence kept is not between 0 and 1");
            need(rights[i] <= 1, "calibration_right", "an outcome is neither right nor wrong");
        }
        outcomes_ = outcomes;
        each_number(*this, [&](double& number) { number = *numbers++; });
        check_numbers();
        confidences_.assign(confidences, confidences + kept);
        rights_.assign(rights, rights + kept);
        fit_knots();
    }

private:
    double confidence_now(const TopTwoScores& scores) const {
        if (outcomes_ < FEWEST_OUTCOMES || scores.first == 0) return -1;
        return isotonic(regressed(standardised(inputs(scores))));
    }

    // Visit the NUMBERS numbers of the state.
    template <class Self, class F>
    static void each_number(Self& self, F&& visit) {
        visit(self.scale_);
        for (auto& each : self.means_) visit(each);
        for (auto& each : self.variances_) visit(each);
        for (auto& each : self.weights_) visit(each);
        for (auto& each : self.counts_) visit(each);
        for (auto& each : self.residuals_) visit(each);
    }

    // Inputs are between -1 and 1, so means, variances and residuals are bounded; a step of the
    // regression moves no weight by more than 1. The comparisons are false for NaN.
    void check_numbers() const {
        constexpr const char* SECTION = "calibration_numbers";
        need(scale_ >= 0 && scale_ <= LARGEST_SCORE, SECTION, "the scale is out of range");
        for (std::size_t i = 0; i < INPUTS; ++i) {
            need(std::fabs(means_[i]) <= 1, SECTION, "a mean is out of range");
            need(variances_[i] >= 0 && variances_[i] <= 4, SECTION, "a variance is out of range");
        }
        const double largest_weight = 1 + static_cast<double>(outcomes_);
        for (const double weight : weights_)
            need(std::fabs(weight) <= largest_weight, SECTION, "a weight is out of range");
        for (std::size_t at = 0; at < 2; ++at)
            need(weights_[at] >= 0, SECTION, "a weight of a lead is negative");
        for (std::size_t knot = 0; knot < KNOTS; ++knot) {
            need(counts_[knot] >= 0 && counts_[knot] <= 1 / KNOT_FORGETTING + ROUNDING, SECTION,
                 "a knot has a count out of range");
            need(std::fabs(residuals_[knot]) <= counts_[knot] + ROUNDING, SECTION,
                 "a knot has a residual out of range");
        }
    }

    using Inputs = std::array<double, INPUTS>;

    static constexpr double FORGETTING = 0.001;      // of scale, means and variances, an outcome
    static constexpr double KNOT_FORGETTING = 0.005;  // of a knot, an outcome of its own
    static constexpr double FIRST_RATE = 0.5, LAST_RATE = 0.03;
    static constexpr std::size_t SETTLING_ROUNDS = 5;
    static constexpr double PRIOR = 10;  // the regression counts for a knot as this many outcomes
    static constexpr double SMALLEST_VARIANCE = 1e-6;

    static constexpr double LARGEST_SCORE = 1e150;  // larger scores count as this
    static constexpr double ROUNDING = 1e-6;  // sums may miss their bounds by this much

    // Differences of scores must be finite.
    static double within_reason(double score) {
        return std::clamp(score, -LARGEST_SCORE, LARGEST_SCORE);
    }

    static double squashed(double x) { return x / (1 + std::fabs(x)); }

    // Of the scores: the lead by the usual size of a first score, the lead by their own size, and
    // the first by the usual size; each between -1 and 1.
    Inputs inputs(const TopTwoScores& scores) const {
        const double first = within_reason(scores.first), second = within_reason(scores.second);
        const double usual = std::max(scale_, 1e-150);
        const double sizes = std::max(std::fabs(first) + std::fabs(second), 1e-150);
        return {squashed((first - second) / usual), (first - second) / sizes,
                squashed(first / usual)};
    }

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
    // probability never falls with the lead.
    void learn(const Inputs& values, double error) {
        const double rate =
            std::max(LAST_RATE, FIRST_RATE / std::sqrt(static_cast<double>(outcomes_)));
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

    // Oldest first: sums in another order would differ in the last bits.
    std::size_t index_of_kept(std::size_t i) const { return (oldest_ + i) % confidences_.size(); }

    void keep(double confidence, bool is_right) {
        if (confidences_.size() < OUTCOMES_KEPT) {
            confidences_.push_back(static_cast<float>(confidence));
            rights_.push_back(is_right);
            return;
        }
        confidences_[oldest_] = static_cast<float>(confidence);
        rights_[oldest_] = is_right;
        oldest_ = (oldest_ + 1) % OUTCOMES_KEPT;
    }

    std::uint64_t outcomes_ = 0;
    double scale_ = 0;  // the usual size of a first score
    Inputs means_{}, variances_{1, 1, 1};
    std::array<double, INPUTS + 1> weights_{};  // the last is the bias
    std::array<double, KNOTS> counts_{};     // outcomes
    std::array<double, KNOTS> residuals_{};  // decayed sums of outcome - regression
    std::array<double, KNOTS> knots_{};      // computed from both
    std::vector<float> confidences_;         // of the last outcomes, a ring
    mutable ReaderSlots lock_;
    std::vector<std::uint8_t> rights_;
    std::size_t oldest_ = 0;
};

}  // namespace manyclass
