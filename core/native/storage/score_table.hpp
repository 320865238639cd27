// The scratch area of one retrieval: the classes touched and their scores.
//
// With fewer classes than edges to score, it has one slot for each class. Otherwise it is a hash
// table with a power of two of slots, at least twice the edges, so that its size, and with it the
// cost of a ranking, does not depend on the number of classes. A reset undoes the touched slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/vocabulary.hpp"

namespace manyclass {

class ScoreTable {
public:
    struct Slot {
        std::uint32_t cls;
        std::uint32_t is_true;  // set while learning, for the instance's own classes
        double score;
    };

    // Prepare for a retrieval of at most `edges` edges and of class ids below `classes`.
    void start(std::size_t edges, std::size_t classes) {
        undo();  // after an error, slots of the last retrieval
        std::size_t size = 64;
        int bits = 6;
        for (; size < std::min(edges * 2, classes); size *= 2) ++bits;
        if (size > slots_.size()) {
            touched_.resize(size);
            slots_.assign(size, EMPTY);
        }
        mask_ = static_cast<std::uint32_t>(size - 1);
        shift_ = 32 - bits;
        slot_per_class_ = classes <= edges;
        if (!slot_per_class_) return;
        for (; count_ < classes; ++count_) {
            touched_[count_] = static_cast<std::uint32_t>(count_);
            slots_[count_].cls = static_cast<std::uint32_t>(count_);
        }
    }

    void undo() {
        for (std::size_t i = 0; i < count_; ++i) slots_[touched_[i]] = EMPTY;
        count_ = 0;
    }

    // Add coefficient * mass to the score of each class of a row.
    void add(const std::uint32_t* classes, const float* masses, std::uint32_t count,
             double coefficient) {
        Slot* const slots = slots_.data();
        if (slot_per_class_) {
            for (std::uint32_t i = 0; i < count; ++i)
                slots[classes[i]].score += coefficient * static_cast<double>(masses[i]);
            return;
        }
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

    std::size_t count() const { return count_; }
    Slot& touched(std::size_t i) { return slots_[touched_[i]]; }

    // Return the slot of a class, or nullptr if no edge led to it.
    Slot* find(std::uint32_t cls) {
        if (slot_per_class_) return &slots_[cls];
        for (std::uint32_t at = home(cls, shift_); slots_[at].cls != NO_ID; at = (at + 1) & mask_)
            if (slots_[at].cls == cls) return &slots_[at];
        return nullptr;
    }

private:
    // Multiplicative hashing by the golden ratio: ids come in runs, and adjacent slots collide.
    static std::uint32_t home(std::uint32_t cls, int shift) { return (cls * 0x9e3779b1u) >> shift; }

    static constexpr Slot EMPTY{NO_ID, 0, 0.0};
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> touched_;
    std::uint32_t mask_ = 0;
    int shift_ = 26;
    bool slot_per_class_ = false;
    std::size_t count_ = 0;
};

}  // namespace manyclass
