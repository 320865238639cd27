// The members of a body of POST /rank that hold for every instance: schemas/rank.py has them all.
#pragma once

#include <cstdint>
#include <limits>

#include "core/native/text/json.hpp"

namespace manyclass::http {

constexpr std::uint32_t DEFAULT_RANKED = 5, MOST_RANKED = 1000;

// A function that reads returns false for a value of another form or out of range.
struct RankOptions {
    std::uint32_t k = DEFAULT_RANKED;
    double threshold = -std::numeric_limits<double>::infinity();  // a score has to be above it
    double least_confidence = -1;                                 // -1: any, also none

    bool read_k(JsonCursor& json) {
        std::uint64_t value;
        if (!json.read_count(value) || value < 1 || value > MOST_RANKED) return false;
        k = static_cast<std::uint32_t>(value);
        return true;
    }
    bool read_threshold(JsonCursor& json) { return json.read_number(threshold); }
    bool read_least_confidence(JsonCursor& json) {
        return json.read_number(least_confidence) && least_confidence >= 0 && least_confidence <= 1;
    }
};

}  // namespace manyclass::http
