// Pages of names in the order of their UTF-8 bytes, each name with a count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/name_order.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

using NamePage = std::vector<std::pair<std::string, std::uint64_t>>;

constexpr std::uint32_t NAMES_OF_BLOCK = 16384;  // names read under one lock

// The same page as from `read_page`, from all names, block by block.
template <class L, class F>
void scan_page(const Vocabulary& names, std::string_view prefix, std::string_view after,
               std::size_t limit, NamePage& page, L&& hold, F&& count) {
    std::map<std::string, std::uint64_t> least;
    for (std::uint32_t begin = 0, end = 1; begin < end; begin += NAMES_OF_BLOCK) {
        const auto lock = hold();
        end = names.end();
        for (std::uint32_t id = begin; id < std::min(end, begin + NAMES_OF_BLOCK); ++id) {
            const std::string_view name = names.name(id);  // empty: the id is free
            if (name <= after || name.substr(0, prefix.size()) != prefix) continue;
            if (least.size() == limit && name > least.rbegin()->first) continue;
            const auto counted = count(id);
            if (!counted) continue;
            least.insert_or_assign(std::string(name), *counted);
            if (least.size() > limit) least.erase(std::prev(least.end()));
        }
    }
    page.assign(least.begin(), least.end());
}

// The next names after `after` that begin with `prefix`, each with its `count(id)`; a name without
// one is left out. The lock that `hold()` returns is given up between the leaves of the order. Of
// an order of very many names each call builds a part, and until it has all it scans the names.
template <class L, class F>
void read_page(const Vocabulary& names, NameOrder& order, std::string_view prefix,
               std::string_view after, std::size_t limit, NamePage& page, L&& hold, F&& count) {
    constexpr std::uint32_t ORDERED_AT_ONCE = 1 << 17;  // names, about 60 ms
    if (limit == 0) return;
    std::string from(std::max(prefix, after));
    const auto visit = [&](std::uint32_t id) {
        if (const auto counted = count(id)) page.emplace_back(names.name(id), *counted);
        return page.size() < limit;
    };
    for (std::uint32_t ordered = 0; ordered < ORDERED_AT_ONCE;) {
        const auto lock = hold();
        if (!order.build(names))
            ordered += NameOrder::NAMES_AT_ONCE;
        else if (!order.read(names, prefix, after, from, visit))
            return;
    }
    scan_page(names, prefix, after, limit, page, hold, count);
}

}  // namespace manyclass
