// The logistic function, the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>

namespace manyclass {

// By additions and multiplications alone, as natural_log is (log.hpp), and for the same reason.
// |x| is at most 700, so that no step overflows.
inline double natural_exp(double x) {
    constexpr double LOG2 = 0.6931471805599453, INVERSE = 1.4426950408889634;
    const double halvings = std::floor(x * INVERSE + 0.5);
    const double rest = x - halvings * LOG2;  // |rest| < 0.35
    double sum = 1;
    for (int n = 14; n >= 1; --n) sum = 1 + rest * sum / n;
    return std::ldexp(sum, static_cast<int>(halvings));
}

inline double logistic(double x) {
    return 1 / (1 + natural_exp(-std::min(std::max(x, -700.0), 700.0)));
}

}  // namespace manyclass
