// The scratch area of one retrieval: the scores of the classes that edges lead to.
//
// With few classes for the edges to score it holds a score for each class, which is read and
// cleared as a whole. Otherwise it is a hash table with a power of two of slots, at least twice the
// edges, and a list of those in use: the cost of a ranking does not depend on the number of
// classes.
//
// A hierarchical learner has scores of families beside those of classes. Without a hash table edges
// then add to pairs, and `add_above` takes the scores of the classes from them:
//
//   pairs_   [ class 0 | family 0 | class 1 | family 1 | ... ]
//   dense_   [ class 0 | class 1 | ... ]
#pragma once

#include <algorithm>
#include <array>
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
        if (classes <= edges * CLASSES_PER_EDGE) {
            classes_ = classes;
            paired_ = has_families ? classes : 0;
            const std::size_t size = (classes + COLUMNS - 1) / COLUMNS * COLUMNS;
            if (size > dense_.size()) dense_.resize(size, 0.0);
            if (2 * paired_ > pairs_.size()) pairs_.resize(2 * paired_, 0.0);
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
        std::fill_n(pairs_.begin(), 2 * paired_, 0.0);
        classes_ = paired_ = 0;
        for (std::size_t i = 0; i < count_; ++i) slots_[touched_[i]] = EMPTY;
        count_ = 0;
    }

    // Add coefficient * mass to the score of each class, or family, of a row.
    template <bool FAMILIES>
    void add(const std::uint32_t* classes, const float* masses, std::uint32_t count,
             double coefficient) {
        if (classes_ > 0) {
            add_to_dense<FAMILIES>(classes, masses, count, coefficient);
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

    // Add to the score of one class, which counts as one more edge; after `add_above`, if there are
    // families.
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

    // Add coefficient * gains[class] to each score of a class but 0; before `add_above`.
    void add_to_each(const std::vector<float>& gains, double coefficient) {
        const auto add_to = [&](double& score, std::size_t cls) {  // without a branch, for vectors
            const auto is_scored = static_cast<double>(score != 0);
            score += is_scored * (coefficient * static_cast<double>(gains[cls]));
        };
        for (std::size_t cls = 0; cls < paired_; ++cls) add_to(pairs_[2 * cls], cls);
        for (std::size_t cls = paired_; cls < classes_; ++cls) add_to(dense_[cls], cls);
        for (std::size_t i = 0; i < count_; ++i) {
            Slot& slot = slots_[touched_[i]];
            if (slot.score != 0 && !is_family(slot.cls))
                slot.score += coefficient * static_cast<double>(gains[slot.cls]);
        }
    }

    // A family of a hierarchy, by its id, and the position in a list of families of the one above
    // it, which comes first; NO_ID, or -1, if there is none. NO_ID instead of an id is a hole.
    struct Family {
        std::uint32_t id, above;
    };

    // Add to each score but 0 those of the families above. `above_class` has the position of the
    // family right above each class, or NO_ID, by class id; classes behind its end have none.
    // `above` gives the family above a class or a family by their ids.
    template <class F>
    void add_above(const std::vector<Family>& families,
                   const std::vector<std::uint32_t>& above_class, F&& above) {
        if (classes_ > 0) {
            add_above_families(families);
            add_above_classes(above_class);
            return;
        }
        if (families.empty()) return;
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
        for (std::size_t begin = 0; begin < classes_; begin += BLOCK)
            each_of_block(&dense_[begin], bound, [&](std::size_t at, double score) {
                return visit(static_cast<std::uint32_t>(begin + at), score);
            });
        for (std::size_t i = 0; i < count_; ++i) {
            const Slot& slot = slots_[touched_[i]];
            if (slot.score >= bound && slot.score != 0 && !is_family(slot.cls))
                bound = visit(slot.cls, slot.score);
        }
    }

    // Return a score above 0 that the scores of `k` classes reach; without one, what all reach.
    // With the scores in rows of a fixed length, those are the highest of the columns. Neighbors
    // are in different columns: the high scores are often those of classes that came first.
    double reached_by(std::size_t k) const {
        constexpr double LEAST = -std::numeric_limits<double>::infinity();
        if (k == 0 || k > COLUMNS || classes_ == 0) return LEAST;
        std::array<double, COLUMNS> highest;
        for (std::size_t column = 0; column < COLUMNS; column += BLOCK)
            find_highest(column, &highest[column]);
        std::array<double, COLUMNS> first;  // the k highest so far, in order
        std::size_t kept = 0;
        for (const double score : highest) {
            if (kept == k && !(score > first[k - 1])) continue;
            std::size_t at = kept < k ? kept++ : k - 1;
            for (; at > 0 && score > first[at - 1]; --at) first[at] = first[at - 1];
            first[at] = score;
        }
        return first[k - 1] > 0 ? first[k - 1] : LEAST;
    }

    // Call the function with each of the families of `add_above`, by its id, whose score is at
    // least a bound above 0.
    template <class F>
    void each_family_at_least(const std::vector<Family>& families, double bound, F&& visit) const {
        if (classes_ > 0)
            for (std::size_t begin = 0; begin < families.size(); begin += BLOCK)
                each_of_block(&sums_[1 + begin], bound, [&](std::size_t at, double) {
                    const std::uint32_t id = families[begin + at].id;
                    if (const double own = score(id); own != 0) visit(id, own);
                    return bound;
                });
        for (std::size_t i = 0; i < count_; ++i) {
            const Slot& slot = slots_[touched_[i]];
            if (slot.score >= bound && is_family(slot.cls)) visit(slot.cls, slot.score);
        }
    }

private:
    // Reading a score is cheaper than finding and listing a slot, by about this factor.
    static constexpr std::size_t CLASSES_PER_EDGE = 8;
    static constexpr std::size_t BLOCK = 8;  // of scores that are compared at once
    static constexpr std::size_t COLUMNS = 32;  // whole blocks

    struct Slot {
        std::uint32_t cls;
        double score;
    };
    static constexpr Slot EMPTY{NO_ID, 0.0};

    // Two scores: a vector type of GCC and Clang.
    using TwoScores [[gnu::vector_size(16)]] = double;
    using TwoMasks [[gnu::vector_size(16)]] = std::int64_t;

    static TwoScores two_at(const double* scores) {
        TwoScores two;
        std::memcpy(&two, scores, sizeof two);
        return two;
    }

    // Return 0 where the score is 0, else the sum: without a branch, since which are 0 cannot be
    // foreseen.
    static TwoScores unless_zero(TwoScores score, TwoScores sum) {
        return reinterpret_cast<TwoScores>(reinterpret_cast<TwoMasks>(sum) & (score != 0));
    }
    static double unless_zero(double score, double sum) {
        return unless_zero(TwoScores{score, 0}, TwoScores{sum, 0})[0];
    }

    static bool any_at_least(double bound, const double* scores) {
        const TwoScores bounds = {bound, bound};
        const auto are = (two_at(scores) >= bounds) | (two_at(scores + 2) >= bounds) |
                         (two_at(scores + 4) >= bounds) | (two_at(scores + 6) >= bounds);
        return (are[0] | are[1]) != 0;
    }

    // Four edges at once: a row has a class once, so that no score is read before it was written.
    template <bool FAMILIES>
    void add_to_dense(const std::uint32_t* classes, const float* masses, std::uint32_t count,
                      double coefficient) {
        double* const scores = FAMILIES ? pairs_.data() : dense_.data();
        const auto score = [=](std::uint32_t i) -> double& {
            return scores[FAMILIES ? in_pairs(classes[i]) : classes[i]];
        };
        const auto mass = [=](std::uint32_t i) { return static_cast<double>(masses[i]); };
        const TwoScores both = {coefficient, coefficient};
        std::uint32_t i = 0;
        for (; i + 4 <= count; i += 4) {
            TwoScores one = {score(i), score(i + 1)}, other = {score(i + 2), score(i + 3)};
            one += both * TwoScores{mass(i), mass(i + 1)};
            other += both * TwoScores{mass(i + 2), mass(i + 3)};
            score(i) = one[0];
            score(i + 1) = one[1];
            score(i + 2) = other[0];
            score(i + 3) = other[1];
        }
        for (; i < count; ++i) score(i) += coefficient * mass(i);
    }

    // Return the index of the score of a class, or a family, in pairs.
    static std::uint32_t in_pairs(std::uint32_t id) { return id << 1 | id >> 31; }

    // Add to the scores of families, and note the sums in whole blocks behind 0 for no family; a
    // hole has 0.
    void add_above_families(const std::vector<Family>& families) {
        sums_.assign(1 + (families.size() + BLOCK - 1) / BLOCK * BLOCK, 0.0);
        double* const sums = sums_.data() + 1;
        double* const pairs = pairs_.data();
        for (std::size_t at = 0; at < families.size(); ++at) {
            const Family each = families[at];
            if (each.id == NO_ID) continue;
            double& score = pairs[in_pairs(each.id)];
            sums[at] = score + sums[static_cast<std::int32_t>(each.above)];
            score = unless_zero(score, sums[at]);
        }
    }

    // Take the scores of classes from pairs and add the sums of the families above.
    void add_above_classes(const std::vector<std::uint32_t>& above) {
        const double* const sums = sums_.data() + 1;
        const double* const pairs = pairs_.data();
        double* const scores = dense_.data();
        const std::uint32_t* const positions = above.data();
        const auto sum_above = [sums, positions](std::size_t cls) {
            return sums[static_cast<std::int32_t>(positions[cls])];
        };
        const std::size_t listed = std::min(classes_, above.size());
        std::size_t cls = 0;
        for (; cls + 2 <= listed; cls += 2) {
            const TwoScores own = {pairs[2 * cls], pairs[2 * cls + 2]};
            const TwoScores sum = own + TwoScores{sum_above(cls), sum_above(cls + 1)};
            const TwoScores two = unless_zero(own, sum);
            std::memcpy(scores + cls, &two, sizeof two);
        }
        for (; cls < listed; ++cls)
            scores[cls] = unless_zero(pairs[2 * cls], pairs[2 * cls] + sum_above(cls));
        for (; cls < classes_; ++cls) scores[cls] = pairs[2 * cls];
    }

    // Set `highest` to the highest scores of the columns of a block.
    void find_highest(std::size_t column, double* highest) const {
        constexpr std::size_t PAIRS = BLOCK / 2;
        constexpr double LEAST = -std::numeric_limits<double>::infinity();
        TwoScores two[PAIRS];
        for (TwoScores& each : two) each = TwoScores{LEAST, LEAST};
        for (std::size_t at = column; at < classes_; at += COLUMNS)
            for (std::size_t i = 0; i < PAIRS; ++i) {
                const TwoScores scores = two_at(&dense_[at + 2 * i]);
                two[i] = scores > two[i] ? scores : two[i];
            }
        std::memcpy(highest, two, sizeof two);
    }

    // Visit the scores of a block, with their positions there.
    template <class F>
    static void each_of_block(const double* scores, double& bound, F&& visit) {
        if (!any_at_least(bound, scores)) return;
        for (std::size_t at = 0; at < BLOCK; ++at)
            if (scores[at] >= bound && scores[at] != 0) bound = visit(at, scores[at]);
    }

    const double* find(std::uint32_t cls) const {
        if (classes_ > 0) return is_family(cls) ? &pairs_[in_pairs(cls)] : &dense_[cls];
        if (count_ == 0) return nullptr;
        for (std::uint32_t at = home(cls, shift_); slots_[at].cls != NO_ID; at = (at + 1) & mask_)
            if (slots_[at].cls == cls) return &slots_[at].score;
        return nullptr;
    }

    // Multiplicative hashing by the golden ratio: ids come in runs, and adjacent slots collide.
    static std::uint32_t home(std::uint32_t cls, int shift) { return (cls * 0x9e3779b1u) >> shift; }

    std::vector<double> dense_;  // by class id, in whole rows; the rest of the last is 0
    std::vector<double> pairs_;  // of a class and its family
    std::size_t classes_ = 0;    // in use in `dense_`; 0: the hash table is
    std::size_t paired_ = 0;     // in use in `pairs_`
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> touched_;
    std::vector<double> sums_, path_;  // sums along paths; the scores of one
    std::uint32_t mask_ = 0;
    int shift_ = 26;
    std::size_t count_ = 0;
};

}  // namespace manyclass
