// Results of ranking and of learning one example.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace manyclass {

struct Ranked {
    double score;
    std::uint32_t cls;
};

// The rankings of several instances, concatenated, and the names of all their classes (size u32,
// bytes).
struct RankedBlock {
    static constexpr std::size_t MANY_NAMES = 65'536;  // bytes

    std::vector<Ranked> ranked;
    std::vector<std::uint32_t> counts;  // the number of ranked classes of each instance
    std::string names;

    void clear() {
        ranked.clear();
        counts.clear();
        names.clear();
    }

    // Rank instances in order, from `begin` on: one, and more until the time is over or there are
    // MANY_NAMES. `rank(instance, best, names)` sets the ranking and appends its names.
    template <class F>
    void fill(const std::vector<std::string_view>& instances, std::size_t begin,
              std::chrono::duration<double> time, F&& rank) {
        const auto now = std::chrono::steady_clock::now;
        const auto deadline = now() + time;
        std::vector<Ranked> best;
        clear();
        do {
            best.clear();
            rank(instances[begin++], best, names);
            counts.push_back(static_cast<std::uint32_t>(best.size()));
            ranked.insert(ranked.end(), best.begin(), best.end());
        } while (begin < instances.size() && names.size() < MANY_NAMES && now() < deadline);
    }
};

// The two highest scores of a ranking; 0 for a missing class.
struct TopTwoScores {
    double first = 0, second = 0;

    // Add the score of one more class, which is not 0.
    void add(double score) {
        if (first == 0 || score > first) std::swap(first, score);
        if (second == 0 || score > second) second = score;
    }
};

// Return the two highest scores of a ranking, best first.
inline TopTwoScores top_two_of(const Ranked* best, std::size_t count) {
    return {count > 0 ? best[0].score : 0, count > 1 ? best[1].score : 0};
}

struct Outcome {
    std::uint32_t rank;  // of the best true class before learning; 0: not retrieved
    bool updated;
    TopTwoScores top_two;  // of the ranking before learning
};

// The best classes of a ranking before an example was learned: `depth` or fewer, best first.
struct RankingBefore {
    std::uint32_t depth = 1;  // classes wanted
    std::vector<Ranked> best;
    std::vector<std::uint8_t> are_true;  // of these classes: 1 for a true class, else 0
    std::string first;                   // the name of the first; empty if no class was ranked

    bool is_first_true() const { return !best.empty() && are_true[0] != 0; }

    // Note which classes are true, and the name of the first while the table has it.
    template <class Names, class F>
    void note(const Names& names, F&& is_true) {
        are_true.clear();
        for (const Ranked& each : best) are_true.push_back(is_true(each.cls));
        if (best.empty()) first.clear();
        else first.assign(names.name(best[0].cls));
    }
};

}  // namespace manyclass
