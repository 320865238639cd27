// Selects the k best classes of a score table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pipeline/ranking.hpp"
#include "storage/score_table.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// Select the k best classes with a score above `threshold` that are neither retired nor marked as
// true, best first. With SIGNED scores negative ones count too. A short list is kept in order as
// better classes come: few do, and a comparison with the last of it rejects the others. A long list
// is cheaper to sort at the end.
template <bool SIGNED>
void select_top_k(ScoreTable& scores, const Tables& tables, std::uint32_t k, double threshold,
                  std::vector<Ranked>& best) {
    constexpr std::uint32_t SHORT = 32;
    const auto precedes = [&tables](const Ranked& one, const Ranked& other) {
        return tables.precedes(one, other);
    };
    best.clear();
    const double least = SIGNED ? threshold : std::max(threshold, 0.0);
    double last = least;  // the k-th score so far; an equal one may stand before it
    for (std::size_t i = 0; i < scores.count(); ++i) {
        const ScoreTable::Slot& slot = scores.touched(i);
        // a class without any edge may stand in the table with a score of 0
        if (!(slot.score > least) || slot.score < last || slot.score == 0) continue;
        if (slot.is_true || tables.retired.has(slot.cls)) continue;
        best.push_back({slot.score, slot.cls});
        if (k > SHORT) continue;
        for (std::size_t at = best.size() - 1; at > 0 && precedes(best[at], best[at - 1]); --at)
            std::swap(best[at], best[at - 1]);
        if (best.size() > k) best.pop_back();
        if (best.size() == k && k > 0) last = best.back().score;
    }
    if (k <= SHORT) return;
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::size_t>(k, best.size()));
    std::partial_sort(best.begin(), best.begin() + kept, best.end(), precedes);
    best.resize(static_cast<std::size_t>(kept));
}

}  // namespace manyclass
