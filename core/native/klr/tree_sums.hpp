// Sums over the tree of classes. Nodes are numbered breadth first, so a parent comes before its
// children and each sum is one sweep over the nodes. The root has the number -1.
#pragma once

#include <cmath>
#include <vector>

#include "klr/sparse_product.hpp"

namespace manyclass::klr {

struct TreeSums {
    const std::int32_t* parents;
    const std::int32_t* leaves;  // the node of each class
    std::int64_t nodes, classes;

    // Write to each node the sum of the classes below it.
    template <class Real>
    void sum_up(const Real* of_classes, Real* of_nodes) const {
        std::fill_n(of_nodes, nodes, Real(0));
        for (std::int64_t c = 0; c < classes; ++c) of_nodes[leaves[c]] = of_classes[c];
        for (std::int64_t node = nodes; node-- > 0;)
            if (parents[node] >= 0) of_nodes[parents[node]] += of_nodes[node];
    }

    // Replace the value of each node by the sum along its path.
    template <class Real>
    void sum_down(Real* of_nodes) const {
        for (std::int64_t node = 0; node < nodes; ++node)
            if (parents[node] >= 0) of_nodes[node] += of_nodes[parents[node]];
    }
};

// Multiply each row of A by the covariance of the classes, the sum of the variances of the nodes
// that two classes have in common.
template <class Real>
void apply_covariance(const TreeSums& tree, const double* variances, const Matrix<Real>& a,
                      const Matrix<Real>& out) {
    std::vector<Real> sums(static_cast<std::size_t>(tree.nodes));
    for (std::int64_t row = 0; row < a.rows; ++row) {
        tree.sum_up(a[row], sums.data());
        for (std::int64_t node = 0; node < tree.nodes; ++node)
            sums[node] *= static_cast<Real>(variances[node]);
        tree.sum_down(sums.data());
        for (std::int64_t c = 0; c < tree.classes; ++c) out[row][c] = sums[tree.leaves[c]];
    }
}

// Write the diagonal of I + V^T K V for the kernel of a row with itself:
// 1 + w pi_c (S_cc - 2 (S pi)_c + pi^T S pi), S the covariance with v_p k_ii + bias at node p.
template <class Real>
void curvature_diagonal(const TreeSums& tree, const double* variances, double bias,
                        const double* self_kernels, const double* weights,
                        const Matrix<Real>& pi, const Matrix<Real>& out) {
    std::vector<double> own(static_cast<std::size_t>(tree.nodes)), sums(own.size());
    std::vector<double> as_double(static_cast<std::size_t>(tree.classes));
    for (std::int64_t row = 0; row < pi.rows; ++row) {
        if (!(weights[row] > 0)) {
            std::fill_n(out[row], pi.classes, Real(1));
            continue;
        }
        std::copy_n(pi[row], pi.classes, as_double.data());
        tree.sum_up(as_double.data(), sums.data());
        double whole = 0;  // pi^T S pi
        for (std::int64_t node = 0; node < tree.nodes; ++node) {
            const double variance = variances[node] * self_kernels[row] + bias;
            whole += variance * sums[node] * sums[node];
            own[node] = variance;
            sums[node] *= variance;
        }
        tree.sum_down(own.data());
        tree.sum_down(sums.data());
        for (std::int64_t c = 0; c < tree.classes; ++c) {
            const std::int32_t leaf = tree.leaves[c];
            const double curvature = own[leaf] - 2 * sums[leaf] + whole;
            out[row][c] = static_cast<Real>(
                1 + weights[row] * as_double[c] * std::max(curvature, 0.0));
        }
    }
}

// Add <X^T E_p, X^T S_p> to each node p, over the features begin .. end; E_p and S_p are the sums
// of the columns of the classes below p. Its product with v_p is the derivative of <E, K S> by log
// v_p.
template <class Real>
void add_derivatives(const TreeSums& tree, const ByFeature<Real>& x, const Matrix<Real>& e,
                     const Matrix<Real>& s, std::int64_t begin, std::int64_t end,
                     double* of_nodes) {
    std::vector<Real> sums_e(static_cast<std::size_t>(tree.classes)), sums_s(sums_e.size());
    std::vector<Real> nodes_e(static_cast<std::size_t>(tree.nodes)), nodes_s(nodes_e.size());
    for (std::int64_t feature = begin; feature < end; ++feature) {
        if (x.starts[feature] == x.starts[feature + 1]) continue;
        feature_sums(x, feature, e, sums_e);
        feature_sums(x, feature, s, sums_s);
        tree.sum_up(sums_e.data(), nodes_e.data());
        tree.sum_up(sums_s.data(), nodes_s.data());
        for (std::int64_t node = 0; node < tree.nodes; ++node)
            of_nodes[node] += static_cast<double>(nodes_e[node]) * nodes_s[node];
    }
}

// Write the weights v_p (X^T A)_p of the features begin .. end at every node, a row for each
// feature.
template <class Real>
void node_weights(const TreeSums& tree, const double* variances, const ByFeature<Real>& x,
                  const Matrix<Real>& a, std::int64_t begin, std::int64_t end,
                  const Matrix<Real>& out) {
    std::vector<Real> sums(static_cast<std::size_t>(tree.classes));
    for (std::int64_t feature = begin; feature < end; ++feature) {
        feature_sums(x, feature, a, sums);
        Real* weights = out[feature - begin];
        tree.sum_up(sums.data(), weights);
        for (std::int64_t node = 0; node < tree.nodes; ++node)
            weights[node] *= static_cast<Real>(variances[node]);
    }
}

}  // namespace manyclass::klr
