// A matrix with a row for each of some classes, which have ids of any size.
//
//   row_of_   [ -, 0, -, -, 1 ]        by id
//   blocks_   [ row 0 … 15 ][ row 16 … ]
//
// A class without a row takes four bytes. Rows never move: with more classes, no
// event pays for a copy of all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace manyclass {

// Ownership: owns the numbers of its rows.
// Threads: one at a time; any number may call const functions at once.
template <class Number>
class ClassRows {
public:
    explicit ClassRows(std::size_t width = 0) : width_(width) {}

    bool has(std::uint32_t cls) const { return cls < row_of_.size() && row_of_[cls] != NO_ROW; }
    std::size_t size() const { return rows_ - free_.size(); }

    // Return the row of a class that has one.
    const Number* operator[](std::uint32_t cls) const { return row(row_of_[cls]); }
    Number* operator[](std::uint32_t cls) { return row(row_of_[cls]); }

    // Return the row of a class; a new one is of zeros.
    Number* add(std::uint32_t cls) {
        if (has(cls)) return (*this)[cls];
        if (cls >= row_of_.size()) row_of_.resize(cls + std::size_t{1}, NO_ROW);
        row_of_[cls] = free_row();
        Number* const added = (*this)[cls];
        std::fill_n(added, width_, Number{});
        return added;
    }

    // Take the row of a class, for the next one. Without any row, all memory is returned.
    void remove(std::uint32_t cls) {
        if (!has(cls)) return;
        free_.push_back(row_of_[cls]);
        row_of_[cls] = NO_ROW;
        if (size() == 0) *this = ClassRows(width_);
    }

    std::size_t resident_bytes() const {
        return blocks_.size() * ROWS * width_ * sizeof(Number) +
               (row_of_.capacity() + free_.capacity()) * sizeof(std::uint32_t);
    }

private:
    static constexpr std::size_t ROWS = 16;  // of a block
    static constexpr std::uint32_t NO_ROW = 0xffffffffu;

    std::uint32_t free_row() {
        if (free_.empty()) {
            if (rows_ % ROWS == 0) blocks_.emplace_back(new Number[ROWS * width_]);
            return rows_++;
        }
        const std::uint32_t row = free_.back();
        free_.pop_back();
        return row;
    }

    Number* row(std::uint32_t row) const {
        return &blocks_[row / ROWS][row % ROWS * width_];
    }

    std::size_t width_;
    std::uint32_t rows_ = 0;  // in the blocks, with free ones
    std::vector<std::uint32_t> row_of_, free_;
    std::vector<std::unique_ptr<Number[]>> blocks_;
};

}  // namespace manyclass
