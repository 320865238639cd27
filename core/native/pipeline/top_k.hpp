// Selects the k best classes of a score table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "pipeline/ranking.hpp"
#include "storage/score_table.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// Keep the first k of a list by an order.
template <class P>
void keep_first(std::vector<Ranked>& list, std::uint32_t k, P&& precedes) {
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::size_t>(k, list.size()));
    std::partial_sort(list.begin(), list.begin() + kept, list.end(), precedes);
    list.resize(static_cast<std::size_t>(kept));
}

// Select the k best classes with a score above `threshold` that are not retired, best first. With
// SIGNED scores negative ones count too. A short list is kept in order as better classes come: few
// do, and a comparison with the last of it rejects the others. A long list is cheaper to sort at the
// end.
template <bool SIGNED>
void select_top_k(const ScoreTable& scores, const Tables& tables, std::uint32_t k, double threshold,
                  std::vector<Ranked>& best) {
    constexpr std::uint32_t SHORT = 32;
    constexpr double INFINITE = std::numeric_limits<double>::infinity();
    const auto precedes = [&tables](const Ranked& one, const Ranked& other) {
        return tables.precedes(one, other);
    };
    best.clear();
    const double above = std::nextafter(SIGNED ? threshold : std::max(threshold, 0.0), INFINITE);
    double last = above;  // the k-th score so far; an equal one may stand before it
    scores.each_at_least(above, [&](std::uint32_t cls, double score) {
        if (tables.retired.has(cls)) return last;
        best.push_back({score, cls});
        if (k > SHORT) return last;
        for (std::size_t at = best.size() - 1; at > 0 && precedes(best[at], best[at - 1]); --at)
            std::swap(best[at], best[at - 1]);
        if (best.size() > k) best.pop_back();
        if (best.size() == k && k > 0) last = best.back().score;
        return last;
    });
    if (k > SHORT) keep_first(best, k, precedes);
}

}  // namespace manyclass
