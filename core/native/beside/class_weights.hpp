// The weights of classes on the numbers of a vector, as int16: half the memory to read, and products
// that are exact in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "beside/class_rows.hpp"
#include "beside/discriminant.hpp"
#include "beside/vector_kernels.hpp"
#include "pipeline/vector.hpp"

namespace manyclass {

// Each class has a unit of its own, of which its largest weight has at most 32,767: the rounding is
// finer than that of vectors.
// Threads: one changes it; any number may call const functions at once.
class ClassWeights {
public:
    explicit ClassWeights(std::size_t dimension = 0) : dimension_(dimension), numbers_(dimension) {}

    bool has(std::uint32_t cls) const { return numbers_.has(cls); }
    std::size_t count() const { return numbers_.size(); }  // classes with weights
    std::size_t end() const { return scales_.size(); }  // one past the highest class with weights

    // Set the weights of a class, and what is subtracted from its score. Weights beyond all that a
    // covariance gives, as of the factor in a damaged snapshot, count as zeros: each score is finite.
    void set(std::uint32_t cls, const float* weights, float offset) {
        double largest = 0, squares = 0;
        for (std::size_t at = 0; at < dimension_; ++at) {
            const double weight = static_cast<double>(weights[at]);
            largest = std::max(largest, std::fabs(weight));
            squares += weight * weight;
        }
        std::int16_t* const numbers = numbers_.add(cls);
        if (cls >= scales_.size()) scales_.resize(cls + std::size_t{1});
        if (!(std::sqrt(squares) <= LARGEST && std::fabs(offset) <= LARGEST)) {
            std::fill_n(numbers, dimension_, std::int16_t{0});
            scales_[cls] = {};
            return;
        }
        const double unit = std::max({largest / MOST, std::sqrt(squares) / LONGEST, LEAST_UNIT});
        for (std::size_t at = 0; at < dimension_; ++at)
            numbers[at] = static_cast<std::int16_t>(rounded(static_cast<double>(weights[at]) / unit));
        scales_[cls] = {static_cast<float>(unit / VECTOR_LENGTH), offset};
    }

    void remove(std::uint32_t cls) { numbers_.remove(cls); }

    // Return the score of a class that has weights, for the numbers of a vector.
    float score(std::uint32_t cls, const std::int16_t* vector) const {
        const std::int32_t sum = product(numbers_[cls], vector, dimension_);
        return static_cast<float>(sum) * scales_[cls].unit - scales_[cls].offset;
    }

    std::size_t resident_bytes() const {
        return numbers_.resident_bytes() + scales_.capacity() * sizeof(Scale);
    }

private:
    struct Scale {
        float unit = 0, offset = 0;
    };

    // By the inequality of Cauchy and Schwarz, the product of a class and a vector fits into an int32,
    // and so does each part of the sum.
    static constexpr double MOST = 32767, LONGEST = 500000, LEAST_UNIT = 1e-30;
    static constexpr double LARGEST = 1e30;  // no weight exceeds 2e9, for pivots from 5e-10 on
    static_assert(LONGEST * LONGEST_VECTOR < 2147483647.0);

    std::size_t dimension_;
    ClassRows<std::int16_t> numbers_;
    std::vector<Scale> scales_;  // by class
};

// Computes the weights of classes from their means, some classes at a time.
class Weighing {
public:
    Weighing(const Covariance& covariance, std::size_t dimension, ClassWeights& weights)
        : covariance_(covariance), dimension_(dimension), weights_(weights) {}

    // Return where to write the mean of the next class.
    float* mean_of(std::uint32_t cls) {
        if (classes_.size() == TOGETHER) end();
        classes_.push_back(cls);
        if (numbers_.size() < classes_.size() * dimension_)
            numbers_.resize(classes_.size() * dimension_);
        return &numbers_[(classes_.size() - 1) * dimension_];
    }

    // Set the weights of the classes whose means were written.
    void end() {
        std::vector<float*> means;
        for (std::size_t at = 0; at < classes_.size(); ++at)
            means.push_back(&numbers_[at * dimension_]);
        std::vector<float> offsets(means.size());
        covariance_.weigh(means, dimension_, offsets.data());
        for (std::size_t at = 0; at < classes_.size(); ++at)
            weights_.set(classes_[at], means[at], offsets[at]);
        classes_.clear();
    }

private:
    static constexpr std::size_t TOGETHER = 64;  // classes, for each reading of the covariance

    const Covariance& covariance_;
    const std::size_t dimension_;
    ClassWeights& weights_;
    std::vector<std::uint32_t> classes_;
    std::vector<float> numbers_;  // the means, of which each is written before the next is asked for
};

}  // namespace manyclass
