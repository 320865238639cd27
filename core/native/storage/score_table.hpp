// The scratch area of one retrieval: the scores of the classes that edges lead to.
//
// With few classes for the edges to score it holds a score for each class, which is read and cleared
// as a whole. Otherwise it is a hash table with a power of two of slots, at least twice the edges,
// and a list of those in use: the cost of a ranking does not depend on the number of classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/vocabulary.hpp"

namespace manyclass {

class ScoreTable {
public:
    // Prepare for a retrieval of at most `edges` edges and of class ids below `classes`.
    void start(std::size_t edges, std::size_t classes) {
        undo();  // after an error, scores of the last retrieval
        if (classes <= edges * CLASSES_PER_EDGE) {
            classes_ = classes;
            if (classes > dense_.size()) dense_.resize(classes, 0.0);
            return;
        }
        std::size_t size = 64;
        int bits = 6;
        for (; size < edges * 2; size *= 2) ++bits;
        if (size > slots_.size()) {
            touched_.resize(size);
            slots_.assign(size, EMPTY);
        }
        mask_ = static_cast<std::uint32_t>(size - 1);
        shift_ = 32 - bits;
    }

    void undo() {
        std::fill_n(dense_.begin(), classes_, 0.0);
        classes_ = 0;
        for (std::size_t i = 0; i < count_; ++i) slots_[touched_[i]] = EMPTY;
        count_ = 0;
    }

    // Add coefficient * mass to the score of each class of a row. `slot_of` gives the place in the
    // table of an id in the row.
    template <class S>
    void add(const std::uint32_t* classes, const float* masses, std::uint32_t count,
             double coefficient, S&& slot_of) {
        if (classes_ > 0) {
            double* const scores = dense_.data();
            for (std::uint32_t i = 0; i < count; ++i)
                scores[slot_of(classes[i])] += coefficient * static_cast<double>(masses[i]);
            return;
        }
        Slot* const slots = slots_.data();
        const std::uint32_t mask = mask_;
        const int shift = shift_;
        std::uint32_t* touched = touched_.data() + count_;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t cls = slot_of(classes[i]);
            const double gain = coefficient * static_cast<double>(masses[i]);
            std::uint32_t at = home(cls, shift);
            while (slots[at].cls != cls && slots[at].cls != NO_ID) at = (at + 1) & mask;
            if (slots[at].cls == NO_ID) {
                slots[at].cls = cls;
                *touched++ = at;
            }
            slots[at].score += gain;
        }
        count_ = static_cast<std::size_t>(touched - touched_.data());
    }

    // Add to the score of one class, which counts as one more edge.
    void add(std::uint32_t cls, double gain) {
        if (classes_ > 0) {
            dense_[cls] += gain;
            return;
        }
        std::uint32_t at = home(cls, shift_);
        while (slots_[at].cls != cls && slots_[at].cls != NO_ID) at = (at + 1) & mask_;
        if (slots_[at].cls == NO_ID) {
            slots_[at].cls = cls;
            touched_[count_++] = at;
        }
        slots_[at].score += gain;
    }

    // Add coefficient * gains[class] to each score but 0.
    void add_to_each(const std::vector<float>& gains, double coefficient) {
        for (std::size_t cls = 0; cls < classes_; ++cls) {  // without a branch, for vectors
            const auto is_scored = static_cast<double>(dense_[cls] != 0);
            dense_[cls] += is_scored * (coefficient * static_cast<double>(gains[cls]));
        }
        for (std::size_t i = 0; i < count_; ++i) {
            Slot& slot = slots_[touched_[i]];
            if (slot.score != 0) slot.score += coefficient * static_cast<double>(gains[slot.cls]);
        }
    }

    // An entry of a hierarchy, and the place in a list of them of the one above it, which comes
    // first; NO_ID if there is none. NO_ID in the place of a slot is a hole.
    struct Ordered {
        std::uint32_t slot, above;
    };

