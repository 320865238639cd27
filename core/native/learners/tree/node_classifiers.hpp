// The classifiers of one node of a label tree: for each feature one block with a weight for each
// child, side by side, since every call that uses one child of a node uses all of them.
//
//   slots_    [ feature | block+1 ][ 0 ][ feature | block+1 ] ...     a hash table of features
//                             |
//   cells_    [ w w w . . . | s s s . . . ] ...     by block: weights, then sums of squared gradients
//   counts_   3 ...                                 the number of weights in the block
//
// All blocks of a node have the same capacity. A child added after the last change of a block has
// no weight in it yet; the tree defines the weight it would have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "storage/arena.hpp"
#include "storage/probing.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

class NodeClassifiers {
public:
    std::uint32_t count() const { return static_cast<std::uint32_t>(features_.size()); }
    std::uint32_t room() const { return room_; }
    std::uint32_t feature(std::uint32_t block) const { return features_[block]; }
    std::uint32_t weights_in(std::uint32_t block) const { return counts_[block]; }
    float* weights(std::uint32_t block) { return cells_.data() + start(block); }
    const float* weights(std::uint32_t block) const { return cells_.data() + start(block); }
    float* squares(std::uint32_t block) { return weights(block) + room_; }
    const float* squares(std::uint32_t block) const { return weights(block) + room_; }
    void set_weights_in(std::uint32_t block, std::uint32_t count) {
        counts_[block] = static_cast<std::uint16_t>(count);
    }

    void prefetch_slot(std::uint32_t feature) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[home(feature)]);
    }
    void prefetch(std::uint32_t block) const {
        const char* begin = reinterpret_cast<const char*>(weights(block));
        for (std::uint32_t at = 0; at < room_ * sizeof(float); at += 64)
            __builtin_prefetch(begin + at);
    }

    // Return the block of a feature, NO_ID if it has no block.
    std::uint32_t find(std::uint32_t feature) const {
        if (slots_.empty()) return NO_ID;
        for (std::size_t at = home(feature); slots_[at].block_plus_1 != 0; at = next(at))
            if (slots_[at].feature == feature) return slots_[at].block_plus_1 - 1;
        return NO_ID;
    }

    // Add a block with zero weights for a feature without one.
    std::uint32_t add(std::uint32_t feature, std::uint32_t weights) {
        const std::uint32_t block = count();
        if (block == features_.capacity()) reserve(block + block / 8 + 1);
        append(feature, weights);
        if ((static_cast<std::size_t>(block) + 1) * 3 > slots_.size() * 2) rebuild_slots();
        else insert(feature, block);
        return block;
    }

    // Fill an empty node with the first weight of every block of another node.
    void copy_first_weights(const NodeClassifiers& from) {
        reserve(from.count());
        slots_ = from.slots_;
        for (std::uint32_t block = 0; block < from.count(); ++block) {
            append(from.features_[block], 1);
            weights(block)[0] = from.weights(block)[0];
            squares(block)[0] = from.squares(block)[0];
        }
    }

    // Remove a block; the last one gets its number.
    void remove(std::uint32_t block) {
        close_gap(
            slots_, slot_of(features_[block]),
            [this](const Slot& slot) { return home(slot.feature); },
            [](const Slot& slot) { return slot.block_plus_1 == 0; });
        const std::uint32_t last = count() - 1;
        if (block != last) {
            slots_[slot_of(features_[last])].block_plus_1 = block + 1;
            features_[block] = features_[last];
            counts_[block] = counts_[last];
            std::copy_n(weights(last), 2 * static_cast<std::size_t>(room_), weights(block));
        }
        features_.shrink(1);
        counts_.shrink(1);
        cells_.shrink(2 * static_cast<std::size_t>(room_));
    }

    // Raise the capacity of every block to at least this many weights.
    void make_room(std::uint32_t wanted) {
        if (wanted > room_) resize(std::max(wanted, room_ + room_ / 4), 0);
    }

    // Remove the first weight of every block.
    void drop_first() { resize(room_ - 1, 1); }

    // Remove the weight at this index from every block that has it.
    void drop(std::uint32_t index) {
        for (std::uint32_t block = 0; block < count(); ++block) {
            if (counts_[block] <= index) continue;
            for (float* run : {weights(block), squares(block)})
                std::copy(run + index + 1, run + counts_[block], run + index);
            --counts_[block];
        }
    }

    // Release memory if blocks of this many weights leave more than a third of it unused.
    void give_back(std::uint32_t wanted) {
        const std::size_t needed = 2 * static_cast<std::size_t>(wanted) * count() * sizeof(float);
        if (cells_.resident_bytes() <= needed + needed / 2 + 256) return;
        resize(wanted, 0);
        shrink_slots();
    }

    // Release the memory of removed blocks step by step: no call copies many blocks.
    void give_back_unused() {
        constexpr std::uint32_t FEW = 1 << 14;
        const std::size_t wanted = count() + count() / 8 + std::size_t{1};
        if (features_.capacity() <= wanted + count() / 4 + 2) return;
        trim(features_, wanted);
        trim(counts_, wanted);
        trim(cells_, 2 * wanted * room_);
        if (count() <= FEW && slots_.size() > 4 * static_cast<std::size_t>(count()) + 4)
            shrink_slots();
    }

    std::size_t resident_bytes() const {
        return slots_.capacity() * sizeof(Slot) + features_.resident_bytes() +
               counts_.resident_bytes() + cells_.resident_bytes();
    }

