// The scratch area of one retrieval: the scores of the classes that edges lead to.
//
// With few classes for the edges to score it holds a score for each class, which is read and cleared
// as a whole. Otherwise it is a hash table with a power of two of slots, at least twice the edges,
// and a list of those in use: the cost of a ranking does not depend on the number of classes.
//
// The scores of families, which a hierarchical learner has beside those of classes, stand behind
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/family.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

class ScoreTable {
public:
    // Prepare for a retrieval of at most `edges` edges and of class ids below `classes`.
    void start(std::size_t edges, std::size_t classes, bool has_families) {
        undo();  // after an error, scores of the last retrieval
        if (classes * (has_families ? 2 : 1) <= edges * CLASSES_PER_EDGE) {
            classes_ = classes;
            families_ = (classes + BLOCK - 1) / BLOCK * BLOCK;
            size_ = has_families ? families_ + classes : classes;
            to_family_ = static_cast<std::uint32_t>(families_) - FAMILY;
            if (size_ > dense_.size()) dense_.resize(size_, 0.0);
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
        std::fill_n(dense_.begin(), size_, 0.0);
        classes_ = families_ = size_ = 0;
        for (std::size_t i = 0; i < count_; ++i) slots_[touched_[i]] = EMPTY;
        count_ = 0;
    }

    // Add coefficient * mass to the score of each class, or family, of a row.
    template <bool FAMILIES>
    void add(const std::uint32_t* classes, const float* masses, std::uint32_t count,
             double coefficient) {
        if (classes_ > 0) {
            double* const scores = dense_.data();
            const std::uint32_t to_family = to_family_;
            for (std::uint32_t i = 0; i < count; ++i)
                scores[FAMILIES ? place(classes[i], to_family) : classes[i]] +=
                    coefficient * static_cast<double>(masses[i]);
            return;
        }
        Slot* const slots = slots_.data();
        const std::uint32_t mask = mask_;
        const int shift = shift_;
        std::uint32_t* touched = touched_.data() + count_;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t cls = classes[i];
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
            dense_[place(cls, to_family_)] += gain;
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

    // Add coefficient * gains[class] to each score of a class but 0.
    void add_to_each(const std::vector<float>& gains, double coefficient) {
        for (std::size_t cls = 0; cls < classes_; ++cls) {  // without a branch, for vectors
            const auto is_scored = static_cast<double>(dense_[cls] != 0);
            dense_[cls] += is_scored * (coefficient * static_cast<double>(gains[cls]));
        }
        for (std::size_t i = 0; i < count_; ++i) {
            Slot& slot = slots_[touched_[i]];
            if (slot.score != 0 && !is_family(slot.cls))
                slot.score += coefficient * static_cast<double>(gains[slot.cls]);
        }
    }

    // A family of a hierarchy, by its id, and the place in a list of families of the one above it,
    // which comes first; NO_ID, or -1, if there is none. NO_ID in the place of an id is a hole.
    struct Family {
        std::uint32_t id, above;
    };

    // Add to each score but 0 those of the families above. `above_class` has the place of the family
    // right above each class, or NO_ID, by class id; classes behind its end have none. `above` gives
    // the family above a class or a family by their ids.
    template <class F>
    void add_above(const std::vector<Family>& families,
                   const std::vector<std::uint32_t>& above_class, F&& above) {
        if (classes_ > 0) {  // without branches: which scores are 0 cannot be foreseen
            sums_.resize(families.size() + 1);
            double* const sums = sums_.data() + 1;
            double* const scores = dense_.data();
            sums[-1] = 0;
            const auto sum_above = [sums](std::uint32_t place) {
                return sums[static_cast<std::int32_t>(place)];
            };
            for (std::size_t at = 0; at < families.size(); ++at) {
                const Family each = families[at];
                if (each.id == NO_ID) continue;
                double& score = scores[place(each.id, to_family_)];
                sums[at] = score + sum_above(each.above);
                score = unless_zero(score, sums[at]);
            }
            const std::size_t classes = std::min(classes_, above_class.size());
            for (std::size_t cls = 0; cls < classes; ++cls)
                scores[cls] = unless_zero(scores[cls], scores[cls] + sum_above(above_class[cls]));
            return;
        }
        sums_.resize(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            path_.clear();
            for (std::uint32_t id = slots_[touched_[i]].cls; id != NO_ID; id = above(id))
                path_.push_back(score(id));
            sums_[i] = std::accumulate(path_.rbegin(), path_.rend(), 0.0);
        }
        for (std::size_t i = 0; i < count_; ++i) {
            double& score = slots_[touched_[i]].score;
            score = unless_zero(score, sums_[i]);
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
        each_dense(0, classes_, 0, bound, visit);
        for (std::size_t i = 0; i < count_; ++i) {
            const Slot& slot = slots_[touched_[i]];
            if (slot.score >= bound && slot.score != 0 && !is_family(slot.cls))
                bound = visit(slot.cls, slot.score);
        }
    }

    // The same of families, by their ids.
    template <class F>
    void each_family_at_least(double bound, F&& visit) const {
        each_dense(families_, size_, to_family_, bound, visit);
        for (std::size_t i = 0; i < count_; ++i) {
            const Slot& slot = slots_[touched_[i]];
            if (slot.score >= bound && slot.score != 0 && is_family(slot.cls))
                bound = visit(slot.cls, slot.score);
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

    // Return 0 if the score is 0, else the sum.
    static double unless_zero(double score, double sum) {
        std::uint64_t bits, sum_bits;
        std::memcpy(&bits, &score, sizeof bits);
        std::memcpy(&sum_bits, &sum, sizeof bits);
        sum_bits &= -static_cast<std::uint64_t>(bits != 0);
        std::memcpy(&sum, &sum_bits, sizeof sum);
        return sum;
    }

    static bool any_at_least(double bound, const double* scores) {
        const TwoScores bounds = {bound, bound};
        const auto* const two = reinterpret_cast<const TwoScores*>(scores);
        const auto are = (two[0] >= bounds) | (two[1] >= bounds) | (two[2] >= bounds) |
                         (two[3] >= bounds);
        return (are[0] | are[1]) != 0;
    }

    // The place of an id among the dense scores.
    static std::size_t place(std::uint32_t id, std::uint32_t to_family) {
        const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(id) >> 31);
        return id + (sign & to_family);
    }

    // Visit the dense scores from `at` on; the id of one is `less` below its place.
    template <class F>
    void each_dense(std::size_t at, std::size_t end, std::uint32_t less, double& bound,
                    F&& visit) const {
        const auto offer = [&](std::size_t place) {
            const double score = dense_[place];
            if (score >= bound && score != 0)
                bound = visit(static_cast<std::uint32_t>(place) - less, score);
        };
        for (; at + BLOCK <= end; at += BLOCK)
            if (any_at_least(bound, &dense_[at]))
                for (std::size_t place = at; place < at + BLOCK; ++place) offer(place);
        for (; at < end; ++at) offer(at);
    }

    const double* find(std::uint32_t cls) const {
        if (classes_ > 0) return &dense_[place(cls, to_family_)];
        if (count_ == 0) return nullptr;
        for (std::uint32_t at = home(cls, shift_); slots_[at].cls != NO_ID; at = (at + 1) & mask_)
            if (slots_[at].cls == cls) return &slots_[at].score;
        return nullptr;
    }

    // Multiplicative hashing by the golden ratio: ids come in runs, and adjacent slots collide.
    static std::uint32_t home(std::uint32_t cls, int shift) { return (cls * 0x9e3779b1u) >> shift; }

    std::vector<double> dense_;    // by class id, then of families
    std::size_t classes_ = 0;      // in use there; 0: the hash table is
    std::size_t families_ = 0;     // the place of the first of them, at the begin of a block
    std::size_t size_ = 0;         // scores in use there, those between the two are 0
    std::uint32_t to_family_ = 0;  // from the id of a family to its place there
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> touched_;
    std::vector<double> sums_, path_;  // sums along paths; the scores of one
    std::uint32_t mask_ = 0;
    int shift_ = 26;
    std::size_t count_ = 0;
};

}  // namespace manyclass
