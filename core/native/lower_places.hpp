// Probabilities of the classes ranked second and lower: at each place a map from the scores of the
// first class and of the class there to the probability that this class is true, learned online.
// An event with several classes has true ones at several places.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "probability_map.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

// Threads: one at a time; any number may call const functions at once.
class LowerPlaces {
public:
    static constexpr std::size_t FIRST = 2, LAST = 10;  // later ones are as LAST
    static constexpr std::size_t MAPS = LAST - FIRST + 1;
    static constexpr std::size_t NUMBERS = MAPS * (1 + ProbabilityMap::NUMBERS);

    // The probability that the class at a place is true; negative after too few outcomes there.
    double probability(std::size_t place, const ProbabilityInputs& inputs) const {
        const std::size_t at = std::min(place, LAST) - FIRST;
        return outcomes_[at] < static_cast<double>(FEWEST_OUTCOMES) ? -1 : maps_[at].of(inputs);
    }

    void add(std::size_t place, const ProbabilityInputs& inputs, bool is_true) {
        const std::size_t at = place - FIRST;
        maps_[at].add(inputs, is_true, static_cast<std::uint64_t>(++outcomes_[at]));
    }

    // --- state ---------------------------------------------------------------------------------

    // Visit the NUMBERS numbers of the state. After a change, call `loaded`.
    template <class Self, class F>
    static void each_number(Self& self, F&& visit) {
        for (std::size_t at = 0; at < MAPS; ++at) {
            visit(self.outcomes_[at]);
            ProbabilityMap::each_number(self.maps_[at], visit);
        }
    }

    // Throw std::invalid_argument "section: fault" if no rankings, of which so many had a class, can
    // lead to the numbers.
    void loaded(std::uint64_t rankings, const char* section) {
        auto most = static_cast<double>(rankings);
        for (std::size_t at = 0; at < MAPS; ++at) {
            need(outcomes_[at] >= 0 && outcomes_[at] == std::floor(outcomes_[at]), section,
                 "the outcomes of a place are no count");
            need(outcomes_[at] <= most, section, "a place has more outcomes than the one above it");
            most = outcomes_[at];
            maps_[at].loaded(static_cast<std::uint64_t>(outcomes_[at]), section);
        }
    }

private:
    std::array<double, MAPS> outcomes_{};  // whole numbers
    std::array<ProbabilityMap, MAPS> maps_;
};

}  // namespace manyclass
