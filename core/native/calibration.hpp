// Calibration of a learner's first class: a map from the scores of the two best classes to the
// probability that the first is right, learned online.
//
//   two scores -> three scale-free inputs -> logistic regression -> monotone knots -> probability
//
// The regression fits the shape within a few hundred outcomes (Platt 1999, learned online). The
// knots correct its residuals, each from its own recent outcomes; falling neighbours are pooled
// (isotonic regression; Zadrozny and Elkan 2002). Both decay old outcomes, because a learner
// improves and its scores grow, so that the meaning of a score changes.
//
// The last outcomes are kept, each with the confidence before it, and give the limits of confidence
// for a wanted accuracy (operating_points.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kept_outcomes.hpp"
#include "operating_points.hpp"
#include "pipeline/ranking.hpp"
#include "math/elementary.hpp"
#include "pipeline/reader_slots.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

constexpr std::uint64_t FEWEST_OUTCOMES = 100;  // before the first probability
constexpr std::size_t NEWEST_OUTCOMES = 10'000;  // measure the calibration, and give the limits
constexpr std::size_t RELIABILITY_BINS = 10;

// A bin of equal width: the outcomes whose confidence fell into it.
struct Reliability {
    std::uint64_t count = 0;
    double confidence = 0, right = 0;  // sums
};

// Threads: any number may ask for a confidence or a limit at once; a change waits for them. One at a
// time calls the other methods.
class Calibration {
public:
    static constexpr std::size_t INPUTS = 3, KNOTS = 21;
    static constexpr std::size_t NUMBERS = 1 + 2 * INPUTS + (INPUTS + 1) + 2 * KNOTS;

    // The seed salts the table of names and has no effect on the state.
    explicit Calibration(std::uint64_t hash_seed = 0) : kept_(hash_seed) {}

    std::uint64_t outcomes() const { return outcomes_; }
    const KeptOutcomes& kept() const { return kept_; }

    // The probability that the first class is right; negative after too few outcomes, and for an
    // empty ranking.
    double confidence(const TopTwoScores& scores) const {
        const Reading lock(lock_);
        return confidence_now(scores);
    }

    // The least limit of confidence whose answers were right at least this often among the newest
    // outcomes; above 1 if no limit's were. It is found anew now and then, see since_refresh.
    double limit_for(double accuracy) const {
        const Reading lock(lock_);
        return limits_.of(accuracy);
    }

    // Add the outcome of a ranking with the name of its first class and the source of the event,
    // empty without one. An empty ranking is kept, and teaches nothing.
    void add(const TopTwoScores& scores, bool is_right, std::string_view cls = {},
             std::string_view source = {}) {
        const Writing lock(lock_);
        if (outcomes_ >= FEWEST_OUTCOMES) {
            kept_.add(confidence_now(scores), is_right && scores.first != 0, cls, source);
            if (since_refresh(kept_.added()) == 0) find_limits();
        }
        if (scores.first == 0) return;
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

    // Remove the name of a class from the kept outcomes.
    void forget_class(std::string_view name) {
        const Writing lock(lock_);
        kept_.forget_class(name);
    }

    // Call the function with the kept outcomes; a change waits meanwhile.
    template <class F>
    void read_kept(F&& read) const {
        const Reading lock(lock_);
        read(kept_);
    }

    // The newest outcomes with a class, by their confidence.
    std::array<Reliability, RELIABILITY_BINS> reliability() const {
        std::array<Reliability, RELIABILITY_BINS> bins{};
        each_newest([&](const KeptOutcome& each) {
            const auto confidence = static_cast<double>(each.confidence);
            const auto bin = static_cast<std::size_t>(confidence * RELIABILITY_BINS);
            Reliability& it = bins[std::min(bin, RELIABILITY_BINS - 1)];
            ++it.count;
            it.confidence += confidence;
            it.right += each.is_right;
        });
        return bins;
    }

    // The mean square of the residuals, over the newest outcomes with a class; below 0 without any.
    double brier() const {
        double sum = 0;
        std::size_t count = 0;
        each_newest([&](const KeptOutcome& each) {
            const double residual = each.is_right - static_cast<double>(each.confidence);
            sum += residual * residual;
            ++count;
        });
        return count == 0 ? -1 : sum / static_cast<double>(count);
    }

    // --- state ---------------------------------------------------------------------------------

    // Copy the state into NUMBERS numbers, and into arrays of the sizes of the kept outcomes.
    void dump(double* numbers, const KeptOutcomes::Arrays& kept) const {
        each_number(*this, [&](double number) { *numbers++ = number; });
        kept_.dump(kept);
    }

    // Load a dumped state; throw std::invalid_argument "section: fault" if no outcomes can lead to
    // it. `added` is the number of outcomes that were ever kept.
    void load(std::uint64_t outcomes, std::uint64_t added, const double* numbers,
              const KeptOutcomes::Sizes& sizes, const KeptOutcomes::Arrays& kept) {
        need(outcomes <= LARGEST_COUNT, "calibration_outcomes", "no count can be so large");
        need(outcomes >= FEWEST_OUTCOMES ? added >= outcomes - FEWEST_OUTCOMES : added == 0,
             "calibration_outcomes", "not as many outcomes are kept as there were");
        kept_.load(added, sizes, kept);
        outcomes_ = outcomes;
        each_number(*this, [&](double& number) { number = *numbers++; });
        check_numbers();
        fit_knots();
        find_limits();
    }

private:
    // Call the function with the newest outcomes that have a class, oldest first: sums in another
    // order would differ in the last bits.
    template <class F>
    void each_newest(F&& visit) const {
        const std::size_t count = kept_.size();
        for (std::size_t at = count - std::min(count, NEWEST_OUTCOMES); at < count; ++at)
            if (kept_[at].confidence >= 0) visit(kept_[at]);
    }

    // The outcomes since the limits were found, of so many that were ever kept: they are found with
    // every hundredth outcome, later with every five hundredth.
    static std::uint64_t since_refresh(std::uint64_t added) {
        constexpr std::uint64_t FIRST = 2'000, OFTEN = 100, SELDOM = 500;
        return added % (added < FIRST ? OFTEN : SELDOM);
    }

    // Find the limits by the newest outcomes up to the last refresh: a loaded state has the limits
    // that the dumped one had.
    void find_limits() {
        const auto since = std::min<std::uint64_t>(since_refresh(kept_.added()), kept_.size());
        const std::size_t end = kept_.size() - since;
        LimitCounts counts;
        for (std::size_t at = end - std::min(end, NEWEST_OUTCOMES); at < end; ++at)
            counts.add(kept_[at].confidence, kept_[at].is_right);
        std::vector<OperatingPoint> points;
        counts.take_points(points);
        limits_ = LeastLimits(points);
    }

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

    std::uint64_t outcomes_ = 0;
    double scale_ = 0;  // the usual size of a first score
    Inputs means_{}, variances_{1, 1, 1};
    std::array<double, INPUTS + 1> weights_{};  // the last is the bias
    std::array<double, KNOTS> counts_{};     // outcomes
    std::array<double, KNOTS> residuals_{};  // decayed sums of outcome - regression
    std::array<double, KNOTS> knots_{};      // computed from both
    KeptOutcomes kept_;
    LeastLimits limits_;                     // computed from them
    mutable ReaderSlots lock_;
};

}  // namespace manyclass
