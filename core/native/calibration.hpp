// Calibration of a learner: the probability that the class ranked first is right, which is the
// confidence, and the probability of each class below it, learned online.
//
//   two scores -> three scale-free inputs -> probability_map.hpp, of each place -> probability
//
// The last outcomes are kept, each with the confidence before it, and give the limits of confidence
// for a wanted accuracy; the last rankings, with their probabilities, give the limits of probability
// for a wanted precision (operating_points.hpp).
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
#include "kept_places.hpp"
#include "lower_places.hpp"
#include "operating_points.hpp"
#include "pipeline/ranking.hpp"
#include "pipeline/reader_slots.hpp"
#include "probability_map.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

constexpr std::size_t NEWEST_OUTCOMES = 10'000;  // measure the calibration, and give the limits
constexpr std::size_t RELIABILITY_BINS = 10;

// A bin of equal width: the outcomes whose confidence fell into it.
struct Reliability {
    std::uint64_t count = 0;
    double confidence = 0, right = 0;  // sums
};

// Threads: any number may ask for probabilities, limits and measures at once; a change waits for them.
// One at a time makes changes, and reads the state and its sizes.
class Calibration {
public:
    static constexpr std::size_t NUMBERS = 1 + ProbabilityMap::NUMBERS;
    static constexpr std::uint32_t PLACES = LowerPlaces::LAST;

    // The seed salts the table of names and has no effect on the state.
    explicit Calibration(std::uint64_t hash_seed = 0) : kept_(hash_seed) {}

    std::uint64_t outcomes() const { return outcomes_; }
    const KeptOutcomes& kept() const { return kept_; }
    const KeptPlaces& places() const { return places_; }

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

    // Set the probability of each class of a ranking, best first, negative where it is unknown: that
    // of the first is the confidence, and none is larger than the one before it.
    void probabilities(const Ranked* best, std::size_t count, std::vector<double>& found) const {
        const Reading lock(lock_);
        find_probabilities(best, count, found);
    }

    // The least limit of probability above which the classes of the newest rankings were right at
    // least this often; above 1 if there is none. It is found anew now and then, see PLACES_REFRESHED.
    double probability_limit_for(double precision) const {
        const Reading lock(lock_);
        return probability_limits_.of(precision);
    }

    // Add the outcome of a ranking with the name of its first class and the source of the event,
    // empty without one. An empty ranking is kept, and teaches nothing.
    void add(const TopTwoScores& scores, bool is_right, std::string_view cls = {},
             std::string_view source = {}) {
        const Writing lock(lock_);
        add_first(scores, is_right, cls, source);
    }

    // The number of classes of the next ranking that `add` reads: of all places at first, then for
    // every fourth ranking, then for every sixteenth, since they take longer than the rest. The
    // rankings are spread by Weyl's sequence, so that a rhythm of the events changes nothing.
    std::uint32_t depth() const {
        constexpr std::uint64_t ALL = 1'000, MANY = 10'000, GOLDEN = 0x9e3779b97f4a7c15u;
        const std::uint64_t every = outcomes_ < ALL ? 1 : outcomes_ < MANY ? 4 : 16;
        return (outcomes_ * GOLDEN >> 32) % every == 0 ? PLACES : 1;
    }

    // Add the outcome of a ranking of at least `depth` classes, as above, and of its lower places. The
    // event had so many true classes.
    void add(const TopTwoScores& scores, const RankingBefore& before, std::size_t true_classes,
             std::string_view source) {
        const Writing lock(lock_);
        const bool has_places = depth() == PLACES;
        if (has_places) keep_places(before, true_classes);
        add_first(scores, before.is_first_true(), before.first, source);
        if (!has_places || scores.first == 0) return;
        for (std::size_t at = 1; at < std::min<std::size_t>(before.best.size(), PLACES); ++at)
            lower_.add(at + 1, lower_inputs(before.best[0].score, before.best[at].score),
                       before.are_true[at] != 0);
    }

