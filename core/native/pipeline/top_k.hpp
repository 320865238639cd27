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
template <class T, class P>
void keep_first(std::vector<T>& list, std::uint32_t k, P&& precedes) {
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::size_t>(k, list.size()));
    std::partial_sort(list.begin(), list.begin() + kept, list.end(), precedes);
    list.resize(static_cast<std::size_t>(kept));
}

constexpr std::uint32_t SHORT_LIST = 32;  // a longer one is cheaper to sort at the end

// Insert an item into a sorted list of at most k, which then loses its last one if it is full: a
// comparison with that one rejects most items.
template <class T, class P>
void insert_first(std::vector<T>& list, std::size_t k, const T& item, P&& precedes) {
    if (list.size() < k) list.push_back(item);
    else if (k == 0 || !precedes(item, list.back())) return;
    std::size_t at = list.size() - 1;
    for (; at > 0 && precedes(item, list[at - 1]); --at) list[at] = list[at - 1];
    list[at] = item;
}

// Keep the first k of a long list, by distribution into buckets of equal spans of scores: linear
// time, unless most scores lie close together. Only the buckets with the first k are sorted.
template <class P>
void keep_first_of_many(std::vector<Ranked>& list, std::uint32_t k, P&& precedes) {
    constexpr std::size_t BUCKETS = 512, LEAST = 48;
    constexpr std::uint32_t FEW = 24;  // shorter lists are sorted by insertion
    if (list.size() < LEAST) return keep_first(list, k, precedes);
    double lowest = list[0].score, highest = lowest;
    for (const Ranked& each : list) {
        lowest = std::min(lowest, each.score);
        highest = std::max(highest, each.score);
    }
    const double spread = highest - lowest, buckets_per_score = (BUCKETS - 1) / spread;
    if (!std::isfinite(spread) || !std::isfinite(buckets_per_score))
        return keep_first(list, k, precedes);
    static thread_local std::vector<std::uint16_t> buckets;
    static thread_local std::vector<Ranked> sorted;
    buckets.resize(list.size());
    sorted.resize(list.size() + 1);
    std::uint32_t counts[BUCKETS] = {};
    for (std::size_t at = 0; at < list.size(); ++at) {
        // a lower score never has an earlier bucket: subtraction and product are monotonic
        const double below = (highest - list[at].score) * buckets_per_score;
        ++counts[buckets[at] = static_cast<std::uint16_t>(below)];
    }
    const std::size_t kept = std::min<std::size_t>(k, list.size());
    std::uint32_t end = 0, most = 0;
    std::size_t used = 0;  // buckets
    for (; end < kept; ++used) {
        most = std::max(most, counts[used]);
        end += std::exchange(counts[used], end);  // from here on the index of its next entry
    }
    for (std::size_t bucket = used; bucket < BUCKETS; ++bucket) counts[bucket] = end;
    for (std::size_t at = 0; at < list.size(); ++at) {
        std::uint32_t& next = counts[buckets[at]];
        sorted[next] = list[at];  // entries of other buckets overwrite each other behind the end
        next += buckets[at] < used;
    }
    const auto begin = sorted.begin();
    if (most > FEW) std::sort(begin, begin + end, precedes);
    else
        for (std::uint32_t at = 1; at < end; ++at)
            for (std::uint32_t up = at; up > 0 && precedes(sorted[up], sorted[up - 1]); --up)
                std::swap(sorted[up], sorted[up - 1]);
    list.assign(begin, begin + static_cast<std::ptrdiff_t>(kept));
}

// Select the k best classes with a score above `threshold` that are not retired, best first. With
// SIGNED scores, negative ones count too.
template <bool SIGNED>
void select_top_k(const ScoreTable& scores, const Tables& tables, std::uint32_t k, double threshold,
                  std::vector<Ranked>& best) {
    constexpr double INFINITE = std::numeric_limits<double>::infinity();
    const auto precedes = [&tables](const Ranked& one, const Ranked& other) {
        return tables.precedes(one, other);
    };
    const double above = std::nextafter(SIGNED ? threshold : std::max(threshold, 0.0), INFINITE);
    if (k > SHORT_LIST) {
        best.resize(scores.size());
        Ranked* at = best.data();
        scores.each_at_least(above, [&](std::uint32_t cls, double score) {
            *at = {score, cls};
            at += !tables.retired.has(cls);
            return above;
        });
        best.resize(static_cast<std::size_t>(at - best.data()));
        keep_first_of_many(best, k, precedes);
        return;
    }
    best.clear();
    // the k-th score so far, or a lower one that k classes reach; an equal one may stand before it
    double last = std::max(above, scores.reached_by(std::size_t{k} + tables.retired.size()));
    scores.each_at_least(last, [&](std::uint32_t cls, double score) {
        if (tables.retired.has(cls)) return last;
        insert_first(best, k, {score, cls}, precedes);
        if (best.size() == k && k > 0) last = best.back().score;
        return last;
    });
}

}  // namespace manyclass
