// Views of the arrays of kernel logistic regression. Storage is float or double, sums are double.
#pragma once

#include <cstdint>

// Functions compiled for several widths of vector instructions; the first call chooses. Without
// contraction all give the same numbers. Clang cannot do it for templates.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define MANYCLASS_ANY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MANYCLASS_ANY_WIDTH
#endif

namespace manyclass::klr {

// Dense, row by row; a row has a value for each class.
template <class Real>
struct Matrix {
    Real* data;
    std::int64_t rows, classes;

    Real* operator[](std::int64_t row) const { return data + row * classes; }
};

// Sparse, feature by feature: the rows and values of feature f are at starts[f] .. starts[f + 1].
template <class Real>
struct ByFeature {
    const std::int64_t* starts;
    const std::int32_t* rows;
    const Real* values;
    std::int64_t features;
};

// The distribution over classes that each row should have, as sparse rows. A likelihood over several
// folds has `folds` adjacent rows for each row of targets.
template <class Real>
struct Targets {
    const std::int64_t* starts;
    const std::int32_t* classes;
    const Real* shares;
    std::int64_t folds;

    template <class Visit>
    void visit(std::int64_t row, Visit&& visit) const {
        const std::int64_t target = row / folds;
        for (std::int64_t at = starts[target]; at < starts[target + 1]; ++at)
            visit(classes[at], static_cast<double>(shares[at]));
    }
};

}  // namespace manyclass::klr
