// The linear discriminant of classes, read out of sums of vectors: streaming linear discriminant
// analysis (Hayes and Kanan, Lifelong Machine Learning with Deep Streaming LDA, 2020).
//
//   Σ = (M − Σ_c S_c S_cᵀ / n_c) / (N − C), shrunk towards its mean diagonal;  P = Σ⁻¹
//   μ_c = (S_c + v_c + m) / (n_c + 1 + 1)     v_c: the vector of the description, if there is one
//   the score of a class is w_c · x − ½ w_c · μ_c with w_c = P μ_c
//
// The mean m of all vectors counts as one event of every class, and so does the description: a class
// of one event would win or lose by the length of its mean, and one without events has a score too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "beside/vector_kernels.hpp"
#include "beside/vector_sums.hpp"

namespace manyclass {

// The inverse of the covariance within classes, up to a factor. Own code in a fixed order of
// operations: libraries of linear algebra give other bits on other machines.
class Precision {
public:
    bool empty() const { return numbers_.empty(); }
    const std::vector<float>& numbers() const { return numbers_; }
    // The mean of all vectors when it was computed.
    const std::vector<float>& mean() const { return mean_; }
    void load(std::vector<float> numbers, std::vector<float> mean) {
        numbers_ = std::move(numbers);
        mean_ = std::move(mean);
    }

    // Compute it from the sums of these classes, in this order. It is the identity, and empty, without
    // scatter within classes.
    static Precision of(const VectorSums& sums, const std::vector<std::uint32_t>& classes) {
        Precision precision;
        const std::size_t size = sums.dimension();
        precision.mean_ = mean_of(sums, classes);
        if (sums.within() < VectorSums::UNIT) return precision;
        std::vector<double> matrix(size * size);  // its lower half
        for (std::size_t row = 0; row < size; ++row)
            for (std::size_t at = 0; at <= row; ++at)
                matrix[row * size + at] = static_cast<double>(sums.products(row)[at]);
        const double scatter = trace_of(matrix, size);
        std::vector<double> sum(size);
        for (const std::uint32_t cls : classes) {
            std::copy_n(sums.sum(cls), size, sum.begin());
            const double share = 1 / static_cast<double>(sums[cls].count);
            for (std::size_t row = 0; row < size; ++row)
                add_scaled(&matrix[row * size], sum.data(), row + 1, -share * sum[row]);
        }
        const double trace = trace_of(matrix, size);
        if (!(trace > LEAST_PIVOT * scatter)) return precision;  // all vectors of a class are equal
        // The scale of the whole matrix is free: all scores have it. With a mean diagonal of 1, as the
        // identity has, scores keep their scale as events come.
        const double scale = static_cast<double>(size) / trace, shrunk = shrinkage(sums);
        for (std::size_t row = 0; row < size; ++row) {
            for (std::size_t at = 0; at <= row; ++at) matrix[row * size + at] *= scale * (1 - shrunk);
            matrix[row * size + row] += shrunk;
        }
        factor(matrix, size);
        invert_factor(matrix, size);
        precision.numbers_ = product_of_factor(matrix, size);
        return precision;
    }

    // Write P times a vector.
    void multiply(const float* vector, std::size_t size, float* out) const {
        if (empty()) std::copy_n(vector, size, out);
        else
            for (std::size_t row = 0; row < size; ++row)
                out[row] = product(&numbers_[row * size], vector, size);
    }

private:
    // Return the share of the mean diagonal, 0 to 1: less with more events.
    static double shrinkage(const VectorSums& sums) {
        const auto dimension = static_cast<double>(sums.dimension());
        return dimension / (dimension + static_cast<double>(sums.within()) / VectorSums::UNIT);
    }
    static constexpr double LEAST_PIVOT = 1e-9;

    static double trace_of(const std::vector<double>& matrix, std::size_t size) {
        double trace = 0;
        for (std::size_t row = 0; row < size; ++row) trace += matrix[row * size + row];
        return trace;
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

    // Replace the lower half by its Cholesky factor L, a column at a time.
    static void factor(std::vector<double>& matrix, std::size_t size) {
        std::vector<double> column(size);
        for (std::size_t at = 0; at < size; ++at) {
            // rounding must not make a number negative that the shrinkage keeps above 0
            const double root = std::sqrt(std::max(matrix[at * size + at], LEAST_PIVOT));
            matrix[at * size + at] = root;
            for (std::size_t row = at + 1; row < size; ++row)
                column[row] = matrix[row * size + at] /= root;
            for (std::size_t row = at + 1; row < size; ++row)
                add_scaled(&matrix[row * size + at + 1], &column[at + 1], row - at, -column[row]);
        }
    }

    // Replace L by its inverse, a row at a time.
    static void invert_factor(std::vector<double>& matrix, std::size_t size) {
        std::vector<double> own(size);
        for (std::size_t row = 0; row < size; ++row) {
            std::fill(own.begin(), own.end(), 0.0);
            double* const of_row = &matrix[row * size];
            for (std::size_t at = 0; at < row; ++at)
                add_scaled(own.data(), &matrix[at * size], at + 1, -of_row[at]);
            const double diagonal = of_row[row];
            for (std::size_t at = 0; at < row; ++at) of_row[at] = own[at] / diagonal;
            of_row[row] = 1 / diagonal;
        }
    }

    // Return the product of the inverse factor's transpose and itself.
    static std::vector<float> product_of_factor(const std::vector<double>& factor,
                                                std::size_t size) {
        std::vector<double> sums(size * size, 0.0);
        for (std::size_t of = 0; of < size; ++of)
            for (std::size_t row = 0; row <= of; ++row)
                add_scaled(&sums[row * size], &factor[of * size], row + 1,
                           factor[of * size + row]);
        std::vector<float> numbers(size * size);
        for (std::size_t row = 0; row < size; ++row)
            for (std::size_t at = 0; at <= row; ++at)
                numbers[row * size + at] = numbers[at * size + row] =
                    static_cast<float>(sums[row * size + at]);
        return numbers;
    }

    std::vector<float> numbers_;  // of all rows
    std::vector<float> mean_;
};

}  // namespace manyclass
