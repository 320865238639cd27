// The weights of classes on the numbers of a vector, as int16: half the memory to read, and products
// that are exact in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "beside/vector_kernels.hpp"
#include "pipeline/vector.hpp"

namespace manyclass {

// A row of weights by class id. Its numbers count in units of the row, of which the largest weight has
// at most 32,767: the rounding is finer than that of vectors.
// Threads: one changes it; any number may read meanwhile what it does not change.
class ClassWeights {
public:
    ClassWeights() = default;
    ClassWeights(std::size_t rows, std::size_t dimension) : dimension_(dimension) { fit(rows); }

    // Have at least so many rows.
    void fit(std::size_t rows) {
        if (rows <= has_.size()) return;
        has_.resize(rows);
        units_.resize(rows);
        offsets_.resize(rows);
        numbers_.resize(rows * dimension_);
    }

    bool has(std::size_t row) const { return row < has_.size() && has_[row] != 0; }
    std::size_t rows() const { return has_.size(); }
    std::uint32_t count() const { return count_; }  // rows with weights

    // Set the weights of a row, and what is subtracted from its score.
    void set(std::size_t row, const std::vector<float>& weights, float offset) {
        double largest = 0, squares = 0;
        for (const float weight : weights) {
            largest = std::max(largest, std::fabs(static_cast<double>(weight)));
            squares += static_cast<double>(weight) * static_cast<double>(weight);
        }
        const double unit = std::max({largest / MOST, std::sqrt(squares) / LONGEST, LEAST_UNIT});
        for (std::size_t at = 0; at < dimension_; ++at)
            numbers_[row * dimension_ + at] =
                static_cast<std::int16_t>(rounded(static_cast<double>(weights[at]) / unit));
        units_[row] = static_cast<float>(unit / VECTOR_LENGTH);
        offsets_[row] = offset;
        count_ += !has_[row];
        has_[row] = 1;
    }

    void remove(std::size_t row) {
        count_ -= has_[row];
        has_[row] = 0;
    }

    // Return the score of a row that has weights, for the numbers of a vector.
    float score(std::size_t row, const std::int16_t* vector) const {
        const std::int32_t sum = product(&numbers_[row * dimension_], vector, dimension_);
        return static_cast<float>(sum) * units_[row] - offsets_[row];
    }

    std::size_t resident_bytes() const {
        return numbers_.capacity() * sizeof(std::int16_t) +
               (units_.capacity() + offsets_.capacity()) * sizeof(float) + has_.capacity();
    }

private:
    // By Cauchy and Schwarz, the product of a row of this length and a vector is an int32, and so is
    // each part of the sum.
    static constexpr double MOST = 32767, LONGEST = 500000, LEAST_UNIT = 1e-30;
    static_assert(LONGEST * LONGEST_VECTOR < 2147483647.0);

    std::size_t dimension_ = 0;
    std::uint32_t count_ = 0;
    std::vector<std::int16_t> numbers_;
    std::vector<float> units_, offsets_;  // by row
    std::vector<std::uint8_t> has_;       // by row: 1 with weights
};

}  // namespace manyclass
