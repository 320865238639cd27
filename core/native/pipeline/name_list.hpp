// A list of names, such as the true classes of an event.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace manyclass {

// The views are of other bytes, which outlive their use.
using Names = std::vector<std::string_view>;

inline bool contains(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace manyclass
