// Loops over the numbers of vectors: each has a fixed order of operations, so that all machines and
// widths of registers give equal bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "math/any_width.hpp"

namespace manyclass {

constexpr std::size_t LANES = 16;  // partial sums of a product

// Add `factor` times the numbers.
MANYCLASS_ANY_WIDTH inline void add_scaled(std::int64_t* __restrict to,
                                           const std::int32_t* __restrict numbers,
                                           std::size_t count, std::int64_t factor) {
    for (std::size_t at = 0; at < count; ++at) to[at] += factor * numbers[at];
}

// The same where each product is an int32.
MANYCLASS_ANY_WIDTH inline void add_scaled_short(std::int64_t* __restrict to,
                                                 const std::int32_t* __restrict numbers,
                                                 std::size_t count, std::int32_t factor) {
    for (std::size_t at = 0; at < count; ++at)
        to[at] += static_cast<std::int64_t>(factor * numbers[at]);
}

MANYCLASS_ANY_WIDTH inline void add_scaled(float* __restrict to, const float* __restrict numbers,
                                           std::size_t count, float factor) {
    for (std::size_t at = 0; at < count; ++at) to[at] += factor * numbers[at];
}

// Return the product of two vectors, as LANES partial sums that are added in order.
MANYCLASS_ANY_WIDTH inline float product(const float* __restrict one,
                                         const float* __restrict other, std::size_t count) {
    float sums[LANES] = {};
    std::size_t at = 0;
    for (; at + LANES <= count; at += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane)
            sums[lane] += one[at + lane] * other[at + lane];
    for (std::size_t lane = 0; at < count; ++at, ++lane) sums[lane] += one[at] * other[at];
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

// Return the product of two vectors, which must be an int32 as must be that of any of their parts.
MANYCLASS_ANY_WIDTH inline std::int32_t product(const std::int16_t* __restrict one,
                                                const std::int16_t* __restrict other,
                                                std::size_t count) {
    std::int32_t sum = 0;
    for (std::size_t at = 0; at < count; ++at)
        sum += static_cast<std::int32_t>(one[at]) * static_cast<std::int32_t>(other[at]);
    return sum;
}

}  // namespace manyclass
