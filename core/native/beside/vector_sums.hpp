// Sums of the vectors that events brought, by class and of all classes.
//
//   of a class   count n_c, sum S_c = Σ x          (int64)
//   of all       products M = Σ x xᵀ               (int64, d × d, the lower half)
//
// Integer sums do not depend on the order of the events. An event that is taken back leaves, bit for
// bit, the sums of a model that never learned it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "beside/class_rows.hpp"
#include "beside/vector_kernels.hpp"
#include "pipeline/vector.hpp"

namespace manyclass {

// Classes have the ids of the caller; a class has a row from its first vector until its count is 0.
// Threads: one at a time; any number may call const functions at once.
class VectorSums {
public:
    // The largest product of two numbers is 2^24: no sum exceeds 2^62.
    static constexpr std::int64_t MOST_UNITS = std::int64_t{1} << 38;
    static constexpr std::int64_t UNIT = 64;  // the units of an event of weight 1

    struct ClassSum {
        std::int64_t count = 0;        // in units
        std::uint64_t born = 0;        // the event that began it
        std::uint64_t last = 0;        // the event of its newest vector
        // Events before `born` whose vectors came by a later correction.
        std::vector<std::uint64_t> older = {};

        bool has(std::uint64_t seq) const {
            return seq >= born || std::find(older.begin(), older.end(), seq) != older.end();
        }
    };

    // Return the units of an event of this weight: at least 1.
    static std::int64_t units_of(double weight) {
        return std::max<std::int64_t>(1, std::llround(weight * static_cast<double>(UNIT)));
    }

    std::size_t dimension() const { return dimension_; }
    std::uint32_t classes() const { return classes_; }
    std::int64_t events() const { return events_; }  // in units: an event counts for each class
    // The units behind the scatter within classes: an event less for each class.
    std::int64_t within() const {
        return events_ - UNIT * static_cast<std::int64_t>(classes_) + retired_;
    }
    bool has(std::uint32_t cls) const { return cls < of_.size() && of_[cls].count > 0; }
    const ClassSum& operator[](std::uint32_t cls) const { return of_[cls]; }
    const std::int64_t* sum(std::uint32_t cls) const { return sums_[cls]; }
    // Of the row of M: its numbers up to the diagonal.
    const std::int64_t* products(std::size_t row) const { return &products_[row * (row + 1) / 2]; }

    // Set the dimension, before any vector was added.
    void begin(std::size_t dimension) {
        dimension_ = dimension;
        products_.assign(dimension * (dimension + 1) / 2, 0);
        sums_ = ClassRows<std::int64_t>(dimension);
    }

    // Forget everything, also the dimension.
    void clear() { *this = {}; }

    // Add the vector of event `of` to classes, each once; `seq` is that event, or the one that
    // corrects it. Return false, and add nothing, if a sum could overflow.
    bool add(VectorView vector, const std::vector<std::uint32_t>& classes, std::int64_t units,
             std::uint64_t seq, std::uint64_t of) {
        const std::int64_t more = units * static_cast<std::int64_t>(classes.size());
        if (more > MOST_UNITS - events_ - retired_) return false;
        read(vector);
        for (const std::uint32_t cls : classes) {
            fit(cls);
            ClassSum& sum = of_[cls];
            if (sum.count == 0) {
                sum.born = seq;
                ++classes_;
            }
            sum.last = seq;
            if (!sum.has(of)) sum.older.push_back(of);
            add_to_class(cls, units);
        }
        add_products(more);
        return true;
    }

    // Take the vector of event `of` back from a class. Return false, and change nothing, if the class
    // was forgotten since that event.
    bool take_back(VectorView vector, std::uint32_t cls, std::int64_t units, std::uint64_t of) {
        if (!has(cls) || !of_[cls].has(of) || of_[cls].count < units) return false;
        auto& older = of_[cls].older;
        older.erase(std::remove(older.begin(), older.end(), of), older.end());
        read(vector);
        add_to_class(cls, -units);
        add_products(-units);
        if (of_[cls].count == 0) end_class(cls);
        return true;
    }

