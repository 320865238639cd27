// The scale of the scores of one part of a mixture, by the best of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace manyclass {

// Scores count in usual spreads: the standard deviation of the best scores, on average over past
// events. Below the best ones, all classes are equal: a part says which classes it finds best.
class PartScale {
public:
    static constexpr std::size_t BEST = 16;

    // Take the best scores of an instance, at most BEST, best first; no scores: the part is silent.
    // `usual` is 0 before the first event.
    void set(const std::vector<double>& best, double usual) {
        is_silent_ = best.empty();
        spread_ = spread_of(best);
        const double spread = usual > 0 ? usual : spread_ > 0 ? spread_ : 1;
        per_score_ = 1 / spread;
        least_ = is_silent_ ? 0 : best.back();
        if (best.size() < BEST) least_ = std::min(least_, 0.0);  // that of a class without a score
    }
    void set_silent() { set({}, 0); }

    bool is_silent() const { return is_silent_; }
    double spread() const { return spread_; }  // of this instance
    double per_score() const { return per_score_; }

    double of(double score) const { return std::max(score, least_) * per_score_; }
    double of_unscored() const { return least_ * per_score_; }

private:
    static double spread_of(const std::vector<double>& scores) {
        if (scores.empty()) return 0;
        const auto count = static_cast<double>(scores.size());
        double sum = 0, squares = 0;
        for (const double score : scores) sum += score;
        const double mean = sum / count;
        for (const double score : scores) squares += (score - mean) * (score - mean);
        const double spread = std::sqrt(squares / count);
        return spread > LEAST_SPREAD * std::fabs(mean) ? spread : 0;
    }
    static constexpr double LEAST_SPREAD = 1e-9;  // rounding makes smaller ones

    bool is_silent_ = true;
    double spread_ = 0, per_score_ = 1, least_ = 0;
};

}  // namespace manyclass
