// The mean confidence of consecutive runs of a learner's kept outcomes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "calibration.hpp"

namespace manyclass {

// Return the mean confidence of each run of so many outcomes, the first run up to the newest
// outcome. An instance for which no class was ranked counts as 0; a run of which an outcome is not
// kept has a mean below 0.
inline std::vector<double> mean_confidences(const Calibration& calibration,
                                            const std::vector<std::size_t>& sizes) {
    std::vector<double> means;
    calibration.read_kept([&](const KeptOutcomes& kept) {
        std::size_t end = kept.size();
        for (const std::size_t size : sizes) {
            if (size > end) end = 0;  // so do all runs before it
            double sum = 0;
            const std::size_t begin = end - std::min(size, end);
            for (std::size_t at = begin; at < end; ++at)
                sum += std::max(0.0, static_cast<double>(kept[at].confidence));
            means.push_back(begin == end ? -1 : sum / static_cast<double>(end - begin));
            end = begin;
        }
    });
    return means;
}

}  // namespace manyclass
