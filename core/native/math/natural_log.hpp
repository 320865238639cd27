// The natural logarithm, the same on every machine.
#pragma once

#include <cmath>

namespace manyclass {

// The logarithm by additions and multiplications alone: those of C libraries differ in the last bit
// from machine to machine, and the state must not.
inline double natural_log(double x) {
    int exponent = 0;
    double fraction = std::frexp(x, &exponent);
    if (fraction < 0.7071067811865476) {
        fraction *= 2;
        --exponent;
    }
    const double z = (fraction - 1) / (fraction + 1), square = z * z;  // |z| < 0.172
    double sum = 0;
    for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
    return 2 * z * sum + exponent * 0.6931471805599453;
}

}  // namespace manyclass