private:
    struct Slot {
        std::uint32_t feature;
        std::uint32_t block_plus_1;  // 0: empty
    };

    std::size_t start(std::uint32_t block) const {
        return 2 * static_cast<std::size_t>(block) * room_;
    }
    std::size_t home(std::uint32_t feature) const {
        return (static_cast<std::uint64_t>(feature * 0x9e3779b1u) * slots_.size()) >> 32;
    }
    std::size_t next(std::size_t at) const { return next_slot(at, slots_.size()); }
    std::size_t slot_of(std::uint32_t feature) const {
        std::size_t at = home(feature);
        while (slots_[at].feature != feature || slots_[at].block_plus_1 == 0) at = next(at);
        return at;
    }

    // Add a block with zero weights; no slot points to it yet.
    void append(std::uint32_t feature, std::uint32_t weights) {
        features_.append(feature);
        counts_.append(static_cast<std::uint16_t>(weights));
        const std::size_t at = cells_.extend(2 * static_cast<std::size_t>(room_));
        std::fill_n(cells_.data() + at, 2 * static_cast<std::size_t>(room_), 0.0f);
    }

    // Reserve exactly this capacity, because small nodes are many.
    void reserve(std::size_t blocks) {
        features_.reserve(blocks);
        counts_.reserve(blocks);
        cells_.reserve(2 * blocks * room_);
    }

    void shrink_slots() {
        std::vector<Slot>().swap(slots_);
        rebuild_slots();
    }

    // A large run gives pages back where it is; a small one is copied.
    template <class T>
    static void trim(Arena<T>& run, std::size_t wanted) {
        constexpr std::size_t PIECE = (std::size_t{1} << 20) / sizeof(T);
        if (wanted < run.capacity()) run.give_back(std::min(run.capacity() - wanted, PIECE));
    }

    void insert(std::uint32_t feature, std::uint32_t block) {
        std::size_t at = home(feature);
        while (slots_[at].block_plus_1 != 0) at = next(at);
        slots_[at] = {feature, block + 1};
    }

    void rebuild_slots() {
        const std::size_t wanted = static_cast<std::size_t>(count()) * 2 + 2;
        slots_.assign(size_class_bytes(wanted * sizeof(Slot)) / sizeof(Slot), Slot{0, 0});
        for (std::uint32_t block = 0; block < count(); ++block) insert(features_[block], block);
    }

    void resize(std::uint32_t room, std::uint32_t without) {
        Arena<float> resized;
        resized.reserve(2 * static_cast<std::size_t>(room) * count());
        for (std::uint32_t block = 0; block < count(); ++block) {
            const std::uint32_t there = counts_[block], kept = there - std::min(there, without);
            const std::size_t at = resized.extend(2 * static_cast<std::size_t>(room));
            float* const to = resized.data() + at;
            std::fill_n(to, 2 * static_cast<std::size_t>(room), 0.0f);
            std::copy_n(weights(block) + without, kept, to);
            std::copy_n(squares(block) + without, kept, to + room);
            counts_[block] = static_cast<std::uint16_t>(kept);
        }
        cells_.swap(resized);
        room_ = room;
    }

    std::vector<Slot> slots_;
    Arena<std::uint32_t> features_;
    Arena<std::uint16_t> counts_;
    Arena<float> cells_;
    std::uint32_t room_ = 0;
};

}  // namespace manyclass
