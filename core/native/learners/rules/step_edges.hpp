// Finds the edges of a row that the steps of an update change, in one pass over the row instead of
// one search for each step.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "learners/rules/class_steps.hpp"

namespace manyclass {

// A hash table of the classes of the steps, which fits into the fastest cache.
// Ownership: the steps are the caller's, and outlive it. Threads: one at a time.
class StepEdges {
public:
    static constexpr std::size_t LEAST = 3, MOST = 255;  // numbers of steps that it supports
    static constexpr std::uint32_t NONE = 0xffffffffu;

    explicit StepEdges(const std::vector<Step>& steps)
        : steps_(steps), next_(steps.size()), positions_(steps.size()) {
        for (std::size_t at = 0; at < steps.size(); ++at) {
            std::uint8_t& first = first_[slot(steps[at].cls)];
            next_[at] = first;
            first = static_cast<std::uint8_t>(at + 1);
        }
    }

    const std::vector<Step>& steps() const { return steps_; }

    // True if one pass over a row of so many edges costs less than a search for each step.
    bool is_faster(std::uint32_t outdegree) const {
        return steps_.size() * (SEARCH + outdegree) > std::size_t{EDGE} * outdegree;
    }

    // Find the classes of the steps among the class ids of a row.
    void find(const std::uint32_t* classes, std::uint32_t count) {
        for (std::uint32_t& each : positions_) each = NONE;
        for (std::uint32_t begin = 0; begin < count; begin += BLOCK) {
            const std::uint32_t end = std::min(begin + BLOCK, count);
            std::uint32_t found[BLOCK], size = 0;
            for (std::uint32_t at = begin; at < end; ++at) {  // without branches
                found[size] = at;
                size += first_[slot(classes[at])] != 0;
            }
            for (std::uint32_t i = 0; i < size; ++i) note(classes[found[i]], found[i]);
        }
    }

    // Return the index in the row of the edge to the class of a step; NONE without such an edge.
    std::uint32_t operator[](std::size_t step) const { return positions_[step]; }

private:
    static constexpr int BITS = 12;
    static constexpr std::uint32_t BLOCK = 32;
    // The costs of a search, and of an edge in the pass, relative to that of an edge in a search.
    static constexpr std::uint32_t SEARCH = 48, EDGE = 6;

    static std::uint32_t slot(std::uint32_t id) { return id & ((1u << BITS) - 1); }

    void note(std::uint32_t cls, std::uint32_t position) {
        std::uint8_t at = first_[slot(cls)];
        while (at != 0 && steps_[at - 1u].cls != cls) at = next_[at - 1u];
        if (at != 0) positions_[at - 1u] = position;
    }

    const std::vector<Step>& steps_;
    std::array<std::uint8_t, std::size_t{1} << BITS> first_{};  // a step and 1; 0: none
    std::vector<std::uint8_t> next_;  // step of the same slot
    std::vector<std::uint32_t> positions_;
};

}  // namespace manyclass
