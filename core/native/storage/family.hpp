// Ids of families in postings. A family is a class with those below it in the taxonomy: its weights
// are theirs in common.
#pragma once

#include <cstdint>

namespace manyclass {

// The id of a family is that of its class with the highest bit set.
constexpr std::uint32_t FAMILY = std::uint32_t{1} << 31;

constexpr std::uint32_t family(std::uint32_t cls) { return cls | FAMILY; }
constexpr bool is_family(std::uint32_t id) { return (id & FAMILY) != 0; }
constexpr std::uint32_t class_of(std::uint32_t id) { return id & ~FAMILY; }

}  // namespace manyclass
