// The multinomial likelihood of rows of scores: probabilities, losses, and the factor V of its
// curvature, W = V V^T with V = (I - D P) D^(1/2), D = diag(pi) and (P x)_c = sum of x.
// A row of weight w counts w times; a row of weight 0 is left out.
#pragma once

#include <algorithm>
#include <cmath>

#include "klr/matrix.hpp"

namespace manyclass::klr {

// Return log(sum exp u) and write the probabilities, each at least `least`.
template <class Real>
double softmax(const Real* u, std::int64_t classes, double least, Real* pi) {
    const double most = *std::max_element(u, u + classes);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
        pi[c] = std::exp(static_cast<Real>(u[c] - most));
        sum += pi[c];
    }
    const double scale = 1 / sum;
    for (std::int64_t c = 0; c < classes; ++c)
        pi[c] = static_cast<Real>(std::max(pi[c] * scale, least));
    return most + std::log(sum);
}

template <class Real>
void probabilities(const Matrix<Real>& u, double least, const Matrix<Real>& pi) {
    for (std::int64_t row = 0; row < u.rows; ++row) softmax(u[row], u.classes, least, pi[row]);
}

// Write the weighted loss of each row at the scores u + step * du.
template <class Real>
void losses(const Matrix<Real>& u, const Matrix<Real>& du, const double* steps,
            const Targets<Real>& targets, const double* weights, double* out) {
    for (std::int64_t row = 0; row < u.rows; ++row) {
        out[row] = 0;
        if (!(weights[row] > 0)) continue;
        const double step = steps[row];
        const auto at = [&](std::int64_t c) { return u[row][c] + step * du[row][c]; };
        double most = at(0);
        for (std::int64_t c = 1; c < u.classes; ++c) most = std::max(most, at(c));
        double sum = 0;
        for (std::int64_t c = 0; c < u.classes; ++c)
            sum += std::exp(static_cast<Real>(at(c) - most));
        double loss = most + std::log(sum);
        targets.visit(row, [&](std::int32_t c, double share) { loss -= share * at(c); });
        out[row] = weights[row] * loss;
    }
}

// Write w (pi - y), the gradient of the loss by the scores.
template <class Real>
void loss_gradient(const Matrix<Real>& pi, const Targets<Real>& targets,
                   const double* weights, const Matrix<Real>& out) {
    for (std::int64_t row = 0; row < pi.rows; ++row) {
        const auto weight = static_cast<Real>(weights[row]);
        for (std::int64_t c = 0; c < pi.classes; ++c) out[row][c] = weight * pi[row][c];
        targets.visit(row, [&](std::int32_t c, double share) {
            out[row][c] -= static_cast<Real>(weight * share);
        });
    }
}

// Write V x, or V^T x + plus. `out` may be x.
template <class Real>
void apply_v(const Matrix<Real>& pi, const double* weights, const Matrix<Real>& x,
             const Matrix<Real>& out) {
    for (std::int64_t row = 0; row < pi.rows; ++row) {
        const auto root = static_cast<Real>(std::sqrt(weights[row]));
        const Real *p = pi[row], *from = x[row];
        Real* to = out[row];
        double sum = 0;
        for (std::int64_t c = 0; c < pi.classes; ++c) {
            to[c] = root * std::sqrt(p[c]) * from[c];
            sum += to[c];
        }
        const auto total = static_cast<Real>(sum);
        for (std::int64_t c = 0; c < pi.classes; ++c) to[c] -= p[c] * total;
    }
}

template <class Real>
void apply_v_transposed(const Matrix<Real>& pi, const double* weights,
                        const Matrix<Real>& x, const Real* plus, const Matrix<Real>& out) {
    for (std::int64_t row = 0; row < pi.rows; ++row) {
        const auto root = static_cast<Real>(std::sqrt(weights[row]));
        const Real *p = pi[row], *from = x[row];
        const Real* more = plus ? plus + row * pi.classes : nullptr;
        Real* to = out[row];
        double sum = 0;
        for (std::int64_t c = 0; c < pi.classes; ++c) sum += static_cast<double>(p[c]) * from[c];
        const auto mean = static_cast<Real>(sum);
        for (std::int64_t c = 0; c < pi.classes; ++c)
            to[c] = root * std::sqrt(p[c]) * (from[c] - mean) + (more ? more[c] : Real(0));
    }
}

// Write the beta with V beta = alpha, and the residual of Newton's equations there. K V beta is
// known, the scores, so the residual costs no product: -(w (pi - y) + alpha) / sqrt(w pi).
template <class Real>
void newton_start(const Matrix<Real>& pi, const Matrix<Real>& alpha,
                  const Targets<Real>& targets, const double* weights, const Matrix<Real>& beta,
                  const Matrix<Real>& residual) {
    for (std::int64_t row = 0; row < pi.rows; ++row) {
        if (!(weights[row] > 0)) {
            std::fill_n(beta[row], pi.classes, Real(0));
            std::fill_n(residual[row], pi.classes, Real(0));
            continue;
        }
        const double weight = weights[row], root = std::sqrt(weight);
        for (std::int64_t c = 0; c < pi.classes; ++c) {
            const double scale = 1 / (root * std::sqrt(static_cast<double>(pi[row][c])));
            beta[row][c] = static_cast<Real>(scale * alpha[row][c]);
            residual[row][c] = static_cast<Real>(-scale * (weight * pi[row][c] + alpha[row][c]));
        }
        targets.visit(row, [&](std::int32_t c, double share) {
            const double scale = 1 / (root * std::sqrt(static_cast<double>(pi[row][c])));
            residual[row][c] += static_cast<Real>(scale * weight * share);
        });
    }
}

}  // namespace manyclass::klr
