// The scores that one part of a mixture gives to classes, and their scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace manyclass {

// The mean and the spread of scores. They are summed as integers, so that the order of the classes,
// which differs after a snapshot was loaded, changes nothing.
class ScoreScale {
public:
    void add(double score) {
        const auto units = static_cast<std::int64_t>(
            std::llrint(std::clamp(score, -LARGEST, LARGEST) * UNITS));
        sum_ += units;
        squares_ += static_cast<__int128>(units) * units;
        ++count_;
    }
    // Add classes with the score 0.
    void add_zeros(std::uint64_t count) { count_ += static_cast<std::int64_t>(count); }

    void close() {
        if (count_ == 0) return;
        const double count = static_cast<double>(count_), units = static_cast<double>(sum_) / count;
        const double variance = static_cast<double>(squares_) / count - units * units;
        mean_ = units / UNITS;
        const double spread = std::sqrt(std::max(variance, 0.0)) / UNITS;
        per_score_ = spread > LEAST_SPREAD ? 1 / spread : 0;
    }

    // The score in spreads above the mean; 0 if all scores are equal.
    double of(double score) const { return (score - mean_) * per_score_; }
    double per_score() const { return per_score_; }
    bool says_something() const { return per_score_ > 0; }

private:
    static constexpr double UNITS = 1 << 20, LARGEST = 1e9, LEAST_SPREAD = 1e-5;

    std::int64_t count_ = 0;
    __int128 sum_ = 0, squares_ = 0;
    double mean_ = 0, per_score_ = 0;
};

}  // namespace manyclass