    // Add the sums of one class to those of another, which gives the sums of all their events. Events
    // before either class began are taken back by the next rebuild only: one of them may have been
    // forgotten.
    void merge(std::uint32_t from, std::uint32_t to) {
        if (!has(from)) return;
        fit(to);
        ClassSum &of = of_[from], &into = of_[to];
        if (into.count == 0) ++classes_;
        into.born = std::max(into.born, of.born);
        into.last = std::max(into.last, of.last);
        into.count += of.count;
        auto& older = into.older;
        older.insert(older.end(), of.older.begin(), of.older.end());
        std::sort(older.begin(), older.end());
        older.erase(std::unique(older.begin(), older.end()), older.end());
        older.erase(std::lower_bound(older.begin(), older.end(), into.born), older.end());
        const std::int64_t* const sum = sums_[from];
        for (std::size_t at = 0; at < dimension_; ++at) sums_[to][at] += sum[at];
        of.count = 0;
        end_class(from);
    }

    // Forget a class. The scatter of its events within the class stays in M, and nothing else.
    void forget(std::uint32_t cls) {
        if (!has(cls)) return;
        const std::int64_t* const sum = this->sum(cls);
        const auto count = static_cast<double>(of_[cls].count);
        for (std::size_t row = 0; row < dimension_; ++row) {
            const double mean = static_cast<double>(sum[row]) / count;
            std::int64_t* const of_row = &products_[row * (row + 1) / 2];
            for (std::size_t at = 0; at <= row; ++at)
                of_row[at] -= std::llrint(mean * static_cast<double>(sum[at]));
        }
        events_ -= of_[cls].count;
        retired_ += std::max<std::int64_t>(0, of_[cls].count - UNIT);
        of_[cls].count = 0;
        end_class(cls);
    }

    // The bytes that a class takes, by their numbers alone.
    static std::uint64_t bytes_of_class(std::size_t dimension) {
        return dimension * (sizeof(std::int64_t) + sizeof(std::int16_t)) + sizeof(ClassSum);
    }

    // --- state ---------------------------------------------------------------------------------

    std::int64_t retired() const { return retired_; }
    const std::vector<std::int64_t>& all_products() const { return products_; }

    // Begin with the products of a snapshot; the classes follow.
    void load(std::size_t dimension, std::int64_t retired, const std::int64_t* products) {
        begin(dimension);
        retired_ = retired;
        std::copy_n(products, products_.size(), products_.begin());
    }
    void load_class(std::uint32_t cls, const ClassSum& of, const std::int64_t* sum) {
        fit(cls);
        of_[cls] = of;
        std::copy_n(sum, dimension_, sums_[cls]);
        events_ += of.count;
        ++classes_;
    }

    std::size_t resident_bytes() const {
        return sums_.resident_bytes() + products_.capacity() * sizeof(std::int64_t) +
               of_.capacity() * sizeof(ClassSum);
    }

private:
    void read(VectorView vector) {
        numbers_.resize(dimension_);
        for (std::size_t at = 0; at < dimension_; ++at) numbers_[at] = vector[at];
    }

    void fit(std::uint32_t cls) {
        if (cls >= of_.size()) of_.resize(cls + std::size_t{1});
        sums_.add(cls);
    }

    void add_to_class(std::uint32_t cls, std::int64_t units) {
        add_scaled(sums_[cls], numbers_.data(), dimension_, units);
        of_[cls].count += units;
        events_ += units;
    }

    void add_products(std::int64_t units) {
        constexpr std::int64_t SHORT = 127;  // times 2^24 is an int32
        for (std::size_t row = 0; row < dimension_; ++row) {
            std::int64_t* const to = &products_[row * (row + 1) / 2];
            const std::int64_t factor = units * numbers_[row];
            if (factor == 0) continue;
            if (units <= SHORT && units >= -SHORT)
                add_scaled_short(to, numbers_.data(), row + 1, static_cast<std::int32_t>(factor));
            else add_scaled(to, numbers_.data(), row + 1, factor);
        }
    }

    void end_class(std::uint32_t cls) {
        of_[cls] = {};
        sums_.remove(cls);
        if (--classes_ > 0) return;
        // without classes, nothing is left that later sums could need
        const std::size_t dimension = dimension_;
        clear();
        begin(dimension);
    }

    std::size_t dimension_ = 0;
    std::uint32_t classes_ = 0;
    std::int64_t events_ = 0;   // Σ n_c
    std::int64_t retired_ = 0;  // units of the scatter of forgotten classes
    std::vector<ClassSum> of_;  // by class
    ClassRows<std::int64_t> sums_;  // by class, of those with events
    std::vector<std::int64_t> products_;
    std::vector<std::int32_t> numbers_;  // of the present vector
};

}  // namespace manyclass