    // Fit the confidence to outcomes of a learner that has hardly changed between them, see
    // ProbabilityMap::settle. The kept outcomes and the inputs' scales stay.
    void settle(const TopTwoScores* scores, const std::uint8_t* rights, std::size_t count) {
        const Writing lock(lock_);
        std::vector<std::pair<ProbabilityInputs, bool>> outcomes;
        for (std::size_t i = 0; i < count; ++i)
            if (scores[i].first != 0) outcomes.emplace_back(inputs(scores[i]), rights[i] != 0);
        if (outcomes.empty() || outcomes_ == 0) return;
        first_.settle(outcomes, outcomes_);
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

    // Read the points of `min_probability` over the kept rankings.
    ProbabilityCurve probability_curve() const {
        const Reading lock(lock_);
        return places_.curve(0, places_.size());
    }

    // The newest outcomes with a class, by their confidence.
    std::array<Reliability, RELIABILITY_BINS> reliability() const {
        const Reading lock(lock_);
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
        const Reading lock(lock_);
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

    // The arrays of a dump: NUMBERS numbers, LowerPlaces::NUMBERS of the lower places, and arrays of
    // the sizes of the kept outcomes and rankings.
    struct Arrays {
        double* numbers;
        double* lower;
        KeptOutcomes::Arrays kept;
        KeptPlaces::Arrays places;
    };

    // The numbers of rankings learned, and of outcomes and rankings ever kept.
    struct Counts {
        std::uint64_t outcomes, added, places;
    };

    Counts counts() const { return {outcomes_, kept_.added(), places_.added()}; }

    void dump(const Arrays& to) const {
        double *number = to.numbers, *lower = to.lower;
        each_number(*this, [&](double each) { *number++ = each; });
        LowerPlaces::each_number(lower_, [&](double each) { *lower++ = each; });
        kept_.dump(to.kept);
        places_.dump(to.places);
    }

    // Load a dumped state; throw std::invalid_argument "section: fault" if no outcomes can lead to
    // it.
    void load(const Counts& counts, const KeptOutcomes::Sizes& sizes, std::size_t places,
              const Arrays& from) {
        const auto [outcomes, added, places_added] = counts;
        need(outcomes <= LARGEST_COUNT, "calibration_outcomes", "no count can be so large");
        need(outcomes >= FEWEST_OUTCOMES ? added >= outcomes - FEWEST_OUTCOMES : added == 0,
             "calibration_outcomes", "not as many outcomes are kept as there were");
        need(places_added <= added, "calibration_outcomes",
             "more rankings are kept than there were outcomes");
        kept_.load(added, sizes, from.kept);
        places_.load(places_added, places, from.places);
        outcomes_ = outcomes;
        const double *number = from.numbers, *lower = from.lower;
        each_number(*this, [&](double& each) { each = *number++; });
        need(scale_ >= 0 && scale_ <= LARGEST_SCORE, "calibration_numbers",
             "the scale is out of range");
        first_.loaded(outcomes_, "calibration_numbers");
        LowerPlaces::each_number(lower_, [&](double& each) { each = *lower++; });
        lower_.loaded(outcomes_, "calibration_lower");
        find_limits();
        find_probability_limits();
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
        constexpr std::uint64_t FIRST = 2'000, OFTEN = 20, SELDOM = 200;
        return added % (added < FIRST ? OFTEN : SELDOM);
    }

    // The limits of probability are found with every hundredth ranking that is kept: later on, few are.
    static constexpr std::uint64_t PLACES_REFRESHED = 100;

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

    void find_probability_limits() {
        const auto since =
            std::min<std::uint64_t>(places_.added() % PLACES_REFRESHED, places_.size());
        // Rankings that may have left since the refresh do not count, so that a loaded state has the
        // limits of the dumped one.
        const std::size_t end = places_.size() - since;
        const std::size_t begin = end - std::min(end, KeptPlaces::MOST - PLACES_REFRESHED);
        std::vector<OperatingPoint> points;
        for (const ProbabilityPoint& each : places_.curve(begin, end).points)
            points.push_back({each.limit, each.classes, each.right});
        probability_limits_ = LeastLimits(points);
    }

    double confidence_now(const TopTwoScores& scores) const {
        if (outcomes_ < FEWEST_OUTCOMES || scores.first == 0) return -1;
        return first_.of(inputs(scores));
    }

    void find_probabilities(const Ranked* best, std::size_t count,
                            std::vector<double>& found) const {
        found.clear();
        if (count == 0) return;
        found.push_back(confidence_now(top_two_of(best, count)));
        for (std::size_t at = 1; at < count; ++at) {
            const double above = found.back();
            if (above < 0) {
                found.resize(count, -1);
                return;
            }
            const double own =
                lower_.probability(at + 1, lower_inputs(best[0].score, best[at].score));
            found.push_back(std::min(own, above));
        }
    }

    void keep_places(const RankingBefore& before, std::size_t true_classes) {
        if (outcomes_ < FEWEST_OUTCOMES) return;
        const std::size_t count = std::min<std::size_t>(before.best.size(), PLACES);
        find_probabilities(before.best.data(), count, scratch_);
        std::uint16_t are_true = 0;
        for (std::size_t at = 0; at < count; ++at)
            are_true = static_cast<std::uint16_t>(are_true | (before.are_true[at] != 0) << at);
        places_.add(scratch_, are_true, true_classes);
        if (places_.added() % PLACES_REFRESHED == 0) find_probability_limits();
    }

    void add_first(const TopTwoScores& scores, bool is_right, std::string_view cls,
                   std::string_view source) {
        if (outcomes_ >= FEWEST_OUTCOMES) {
            kept_.add(confidence_now(scores), is_right && scores.first != 0, cls, source);
            if (since_refresh(kept_.added()) == 0) find_limits();
        }
        if (scores.first == 0) return;
        ++outcomes_;
        const double share = std::max(ProbabilityMap::FORGETTING, 1 / static_cast<double>(outcomes_));
        scale_ += (std::fabs(within_reason(scores.first)) - scale_) * share;
        first_.add(inputs(scores), is_right, outcomes_);
    }

    // Visit the NUMBERS numbers of the state.
    template <class Self, class F>
    static void each_number(Self& self, F&& visit) {
        visit(self.scale_);
        ProbabilityMap::each_number(self.first_, visit);
    }

    static constexpr double LARGEST_SCORE = 1e150;  // larger scores count as this

    // Differences of scores must be finite.
    static double within_reason(double score) {
        return std::clamp(score, -LARGEST_SCORE, LARGEST_SCORE);
    }

    static double squashed(double x) { return x / (1 + std::fabs(x)); }

    // Of the scores: the lead by the usual size of a first score, the lead by their own size, and
    // the first by the usual size; each between -1 and 1.
    ProbabilityInputs inputs(const TopTwoScores& scores) const {
        const double first = within_reason(scores.first), second = within_reason(scores.second);
        const double usual = std::max(scale_, 1e-150);
        const double sizes = std::max(std::fabs(first) + std::fabs(second), 1e-150);
        return {squashed((first - second) / usual), (first - second) / sizes,
                squashed(first / usual)};
    }

    // Of a class below the first: as above, with a lead that is negative.
    ProbabilityInputs lower_inputs(double first, double score) const {
        return inputs({score, first});
    }

    std::uint64_t outcomes_ = 0;
    double scale_ = 0;  // the usual size of a first score
    ProbabilityMap first_;
    LowerPlaces lower_;
    KeptOutcomes kept_;
    KeptPlaces places_;
    LeastLimits limits_, probability_limits_;  // computed from them
    std::vector<double> scratch_;              // of a change
    mutable ReaderSlots lock_;
};

}  // namespace manyclass
