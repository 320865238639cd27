// The weights by which the scores of descriptions and of vectors are added to those of a learner,
// learned from the outcomes of events before they were learned.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "snapshot/visitor.hpp"

namespace manyclass {

// Chooses one of some weights by outcomes: for each weight, the share of the first ranks that true
// classes would have had is summed, with decay. The usual weight is used until another one leads by
// more than chance: by a standard deviation of the difference, and a larger weight by `rise` of them.
template <std::size_t COUNT>
class WeightChoice {
public:
    explicit constexpr WeightChoice(std::size_t usual, double rise)
        : usual_(usual), chosen_(usual), rise_(rise) {}

    std::size_t chosen() const { return chosen_; }

    // Take in the shares of an event by weight.
    void judge(const std::array<double, COUNT>& shares) {
        for (std::size_t at = 0; at < COUNT; ++at) {
            const double gain = shares[at] - shares[usual_];
            right_[at] = right_[at] * DECAY + shares[at];
            differs_[at] = differs_[at] * DECAY + gain * gain;
        }
        choose();
    }

    // True before the first outcome.
    bool is_new() const {
        return std::all_of(right_.begin(), right_.end(), [](double sum) { return sum == 0; });
    }

    static constexpr std::size_t NUMBERS = 2 * COUNT;  // of the state

    void dump(double* numbers) const {
        std::copy(right_.begin(), right_.end(), numbers);
        std::copy(differs_.begin(), differs_.end(), numbers + COUNT);
    }
    void load(const double* numbers, const char* section) {
        for (std::size_t at = 0; at < NUMBERS; ++at)
            need(numbers[at] >= 0 && numbers[at] <= MOST_EVENTS, section, "it is not a count");
        std::copy_n(numbers, COUNT, right_.begin());
        std::copy_n(numbers + COUNT, COUNT, differs_.begin());
        choose();
    }

private:
    static constexpr double DECAY = 0.9998, MOST_EVENTS = 5001;  // a sum is at most 1 / (1 - DECAY)

    // Choose the weight of the largest lead, if it leads by more than chance.
    void choose() {
        chosen_ = usual_;
        for (std::size_t at = 0; at < COUNT; ++at)
            if (right_[at] > right_[chosen_] && leads(at)) chosen_ = at;
    }

    bool leads(std::size_t at) const {
        const double deviation = std::sqrt(std::max(differs_[at], 1.0));
        return right_[at] - right_[usual_] >= (at > usual_ ? rise_ : 1.0) * deviation;
    }

    std::size_t usual_, chosen_;
    double rise_;
    std::array<double, COUNT> right_{}, differs_{};
};

// The parts of a score. The weight of words is 1; outcomes choose a factor on those of the others.
enum class Part : std::size_t { words, names, vectors };
constexpr std::size_t PARTS = 3, WEIGHED_PARTS = PARTS - 1;

// Threads: any may read the weights and spreads in use; the thread that learns makes other calls.
class Mixture {
public:
    static constexpr std::array<double, 7> FACTORS{0, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 1, 2};
    static constexpr std::size_t USUAL = 5;

    // Return the factor on the usual weight of a part other than words.
    double factor(Part part) const { return FACTORS[in_force_[weighed(part)]]; }

    // Return the usual spread of the scores of a part; 0 before the first event.
    double spread(Part part) const { return spreads_[at(part)]; }

    // Return the weight of a part other than words before any outcome, by the mean number of labels of
    // a class.
    static double usual_weight(Part part, double labels) {
        if (part == Part::names) return MOST_OF_NAMES / std::max(1.0, labels);
        return std::clamp(OF_VECTORS / std::sqrt(std::max(labels, 1.0)), 1.0, MOST_OF_VECTORS);
    }

    // Take in the shares of first ranks that an event would have had by each factor.
    void judge(Part part, const std::array<double, FACTORS.size()>& shares) {
        Choice& choice = choices_[weighed(part)];
        choice.judge(shares);
        in_force_[weighed(part)] = choice.chosen();
    }

    // Take in the spread of the scores of an event.
    void note_spread(Part part, double spread) {
        if (!(spread > 0)) return;
        spread = std::min(spread, LARGEST_SPREAD);
        const double events = ++events_[at(part)], before = spreads_[at(part)];
        spreads_[at(part)] = before + (spread - before) * std::max(1 / events, LEAST_STEP);
    }

    // --- state ---------------------------------------------------------------------------------

    using Choice = WeightChoice<FACTORS.size()>;
    static constexpr std::size_t NUMBERS = 2 * PARTS + WEIGHED_PARTS * Choice::NUMBERS;

    bool is_new() const {
        return std::all_of(events_.begin(), events_.end(), [](double count) { return count == 0; }) &&
               std::all_of(choices_.begin(), choices_.end(),
                           [](const Choice& each) { return each.is_new(); });
    }
    // The spread of each part with its events, then the choices.
    void dump(double* numbers) const {
        for (std::size_t at = 0; at < PARTS; ++at) {
            *numbers++ = spreads_[at];
            *numbers++ = events_[at];
        }
        for (const Choice& each : choices_) {
            each.dump(numbers);
            numbers += Choice::NUMBERS;
        }
    }
    void load(const double* numbers) {
        for (std::size_t at = 0; at < PARTS; ++at) {
            const double spread = *numbers++, events = *numbers++;
            need(spread >= 0 && spread <= LARGEST_SPREAD, "mixture", "it is not a spread");
            need(events >= 0 && events <= static_cast<double>(LARGEST_COUNT) &&
                     events == std::floor(events),
                 "mixture", "it is not a count");
            spreads_[at] = spread;
            events_[at] = events;
        }
        for (std::size_t at = 0; at < WEIGHED_PARTS; ++at, numbers += Choice::NUMBERS) {
            choices_[at].load(numbers, "mixture");
            in_force_[at] = choices_[at].chosen();
        }
    }

private:
    static constexpr double MOST_OF_VECTORS = 8, OF_VECTORS = 16, MOST_OF_NAMES = 1.5;
    static constexpr double RISE = 2, LEAST_STEP = 0.01, LARGEST_SPREAD = 1e60;

    static constexpr std::size_t at(Part part) { return static_cast<std::size_t>(part); }

    static constexpr std::size_t weighed(Part part) { return at(part) - 1; }

    std::array<Choice, WEIGHED_PARTS> choices_{Choice(USUAL, RISE), Choice(USUAL, RISE)};
    std::array<std::atomic<std::size_t>, WEIGHED_PARTS> in_force_{USUAL, USUAL};
    std::array<std::atomic<double>, PARTS> spreads_{0.0, 0.0, 0.0};
    std::array<double, PARTS> events_{};  // with a spread
};

}  // namespace manyclass
