// The product of a dense symmetric matrix with few vectors, which reads the matrix once.
#pragma once

#include <algorithm>

#include "klr/matrix.hpp"

namespace manyclass::klr {

constexpr std::int64_t ROWS_AT_ONCE = 4;
constexpr std::int64_t COLUMNS_AT_ONCE = 1024;  // of these rows, so that they stay in the cache

// Write out = B K for symmetric K (n x n); B and out have a row for each vector. BLAS copies K first
// for so few vectors, which takes longer than the product.
template <class Real>
MANYCLASS_ANY_WIDTH void symmetric_product(const Matrix<Real>& k, const Matrix<Real>& b,
                                           const Matrix<Real>& out) {
    const std::int64_t size = k.rows;
    std::fill_n(out.data, out.rows * size, Real(0));
    for (std::int64_t row = 0; row < size; row += ROWS_AT_ONCE) {
        const std::int64_t rows = std::min(ROWS_AT_ONCE, size - row);
        for (std::int64_t first = 0; first < size; first += COLUMNS_AT_ONCE) {
            const std::int64_t count = std::min(COLUMNS_AT_ONCE, size - first);
            for (std::int64_t vector = 0; vector < b.rows; ++vector) {
                Real* __restrict to = out[vector] + first;
                const Real* factors = b[vector] + row;
                if (rows == ROWS_AT_ONCE) {
                    const Real *k0 = k[row] + first, *k1 = k[row + 1] + first,
                               *k2 = k[row + 2] + first, *k3 = k[row + 3] + first;
                    const Real f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
                    for (std::int64_t at = 0; at < count; ++at)
                        to[at] += (f0 * k0[at] + f1 * k1[at]) + (f2 * k2[at] + f3 * k3[at]);
                } else {
                    for (std::int64_t other = 0; other < rows; ++other)
                        for (std::int64_t at = 0; at < count; ++at)
                            to[at] += factors[other] * k[row + other][first + at];
                }
            }
        }
    }
}

}  // namespace manyclass::klr
