// The natural logarithm, the exponential and the logistic function, by additions and multiplications
// alone: C libraries differ in the last bit from machine to machine, and the state must not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace manyclass {

// The logarithm of fraction * 2^exponent, for a fraction in [1/2, 1).
[[gnu::always_inline]] inline double natural_log_of(double fraction, int exponent) {
    const bool is_low = fraction < 0.7071067811865476;
    fraction = is_low ? fraction * 2 : fraction;
    exponent -= is_low;
    const double z = (fraction - 1) / (fraction + 1), square = z * z;  // |z| < 0.172
    double sum = 0;
    for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
    return 2 * z * sum + exponent * 0.6931471805599453;
}

// Inlined, so that a processor computes those of a loop side by side.
[[gnu::always_inline]] inline double natural_log(double x) {
    constexpr int BIAS = 1022;
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto field = static_cast<int>(bits >> 52);
    if (field == 0 || field >= 0x7ff) {  // subnormal, infinite or negative
        int exponent = 0;
        const double fraction = std::frexp(x, &exponent);
        return natural_log_of(fraction, exponent);
    }
    bits = (bits & 0xfffffffffffffu) | std::uint64_t{BIAS} << 52;
    double fraction;
    std::memcpy(&fraction, &bits, sizeof fraction);
    return natural_log_of(fraction, field - BIAS);
}

// 1/0!, 1/1!, ... of the series of the exponential function.
inline constexpr std::array<double, 14> EXP_SERIES = [] {
    std::array<double, 14> series{1};
    for (std::size_t n = 1; n < series.size(); ++n)
        series[n] = series[n - 1] / static_cast<double>(n);
    return series;
}();

// |x| is at most 700, so that no step overflows.
inline double natural_exp(double x) {
    constexpr double LOG2 = 0.6931471805599453, INVERSE = 1.4426950408889634;
    const auto doublings = static_cast<std::int64_t>(x * INVERSE + (x < 0 ? -0.5 : 0.5));
    const double rest = x - static_cast<double>(doublings) * LOG2;  // |rest| < 0.35
    double sum = EXP_SERIES.back();
    for (std::size_t n = EXP_SERIES.size() - 1; n-- > 0;) sum = sum * rest + EXP_SERIES[n];
    const std::int64_t exponent = (doublings + 1023) << 52;
    double power;  // 2 to the doublings
    std::memcpy(&power, &exponent, sizeof power);
    return sum * power;
}

inline double logistic(double x) {
    return 1 / (1 + natural_exp(-std::min(std::max(x, -700.0), 700.0)));
}

}  // namespace manyclass
