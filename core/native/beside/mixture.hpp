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
// more than chance.
template <std::size_t COUNT>
class WeightChoice {
public:
    explicit constexpr WeightChoice(std::size_t usual) : usual_(usual), chosen_(usual) {}

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
    double right(std::size_t at) const { return right_[at]; }

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

    // Choose the first of the best weights, if it leads by a standard deviation of the difference.
    void choose() {
        chosen_ = usual_;
        for (std::size_t at = 0; at < COUNT; ++at)
            if (right_[at] > right_[chosen_]) chosen_ = at;
        const double lead = right_[chosen_] - right_[usual_];
        if (lead < std::sqrt(std::max(differs_[chosen_], 1.0))) chosen_ = usual_;
    }

    std::size_t usual_, chosen_;
    std::array<double, COUNT> right_{}, differs_{};
};

// The parts beside the words of a learner.
enum class Part : std::size_t { names, vectors };
constexpr std::size_t PARTS = 2;

// Threads: any may read the weights in use; other calls are made by the thread that learns.
class Mixture {
public:
    static constexpr std::array<double, 6> FACTORS{0, 0.25, 0.5, 1, 2, 4};
    static constexpr std::size_t USUAL = 3;

    // Return the factor on the usual weight of a part. Any thread may ask.
    double factor(Part part) const { return FACTORS[in_force_[static_cast<std::size_t>(part)]]; }

    // The weight before any outcome.
    static double usual_weight(Part part, double labels_of_class) {
        if (part == Part::vectors)
            return MOST_OF_VECTORS -
                   (MOST_OF_VECTORS - LEAST_OF_VECTORS) *
                       std::min(1.0, labels_of_class / MANY_LABELS);
        return MOST_OF_NAMES / (1 + labels_of_class);
    }

    void judge(Part part, const std::array<double, FACTORS.size()>& shares) {
        Choice& choice = choices_[static_cast<std::size_t>(part)];
        choice.judge(shares);
        in_force_[static_cast<std::size_t>(part)] = choice.chosen();
    }

    // --- state ---------------------------------------------------------------------------------

    using Choice = WeightChoice<FACTORS.size()>;
    static constexpr std::size_t NUMBERS = PARTS * Choice::NUMBERS;

    bool is_new() const {
        return std::all_of(choices_.begin(), choices_.end(),
                           [](const Choice& each) { return each.is_new(); });
    }
    void dump(double* numbers) const {
        for (std::size_t at = 0; at < PARTS; ++at) choices_[at].dump(numbers + at * Choice::NUMBERS);
    }
    void load(const double* numbers) {
        for (std::size_t at = 0; at < PARTS; ++at) {
            choices_[at].load(numbers + at * Choice::NUMBERS, "mixture");
            in_force_[at] = choices_[at].chosen();
        }
    }

private:
    static constexpr double MOST_OF_VECTORS = 8, LEAST_OF_VECTORS = 3, MANY_LABELS = 60;
    static constexpr double MOST_OF_NAMES = 1;

    std::array<Choice, PARTS> choices_{Choice(USUAL), Choice(USUAL)};
    std::array<std::atomic<std::size_t>, PARTS> in_force_{USUAL, USUAL};  // as rankings read them
};

}  // namespace manyclass
