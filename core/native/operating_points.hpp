// Operating points: for a limit of confidence, how many answers reach it and how many of these were
// right; and the least limit whose answers were right often enough.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace manyclass {

// The answers with a confidence of at least `limit`.
struct OperatingPoint {
    double limit;
    std::uint64_t answers, right;
};

// The ends of the Wilson interval of a share at 90 % (Wilson 1927).
struct Interval90 {
    double low, high;

    static Interval90 of(std::uint64_t right, std::uint64_t answers) {
        constexpr double Z = 1.6448536269514722;  // of a normal distribution, 5 % are above it
        if (answers == 0) return {0, 1};
        const auto count = static_cast<double>(answers);
        const double share = static_cast<double>(right) / count;
        const double spread = std::sqrt(share * (1 - share) / count + Z * Z / (4 * count * count));
        const double middle = share + Z * Z / (2 * count), size = 1 + Z * Z / count;
        return {std::clamp((middle - Z * spread) / size, 0.0, share),
                std::clamp((middle + Z * spread) / size, share, 1.0)};
    }
};

// Counts outcomes by limits, which are whole thousandths: people read and type them.
class LimitCounts {
public:
    static constexpr std::size_t LIMITS = 1000;

    // The highest limit that a confidence reaches, as a number of thousandths.
    static std::size_t limit_of(float confidence) {
        const double at = static_cast<double>(confidence) * LIMITS;
        return std::min(static_cast<std::size_t>(at), LIMITS);
    }

    // Add an outcome; a confidence below 0 stands for an instance without a class.
    void add(float confidence, bool is_right) {
        ++outcomes_;
        right_ += is_right;
        if (confidence < 0) return;
        const std::size_t at = limit_of(confidence);
        if (bins_[at].answers == 0) used_.push_back(static_cast<std::uint16_t>(at));
        ++bins_[at].answers;
        bins_[at].right += is_right;
    }

    std::uint64_t outcomes() const { return outcomes_; }
    std::uint64_t right() const { return right_; }

    // Set `points` to one for each limit that changes the answers, the highest limit first, and
    // begin anew.
    void take_points(std::vector<OperatingPoint>& points) {
        std::sort(used_.begin(), used_.end(), std::greater<>());
        points.clear();
        std::uint64_t answers = 0, right = 0;
        for (const std::uint16_t at : used_) {
            answers += bins_[at].answers;
            right += bins_[at].right;
            points.push_back({static_cast<double>(at) / LIMITS, answers, right});
            bins_[at] = {};
        }
        used_.clear();
        outcomes_ = right_ = 0;
    }

private:
    struct Bin {
        std::uint32_t answers = 0, right = 0;
    };
    std::array<Bin, LIMITS + 1> bins_{};
    std::vector<std::uint16_t> used_;
    std::uint64_t outcomes_ = 0, right_ = 0;
};

// Return the point of the least limit whose answers were right at least as often as the target, by
// the lower end of their interval; nullptr if no limit's were.
inline const OperatingPoint* least_limit(const std::vector<OperatingPoint>& points, double target) {
    for (auto each = points.rbegin(); each != points.rend(); ++each)
        if (Interval90::of(each->right, each->answers).low >= target) return &*each;
    return nullptr;
}

// Return the point of the highest lower end: the answers of which most is known to be right.
inline const OperatingPoint* best_point(const std::vector<OperatingPoint>& points) {
    const auto best = std::max_element(
        points.begin(), points.end(), [](const OperatingPoint& one, const OperatingPoint& other) {
            return Interval90::of(one.right, one.answers).low <
                   Interval90::of(other.right, other.answers).low;
        });
    return best == points.end() ? nullptr : &*best;
}

// The least limit for any target, found by a binary search.
class LeastLimits {
public:
    static constexpr double NEVER = 2;  // above every confidence

    explicit LeastLimits(const std::vector<OperatingPoint>& points = {}) {
        double reached = 0;
        for (auto each = points.rbegin(); each != points.rend(); ++each) {
            const double low = Interval90::of(each->right, each->answers).low;
            if (low <= reached) continue;
            reached = low;
            steps_.push_back({low, each->limit});
        }
    }

    double of(double target) const {
        const auto step = std::lower_bound(
            steps_.begin(), steps_.end(), target,
            [](const Step& each, double wanted) { return each.reached < wanted; });
        return step == steps_.end() ? NEVER : step->limit;
    }

private:
    struct Step {
        double reached, limit;  // both rise
    };
    std::vector<Step> steps_;
};

}  // namespace manyclass
