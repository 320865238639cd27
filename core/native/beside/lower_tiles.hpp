// The lower half of a symmetric matrix in tiles, and its Cholesky factor.
//
//   00                    a tile: SIDE × SIDE numbers, one column after another
//   10 11                 the tiles of a row of tiles are end to end: 20 21 22
//   20 21 22
//
// A tile is in the innermost cache while it is worked on, and its columns are vectors. Own code in a
// fixed order of operations: libraries of linear algebra give other bits on other machines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "math/any_width.hpp"

namespace manyclass {

constexpr std::size_t SIDE = 16, TILE = SIDE * SIDE;

// Subtract A Bᵀ from a tile, for `count` tiles A and B that lie end to end.
MANYCLASS_ANY_WIDTH inline void subtract_products(double* __restrict to, const double* __restrict a,
                                                  const double* __restrict b, std::size_t count) {
    constexpr std::size_t ROWS = 8, COLUMNS = 4;  // that fit into registers
    for (std::size_t column = 0; column < SIDE; column += COLUMNS)
        for (std::size_t row = 0; row < SIDE; row += ROWS) {
            double sums[COLUMNS][ROWS];
            for (std::size_t c = 0; c < COLUMNS; ++c)
                for (std::size_t r = 0; r < ROWS; ++r) sums[c][r] = to[(column + c) * SIDE + row + r];
            for (std::size_t at = 0; at < count * TILE; at += SIDE)
                for (std::size_t c = 0; c < COLUMNS; ++c)
                    for (std::size_t r = 0; r < ROWS; ++r)
                        sums[c][r] -= b[at + column + c] * a[at + row + r];
            for (std::size_t c = 0; c < COLUMNS; ++c)
                for (std::size_t r = 0; r < ROWS; ++r) to[(column + c) * SIDE + row + r] = sums[c][r];
        }
}

// Replace tile A by A L⁻ᵀ, for a lower triangle L.
MANYCLASS_ANY_WIDTH inline void divide(double* __restrict a, const double* __restrict triangle) {
    for (std::size_t column = 0; column < SIDE; ++column) {
        for (std::size_t before = 0; before < column; ++before)
            for (std::size_t row = 0; row < SIDE; ++row)
                a[column * SIDE + row] -= triangle[before * SIDE + column] * a[before * SIDE + row];
        for (std::size_t row = 0; row < SIDE; ++row)
            a[column * SIDE + row] /= triangle[column * SIDE + column];
    }
}

// Ownership: owns its numbers. Threads: one at a time.
class LowerTiles {
public:
    // All numbers are 0. Beyond the size, the tiles go on with those of the identity.
    explicit LowerTiles(std::size_t size)
        : size_(size), rows_((size + SIDE - 1) / SIDE), numbers_(rows_ * (rows_ + 1) / 2 * TILE) {
        for (std::size_t at = size; at < rows_ * SIDE; ++at) (*this)(at, at) = 1;
    }

    std::size_t size() const { return size_; }
    std::size_t rows() const { return rows_; }  // of tiles

    double& operator()(std::size_t row, std::size_t column) {
        return tile(row / SIDE, column / SIDE)[column % SIDE * SIDE + row % SIDE];
    }
    double operator()(std::size_t row, std::size_t column) const {
        return const_cast<LowerTiles&>(*this)(row, column);
    }

    double trace() const {
        double trace = 0;
        for (std::size_t at = 0; at < size_; ++at) trace += (*this)(at, at);
        return trace;
    }

    // Subtract A Aᵀ. A has `count` tiles in each row of tiles, row by row.
    void subtract_square(const std::vector<double>& a, std::size_t count) {
        for (std::size_t row = 0; row < rows_; ++row)
            for (std::size_t at = 0; at <= row; ++at)
                subtract_products(tile(row, at), &a[row * count * TILE], &a[at * count * TILE],
                                  count);
    }

    // Replace the matrix by its factor L with L Lᵀ equal to it. False, and then use no number, if the
    // square of a number of its diagonal would be less than `least`, which is above 0.
    bool factor(double least) {
        for (std::size_t first = 0; first < rows_; first += TOGETHER) {
            const std::size_t last = std::min(rows_, first + TOGETHER);
            for (std::size_t column = 0; column < last; ++column)
                for (std::size_t row = std::max(first, column); row < last; ++row)
                    if (!finish(row, column, least)) return false;
        }
        return true;
    }

private:
    // Rows of tiles that are computed together: those above are read once for all of them.
    static constexpr std::size_t TOGETHER = 8;

    double* tile(std::size_t row, std::size_t column) {
        return &numbers_[(row * (row + 1) / 2 + column) * TILE];
    }

    // Compute a tile of the factor, after those left of it and those of the row `column`.
    bool finish(std::size_t row, std::size_t column, double least) {
        double* const own = tile(row, column);
        subtract_products(own, tile(row, 0), tile(column, 0), column);
        if (row == column) return factor_triangle(own, least);
        divide(own, tile(column, column));
        return true;
    }

    static bool factor_triangle(double* own, double least) {
        for (std::size_t at = 0; at < SIDE; ++at) {
            if (!(own[at * SIDE + at] >= least)) return false;
            const double root = std::sqrt(own[at * SIDE + at]);
            own[at * SIDE + at] = root;
            for (std::size_t row = at + 1; row < SIDE; ++row) own[at * SIDE + row] /= root;
            for (std::size_t column = at + 1; column < SIDE; ++column)
                for (std::size_t row = column; row < SIDE; ++row)
                    own[column * SIDE + row] -= own[at * SIDE + column] * own[at * SIDE + row];
        }
        return true;
    }

    std::size_t size_, rows_;
    std::vector<double> numbers_;
};

}  // namespace manyclass
