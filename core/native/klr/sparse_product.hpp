// Products of a linear kernel: out = Z X^T A without the kernel matrix Z X^T.
#pragma once

#include <algorithm>
#include <vector>

#include "klr/matrix.hpp"

namespace manyclass::klr {

// Classes at once: their part of A and of `out` is to stay in the cache between features.
constexpr std::int64_t BLOCK = 64;

template <class Real>
inline void add_scaled(Real* __restrict to, const Real* __restrict from, Real scale,
                       std::int64_t count) {
    for (std::int64_t at = 0; at < count; ++at) to[at] += scale * from[at];
}

// Fill the classes begin .. end of out = Z X^T A. A feature's part of X^T A lives only while the
// feature is read, so that no array has the size of features x classes. The classes of a block are
// copied: rows of many classes lie on as many pages of memory, more than the processor keeps at
// hand.
template <class Real>
MANYCLASS_ANY_WIDTH void sparse_product(const ByFeature<Real>& x, const ByFeature<Real>& z,
                                        const Matrix<Real>& a, const Matrix<Real>& out,
                                        std::int64_t begin, std::int64_t end) {
    Real sums[BLOCK];
    const std::int64_t widest = std::min(BLOCK, end - begin);
    std::vector<Real> from(static_cast<std::size_t>(a.rows * widest));
    std::vector<Real> to(static_cast<std::size_t>(out.rows * widest));
    for (std::int64_t first = begin; first < end; first += BLOCK) {
        const std::int64_t count = std::min(BLOCK, end - first);
        for (std::int64_t row = 0; row < a.rows; ++row)
            std::copy_n(a[row] + first, count, &from[row * count]);
        std::fill(to.begin(), to.end(), Real(0));
        for (std::int64_t feature = 0; feature < x.features; ++feature) {
            if (x.starts[feature] == x.starts[feature + 1] ||
                z.starts[feature] == z.starts[feature + 1])
                continue;
            std::fill_n(sums, count, Real(0));
            for (std::int64_t at = x.starts[feature]; at < x.starts[feature + 1]; ++at)
                add_scaled(sums, &from[x.rows[at] * count], x.values[at], count);
            for (std::int64_t at = z.starts[feature]; at < z.starts[feature + 1]; ++at)
                add_scaled(&to[z.rows[at] * count], sums, z.values[at], count);
        }
        for (std::int64_t row = 0; row < out.rows; ++row)
            std::copy_n(&to[row * count], count, out[row] + first);
    }
}

// Write X^T A of one feature to `sums`, all classes.
template <class Real>
void feature_sums(const ByFeature<Real>& x, std::int64_t feature, const Matrix<Real>& a,
                  std::vector<Real>& sums) {
    std::fill(sums.begin(), sums.end(), Real(0));
    for (std::int64_t at = x.starts[feature]; at < x.starts[feature + 1]; ++at)
        add_scaled(sums.data(), a[x.rows[at]], x.values[at], a.classes);
}

}  // namespace manyclass::klr
