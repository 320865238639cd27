// Views of the arrays of kernel logistic regression. Storage is float or double, sums are double.
#pragma once

#include <cstdint>

#include "math/any_width.hpp"

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
