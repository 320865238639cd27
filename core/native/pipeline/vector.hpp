// The vector of an instance, such as an embedding of its text: int16 numbers in units of 2^-12 of
// its length, so that sums of vectors and of their products are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include "pipeline/wire.hpp"

namespace manyclass {

constexpr std::size_t LEAST_DIMENSION = 2, MOST_DIMENSION = 3072;
constexpr double VECTOR_LENGTH = 4096;  // of every vector, but for rounding
constexpr double LONGEST_VECTOR = VECTOR_LENGTH + 33;  // sqrt(MOST_DIMENSION) / 2, and one for doubles

// True of the length of a vector that was scaled and rounded, in units.
inline bool is_length(double length, std::size_t dimension) {
    const double most = std::sqrt(static_cast<double>(dimension)) / 2;  // each number is off by 1/2
    return std::fabs(length - VECTOR_LENGTH) < most + 1e-6;
}

// The numbers of a vector in the bytes of an instance, which are not aligned.
class VectorView {
public:
    VectorView() = default;
    VectorView(const char* numbers, std::size_t size) : numbers_(numbers), size_(size) {}

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::size_t bytes() const { return size_ * sizeof(std::int16_t); }
    const char* data() const { return numbers_; }

    std::int16_t operator[](std::size_t at) const {
        std::int16_t number;
        std::memcpy(&number, numbers_ + at * sizeof number, sizeof number);
        return number;
    }

    // True if these are numbers that `append_vector` can have written.
    bool is_valid() const {
        if (size_ < LEAST_DIMENSION || size_ > MOST_DIMENSION) return false;
        std::int64_t squares = 0;
        for (std::size_t at = 0; at < size_; ++at) {
            const std::int64_t number = (*this)[at];
            if (std::abs(number) > static_cast<std::int64_t>(VECTOR_LENGTH)) return false;
            squares += number * number;
        }
        return is_length(std::sqrt(static_cast<double>(squares)), size_);
    }

private:
    const char* numbers_ = nullptr;
    std::size_t size_ = 0;
};

// The bytes of an instance behind its features, for a vector of this dimension.
inline std::size_t vector_bytes(std::size_t dimension) {
    return dimension * sizeof(std::int16_t) + sizeof(std::uint16_t);
}

// Return the vector of an instance; empty without one, and if the bytes are too few for it.
inline VectorView vector_of(std::string_view instance) {
    std::uint16_t dimension = 0;
    if (!has_vector(instance) || instance.size() < sizeof(std::uint32_t) + sizeof dimension)
        return {};
    const char* const end = instance.data() + instance.size() - sizeof dimension;
    std::memcpy(&dimension, end, sizeof dimension);
    if (instance.size() < sizeof(std::uint32_t) + vector_bytes(dimension)) return {};
    return {end - dimension * sizeof(std::int16_t), dimension};
}

// Set the first word of an instance.
inline void set_head(std::string& instance, std::uint32_t head) {
    std::memcpy(instance.data(), &head, sizeof head);
}

// Return the nearest whole number. In a sum with this constant, the last bit of a double is 1.
inline double rounded(double number) {
    constexpr double ROUNDER = 3LL << 51;
    return (number + ROUNDER) - ROUNDER;
}

// True of the numbers of a vector that was scaled and rounded before, whose length is 1 but for the
// rounding.
inline bool is_rounded(const double* numbers, std::size_t dimension) {
    double squares = 0;
    for (std::size_t at = 0; at < dimension; ++at) {
        const double units = numbers[at] * VECTOR_LENGTH;
        if (!(std::fabs(units) <= VECTOR_LENGTH) || rounded(units) != units) return false;
        squares += units * units;
    }
    return is_length(std::sqrt(squares), dimension);
}

constexpr std::size_t PARTS_OF_SUM = 8;  // none waits for another

// Return the largest magnitude; a number that is none is passed over.
inline double largest_of(const double* numbers, std::size_t dimension) {
    double largest[PARTS_OF_SUM] = {};
    const auto take = [](double& of_part, double number) {
        const double magnitude = std::fabs(number);
        of_part = of_part < magnitude ? magnitude : of_part;
    };
    const std::size_t end = dimension / PARTS_OF_SUM * PARTS_OF_SUM;
    for (std::size_t at = 0; at < end; at += PARTS_OF_SUM)
        for (std::size_t part = 0; part < PARTS_OF_SUM; ++part)
            take(largest[part], numbers[at + part]);
    for (std::size_t at = end; at < dimension; ++at) take(largest[at - end], numbers[at]);
    return *std::max_element(largest, largest + PARTS_OF_SUM);
}

// Return the sum of the squares of scaled numbers; NaN if one is none.
inline double squares_of(const double* numbers, std::size_t dimension, double scale) {
    double sums[PARTS_OF_SUM] = {};
    const auto take = [scale](double& sum, double number) {
        sum += number * scale * (number * scale);
    };
    const std::size_t end = dimension / PARTS_OF_SUM * PARTS_OF_SUM;
    for (std::size_t at = 0; at < end; at += PARTS_OF_SUM)
        for (std::size_t part = 0; part < PARTS_OF_SUM; ++part) take(sums[part], numbers[at + part]);
    for (std::size_t at = end; at < dimension; ++at) take(sums[at - end], numbers[at]);
    return std::accumulate(sums, sums + PARTS_OF_SUM, 0.0);
}

// Append a vector to an instance without one. False, and then nothing is appended, unless its
// dimension is within the limits, each number is finite, and one is not 0. A vector as it is kept
// is appended unchanged: an exported one is the same again.
inline bool append_vector(std::string& instance, const double* numbers, std::size_t dimension) {
    if (dimension < LEAST_DIMENSION || dimension > MOST_DIMENSION) return false;
    const double largest = largest_of(numbers, dimension);
    if (!(largest > 0 && std::isfinite(largest))) return false;
    // a power of two scales without rounding, and no square is infinite or 0
    const double power = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
    const double squares = squares_of(numbers, dimension, power);
    if (std::isnan(squares)) return false;
    const double scale =
        VECTOR_LENGTH / (is_rounded(numbers, dimension) ? power : std::sqrt(squares));
    const std::size_t begin = instance.size();
    instance.resize(begin + vector_bytes(dimension));
    char* to = &instance[begin];
    std::int16_t units[64];  // not the instance at once: its bytes are not aligned
    for (std::size_t first = 0; first < dimension; first += std::size(units)) {
        const std::size_t count = std::min(std::size(units), dimension - first);
        for (std::size_t at = 0; at < count; ++at)
            units[at] = static_cast<std::int16_t>(rounded(numbers[first + at] * power * scale));
        std::memcpy(to, units, count * sizeof *units);
        to += count * sizeof *units;
    }
    const auto size = static_cast<std::uint16_t>(dimension);
    std::memcpy(to, &size, sizeof size);
    set_head(instance, head_of(instance) | WITH_VECTOR);
    return true;
}

// Append a vector as another instance has it.
inline void append_vector(std::string& instance, VectorView vector) {
    instance.append(vector.data(), vector_bytes(vector.size()));
    set_head(instance, head_of(instance) | WITH_VECTOR);
}

// Set `features` to the bytes of an instance without its vector.
inline void copy_features(std::string_view instance, VectorView vector, std::string& features) {
    features.assign(instance.substr(0, instance.size() - vector_bytes(vector.size())));
    set_head(features, head_of(features) & ~WITH_VECTOR);
}

}  // namespace manyclass
