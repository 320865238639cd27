// Counts of progressive validation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace manyclass {

// The ranks of the best true classes: totals over all examples, and the last ranks.
struct RankCounts {
    static constexpr std::size_t KEPT = 10'000, DEPTHS = 3;
    static constexpr std::array<std::uint32_t, DEPTHS> HITS_AT{1, 5, 10};

    std::array<std::uint32_t, KEPT> ranks{};  // of example n, from 0 on, at n % KEPT
    std::uint64_t examples = 0;
    std::array<std::uint64_t, DEPTHS> hits{};
    double reciprocal_ranks = 0;  // their sum

    // Count an example; a rank of 0 means: not retrieved.
    void add(std::uint32_t rank) {
        ranks[examples % KEPT] = rank;
        ++examples;
        if (rank == 0) return;
        reciprocal_ranks += 1 / static_cast<double>(rank);
        for (std::size_t at = 0; at < DEPTHS; ++at) hits[at] += rank <= HITS_AT[at];
    }
};

}  // namespace manyclass
