// Results of ranking and of learning one example.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace manyclass {

struct Ranked {
    double score;
    std::uint32_t cls;
};

// The rankings of several instances, end to end, and the names of all their classes: size u32 and bytes.
struct RankedBlock {
    std::vector<Ranked> ranked;
    std::vector<std::uint32_t> counts;  // of classes of each instance
    std::string names;

    void clear() {
        ranked.clear();
        counts.clear();
        names.clear();
    }
};

// The two highest scores of a ranking; 0 where there is no first or second class.
struct TopTwoScores {
    double first = 0, second = 0;

    // Take in the score of one more class, which is not 0.
    void add(double score) {
        if (first == 0 || score > first) std::swap(first, score);
        if (second == 0 || score > second) second = score;
    }
};

struct Outcome {
    std::uint32_t rank;  // of the best true class before learning; 0: not retrieved
    bool updated;
    TopTwoScores top_two;  // of the ranking before learning
};

}  // namespace manyclass