    // Add to each score but 0 those above it, and none becomes 0. `order` lists every slot with
    // others above or below it; `above` is called with slots.
    template <class F>
    void add_above(const std::vector<Ordered>& order, F&& above) {
        const auto not_zero = [](double sum) {
            return sum == 0 ? -std::numeric_limits<double>::min() : sum;
        };
        if (classes_ > 0) {
            sums_.resize(order.size());
            for (std::size_t at = 0; at < order.size(); ++at) {
                const Ordered each = order[at];
                if (each.slot == NO_ID) continue;
                double& score = dense_[each.slot];
                sums_[at] = score + (each.above == NO_ID ? 0.0 : sums_[each.above]);
                if (score != 0) score = not_zero(sums_[at]);
            }
            return;
        }
        sums_.resize(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            path_.clear();
            for (std::uint32_t slot = slots_[touched_[i]].cls; slot != NO_ID; slot = above(slot))
                path_.push_back(score(slot));
            sums_[i] = std::accumulate(path_.rbegin(), path_.rend(), 0.0);
        }
        for (std::size_t i = 0; i < count_; ++i) {
            double& score = slots_[touched_[i]].score;
            if (score != 0) score = not_zero(sums_[i]);
        }
    }

    // Return the score of a class, 0 if no edge leads to it.
    double score(std::uint32_t cls) const {
        const double* const found = find(cls);
        return found == nullptr ? 0.0 : *found;
    }

    // Take the score of a class out of the table; return it.
    double take(std::uint32_t cls) {
        double* const found = const_cast<double*>(find(cls));
        return found == nullptr ? 0.0 : std::exchange(*found, 0.0);
    }

    // Put back a score that was taken.
    void restore(std::uint32_t cls, double score) {
        if (score != 0) *const_cast<double*>(find(cls)) = score;
    }

    // No more classes than this have a score but 0.
    std::size_t size() const { return classes_ > 0 ? classes_ : count_; }

    // Call the function with each class whose score is not 0 and at least a bound, in any order.
    // The function returns the bound from then on.
    template <class F>
    void each_at_least(double bound, F&& visit) const {
        std::size_t cls = 0;
        for (; cls + BLOCK <= classes_; cls += BLOCK)
            if (any_at_least(bound, &dense_[cls]))
                for (std::size_t at = cls; at < cls + BLOCK; ++at) offer(at, bound, visit);
        for (; cls < classes_; ++cls) offer(cls, bound, visit);
        for (std::size_t i = 0; i < count_; ++i) {
            const Slot& slot = slots_[touched_[i]];
            if (slot.score >= bound && slot.score != 0) bound = visit(slot.cls, slot.score);
        }
    }

private:
    // Reading a score is cheaper than finding and listing a slot, by about this factor.
    static constexpr std::size_t CLASSES_PER_EDGE = 8;
    static constexpr std::size_t BLOCK = 8;  // of scores that are compared at once

    struct Slot {
        std::uint32_t cls;
        double score;
    };
    static constexpr Slot EMPTY{NO_ID, 0.0};

    // Two scores, at any address: a vector type of GCC and Clang.
    using TwoScores [[gnu::vector_size(16), gnu::aligned(8), gnu::may_alias]] = double;

    static bool any_at_least(double bound, const double* scores) {
        const TwoScores bounds = {bound, bound};
        const auto* const two = reinterpret_cast<const TwoScores*>(scores);
        const auto are = (two[0] >= bounds) | (two[1] >= bounds) | (two[2] >= bounds) |
                         (two[3] >= bounds);
        return (are[0] | are[1]) != 0;
    }

    template <class F>
    void offer(std::size_t cls, double& bound, F&& visit) const {
        const double score = dense_[cls];
        if (score >= bound && score != 0) bound = visit(static_cast<std::uint32_t>(cls), score);
    }

    const double* find(std::uint32_t cls) const {
        if (classes_ > 0) return &dense_[cls];
        if (count_ == 0) return nullptr;
        for (std::uint32_t at = home(cls, shift_); slots_[at].cls != NO_ID; at = (at + 1) & mask_)
            if (slots_[at].cls == cls) return &slots_[at].score;
        return nullptr;
    }

    // Multiplicative hashing by the golden ratio: ids come in runs, and adjacent slots collide.
    static std::uint32_t home(std::uint32_t cls, int shift) { return (cls * 0x9e3779b1u) >> shift; }

    std::vector<double> dense_;  // by class id
    std::size_t classes_ = 0;    // scores in use there; 0: the hash table is
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> touched_;
    std::vector<double> sums_, path_;  // sums along paths; the scores of one
    std::uint32_t mask_ = 0;
    int shift_ = 26;
    std::size_t count_ = 0;
};

}  // namespace manyclass
