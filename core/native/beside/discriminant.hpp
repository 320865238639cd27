// The linear discriminant of classes, read out of sums of vectors: streaming linear discriminant
// analysis (Hayes and Kanan, Lifelong Machine Learning with Deep Streaming LDA, 2020).
//
//   Σ = (M − Σ_c S_c S_cᵀ / n_c) / (N − C), shrunk towards its mean diagonal;  Σ = L Lᵀ
//   μ_c = (S_c + v_c + m) / (n_c + 1 + 1)     v_c: the vector of the description, if there is one
//   the score of a class is w_c · x − ½ w_c · μ_c with w_c = Σ⁻¹ μ_c = L⁻ᵀ L⁻¹ μ_c
//
// The mean m of all vectors counts as one event of every class, and so does the description: a class
// of one event would win or lose by the length of its mean, and one without events has a score too.
// The inverse of Σ is never computed: the factor takes a third of its time and half of its memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "beside/lower_tiles.hpp"
#include "beside/vector_kernels.hpp"
#include "beside/vector_sums.hpp"

namespace manyclass {

// The factor L of the covariance within classes, up to a factor. Own code in a fixed order of
// operations: libraries of linear algebra give other bits on other machines.
// Ownership: owns its numbers. Threads: any number may call const functions at once.
class Covariance {
public:
    // True for the identity.
    bool empty() const { return factor_.empty(); }
    // The rows of L, each up to the diagonal.
    const std::vector<float>& factor() const { return factor_; }
    // The mean of all vectors when it was computed.
    const std::vector<float>& mean() const { return mean_; }
    void load(std::vector<float> factor, std::vector<float> mean) {
        factor_ = std::move(factor);
        mean_ = std::move(mean);
    }

    // Compute it from the sums of these classes, in this order. It is the identity, and empty, without
    // scatter within classes.
    static Covariance of(const VectorSums& sums, const std::vector<std::uint32_t>& classes) {
        Covariance covariance;
        covariance.mean_ = mean_of(sums, classes);
        if (sums.within() < VectorSums::UNIT) return covariance;
        LowerTiles matrix = scatter_within(sums, classes);
        const double trace = matrix.trace();
        if (!(trace > LEAST_PIVOT * all_squares(sums))) return covariance;  // a class has equal vectors
        if (!shrink_and_factor(matrix, trace, shrinkage(sums))) {
            // classes that were forgotten left rounded numbers, of almost equal vectors no scatter
            matrix = scatter_within(sums, classes);
            if (!shrink_and_factor(matrix, trace, LARGE_SHARE)) return covariance;
        }
        covariance.factor_ = rows_of(matrix);
        return covariance;
    }

    // Replace means of `size` numbers by the weights of their classes, and set the offset of each: half
    // the product of both. A mean has the same operations beside others as alone.
    void weigh(const std::vector<float*>& means, std::size_t size, float* offsets) const {
        if (!empty())
            for (std::size_t begin = 0; begin < size; begin += ROWS)
                for (float* const mean : means)
                    solve_down(mean, begin, std::min(size, begin + ROWS));
        for (const float* const mean : means) *offsets++ = product(mean, mean, size) / 2;
        if (empty()) return;
        for (std::size_t end = size; end > 0; end = (end - 1) / ROWS * ROWS)
            for (float* const mean : means) solve_up(mean, (end - 1) / ROWS * ROWS, end);
    }

private:
    static constexpr std::size_t ROWS = 32;  // of L, which stay in a cache for all means
    static constexpr double LEAST_PIVOT = 1e-9, LARGE_SHARE = 0.5;

    // Return the share of the mean diagonal, 0 to 1: less with more events.
    static double shrinkage(const VectorSums& sums) {
        const auto dimension = static_cast<double>(sums.dimension());
        return dimension / (dimension + static_cast<double>(sums.within()) / VectorSums::UNIT);
    }

    static std::vector<float> mean_of(const VectorSums& sums,
                                      const std::vector<std::uint32_t>& classes) {
        std::vector<std::int64_t> total(sums.dimension());
        for (const std::uint32_t cls : classes)
            for (std::size_t at = 0; at < total.size(); ++at) total[at] += sums.sum(cls)[at];
        std::vector<float> mean;
        const double count = static_cast<double>(std::max<std::int64_t>(1, sums.events()));
        for (const std::int64_t sum : total)
            mean.push_back(static_cast<float>(static_cast<double>(sum) / count / VECTOR_LENGTH));
        return mean;
    }

