// Vector operations of preconditioned conjugate gradients. Each row has factors of its own, so that
// independent systems (folds) can be solved side by side. Sums are returned by row.
#pragma once

#include "klr/matrix.hpp"

namespace manyclass::klr {

template <class Real>
void row_dots(const Matrix<Real>& x, const Matrix<Real>& y, double* out) {
    for (std::int64_t row = 0; row < x.rows; ++row) {
        double sum = 0;
        for (std::int64_t c = 0; c < x.classes; ++c)
            sum += static_cast<double>(x[row][c]) * y[row][c];
        out[row] = sum;
    }
}

// x += factor * y
template <class Real>
void add_rows(const double* factors, const Matrix<Real>& y, const Matrix<Real>& x) {
    for (std::int64_t row = 0; row < x.rows; ++row) {
        const auto factor = static_cast<Real>(factors[row]);
        for (std::int64_t c = 0; c < x.classes; ++c) x[row][c] += factor * y[row][c];
    }
}

// solution += step * direction; residual -= step * image. Write <r, r / diagonal> and <r, r>.
template <class Real>
void advance(const double* steps, const Matrix<Real>& direction,
             const Matrix<Real>& image, const Matrix<Real>& diagonal,
             const Matrix<Real>& solution, const Matrix<Real>& residual, double* preconditioned,
             double* squares) {
    for (std::int64_t row = 0; row < residual.rows; ++row) {
        const auto step = static_cast<Real>(steps[row]);
        double rz = 0, rr = 0;
        for (std::int64_t c = 0; c < residual.classes; ++c) {
            solution[row][c] += step * direction[row][c];
            const Real r = residual[row][c] - step * image[row][c];
            residual[row][c] = r;
            rr += static_cast<double>(r) * r;
            rz += static_cast<double>(r) * r / diagonal[row][c];
        }
        preconditioned[row] = rz;
        squares[row] = rr;
    }
}

// direction = residual / diagonal + factor * direction
template <class Real>
void turn(const double* factors, const Matrix<Real>& residual,
          const Matrix<Real>& diagonal, const Matrix<Real>& direction) {
    for (std::int64_t row = 0; row < residual.rows; ++row) {
        const auto factor = static_cast<Real>(factors[row]);
        for (std::int64_t c = 0; c < residual.classes; ++c)
            direction[row][c] =
                residual[row][c] / diagonal[row][c] + factor * direction[row][c];
    }
}

}  // namespace manyclass::klr