    // Return the sum of the squares of the numbers of all vectors.
    static double all_squares(const VectorSums& sums) {
        double squares = 0;
        for (std::size_t row = 0; row < sums.dimension(); ++row)
            squares += static_cast<double>(sums.products(row)[row]);
        return squares;
    }

    static LowerTiles scatter_within(const VectorSums& sums,
                                     const std::vector<std::uint32_t>& classes) {
        LowerTiles matrix(sums.dimension());
        for (std::size_t row = 0; row < matrix.size(); ++row)
            for (std::size_t at = 0; at <= row; ++at)
                matrix(row, at) = static_cast<double>(sums.products(row)[at]);
        subtract_means(matrix, sums, classes);
        return matrix;
    }

    // Subtract S Sᵀ / n of each class.
    static void subtract_means(LowerTiles& matrix, const VectorSums& sums,
                               const std::vector<std::uint32_t>& classes) {
        constexpr std::size_t TILES = 4;  // of classes at once
        std::vector<double> columns(matrix.rows() * TILES * TILE);
        for (std::size_t first = 0; first < classes.size(); first += TILES * SIDE) {
            std::fill(columns.begin(), columns.end(), 0.0);
            const std::size_t count = std::min(TILES * SIDE, classes.size() - first);
            for (std::size_t at = 0; at < count; ++at)
                set_column(&columns[at * SIDE], TILES * TILE, sums, classes[first + at]);
            matrix.subtract_square(columns, TILES);
        }
    }

    // Write S / √n of a class as a column of tiles, from one row of tiles to the next by `step`.
    static void set_column(double* to, std::size_t step, const VectorSums& sums, std::uint32_t cls) {
        const double share = 1 / std::sqrt(static_cast<double>(sums[cls].count));
        const std::int64_t* const sum = sums.sum(cls);
        for (std::size_t at = 0; at < sums.dimension(); ++at)
            to[at / SIDE * step + at % SIDE] = static_cast<double>(sum[at]) * share;
    }

    // Replace the scatter by the factor of the shrunk covariance; false, and then use no number, if the
    // matrix was no scatter but for rounding: the shrinkage keeps each pivot at its share or above.
    // The scale of the whole matrix is free: all scores have it. With a mean diagonal of 1, as the
    // identity has, scores keep their scale as events come.
    static bool shrink_and_factor(LowerTiles& matrix, double trace, double share) {
        const double scale = static_cast<double>(matrix.size()) / trace;
        for (std::size_t row = 0; row < matrix.size(); ++row) {
            for (std::size_t at = 0; at <= row; ++at) matrix(row, at) *= scale * (1 - share);
            matrix(row, row) += share;
        }
        return matrix.factor(std::max(LEAST_PIVOT, share / 2));
    }

    static std::vector<float> rows_of(const LowerTiles& matrix) {
        std::vector<float> rows;
        rows.reserve(matrix.size() * (matrix.size() + 1) / 2);
        for (std::size_t row = 0; row < matrix.size(); ++row)
            for (std::size_t at = 0; at <= row; ++at)
                rows.push_back(static_cast<float>(matrix(row, at)));
        return rows;
    }

    const float* row_of(std::size_t row) const { return &factor_[row * (row + 1) / 2]; }

    // Multiply by the inverse of L: some rows, after those above.
    void solve_down(float* vector, std::size_t begin, std::size_t end) const {
        for (std::size_t row = begin; row < end; ++row)
            vector[row] = (vector[row] - product(row_of(row), vector, row)) / row_of(row)[row];
    }

    // Multiply by the inverse of Lᵀ: some rows, after those below.
    void solve_up(float* vector, std::size_t begin, std::size_t end) const {
        for (std::size_t row = end; row-- > begin;) {
            vector[row] /= row_of(row)[row];
            add_scaled(vector, row_of(row), row, -vector[row]);
        }
    }

    std::vector<float> factor_, mean_;
};

}  // namespace manyclass
