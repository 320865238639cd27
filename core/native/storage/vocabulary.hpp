// Names and their dense ids, both ways.
//
//   slots_   [ tag | id+1 ][ 0 ][ tag | id+1 ] ...     ordered by tag: slot = tag * slots / 2^32
//                      |
//   spans_  [ at, half, size ]  by id; size 0: the id is free, or retired
//               |
//   bytes_   i f w o r d t h e w o r d ...             UTF-8, end to end, in two halves (moving.hpp)
//
// The tag is the upper half of the name's hash. Because slots are in the order of tags, a larger
// table is filled by one pass over the smaller one, front to back, without looking at any name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "snapshot/visitor.hpp"
#include "storage/arena.hpp"
#include "storage/moving.hpp"
#include "storage/probing.hpp"
#include "text/utf8.hpp"

namespace manyclass {

constexpr std::uint32_t NO_ID = 0xffffffffu;

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t load_word(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

inline std::uint64_t load_half_word(const char* at) {
    std::uint32_t half;
    std::memcpy(&half, at, sizeof half);
    return half;
}

// A keyed hash of a name: each eight bytes are folded in by one wide multiplication. The pieces of
// a short name may overlap: no processor foresees where a loop over its bytes would end.
inline std::uint64_t hash_name(std::string_view name, std::uint64_t seed) {
    constexpr std::uint64_t ODD1 = 0x9e3779b97f4a7c15ull, ODD2 = 0xd1b54a32d192ed03ull;
    const std::size_t size = name.size();
    const char* at = name.data();
    const char* const end = at + size;
    std::uint64_t hash = seed ^ (ODD2 * (size + 1)), first = 0, last = 0;
    if (size > 16) {
        for (; end - at > 16; at += 8) hash = mix(hash ^ load_word(at), ODD1);
        first = load_word(at);
        last = load_word(end - 8);
    } else if (size >= 4) {
        const std::size_t inner = size / 8 * 4;  // 0 below 8 bytes: the outer pieces hold all
        first = load_half_word(at) | load_half_word(at + inner) << 32;
        last = load_half_word(end - 4) | load_half_word(end - 4 - inner) << 32;
    } else if (size > 0) {
        const auto byte = [](char of) { return std::uint64_t{static_cast<unsigned char>(of)}; };
        last = byte(*at) << 16 | byte(at[size / 2]) << 8 | byte(end[-1]);
    }
    return mix(mix(hash ^ first, ODD1) ^ last, (ODD1 ^ seed) | 1);
}

class Vocabulary {
public:
    explicit Vocabulary(std::uint64_t seed) : seed_(seed) { rebuild(16); }

    // One past the highest id ever given; freed ids are below it.
    std::uint32_t end() const { return static_cast<std::uint32_t>(spans_.size()); }
    std::uint32_t count() const { return count_; }
    std::uint64_t name_bytes() const { return live_bytes_; }
    bool alive(std::uint32_t id) const { return spans_[id].size != 0; }
    std::uint64_t removals() const { return removals_; }  // of names, since the start; no state

    std::string_view name(std::uint32_t id) const {
        const Span span = spans_[id];
        return {bytes_.data(span.half) + span.at, span.size};
    }

    std::uint64_t hash(std::string_view name) const { return hash_name(name, seed_); }

    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[home(tag_of(hash))]); }

    // The id that a name with this hash most likely has (its bytes are not compared), or NO_ID.
    std::uint32_t candidate(std::uint64_t hash) const {
        const std::uint32_t tag = tag_of(hash);
        for (std::size_t at = home(tag); slots_[at].id_plus_1 != 0; at = next(at))
            if (slots_[at].tag == tag) return slots_[at].id_plus_1 - 1;
        return NO_ID;
    }

    void prefetch_span(std::uint32_t id) const { __builtin_prefetch(&spans_[id]); }
    void prefetch_name(std::uint32_t id) const {
        __builtin_prefetch(bytes_.data(spans_[id].half) + spans_[id].at);
    }

    std::uint32_t find(std::string_view name, std::uint64_t hash) const {
        const std::uint32_t tag = tag_of(hash);
        for (std::size_t at = home(tag); slots_[at].id_plus_1 != 0; at = next(at))
            if (slots_[at].tag == tag && this->name(slots_[at].id_plus_1 - 1) == name)
                return slots_[at].id_plus_1 - 1;
        return NO_ID;
    }

    std::uint32_t find(std::string_view name) const { return find(name, hash(name)); }

    // Give a name that is not there an id: the one freed last, else a new one.
    std::uint32_t add(std::string_view name) {
        if ((static_cast<std::size_t>(count_) + 1) * 5 > slots_.size() * 4)
            rebuild(slots_.size() + slots_.size() / 4 + 16);
        std::uint32_t id;
        if (free_ids_.empty()) {
            id = end();
            spans_.append(Span{});
        } else {
            id = free_ids_.back();
            free_ids_.pop_back();
        }
        store_name(id, name);
        insert(tag_of(hash(name)), id);
        return id;
    }

    // Give an id another name, which must be new. The id stays.
    void rename(std::uint32_t id, std::string_view name) {
        take_name(id);
        store_name(id, name);
        insert(tag_of(hash(name)), id);
        pack_on();
    }

    // Forget a name, and free its id.
    void remove(std::uint32_t id) {
        retire(id);
        release(id);
    }

    // Forget a name. Its id is not given again before `release`.
    void retire(std::uint32_t id) {
        take_name(id);
        pack_on();
    }

    void release(std::uint32_t retired) { free_ids_.push_back(retired); }

    // Visit the sections, whose names begin with `kind`. `retired`: ids without a name that are not
    // free either.
    void visit(SnapshotVisitor& visitor, const std::string& kind, const Run<std::uint32_t>& retired) {
        const auto sizes = visitor.run<std::uint16_t>(kind + "_name_sizes", end());
        const auto bytes = visitor.run<char>(kind + "_names", live_bytes_);
        const auto free = visitor.run<std::uint32_t>(kind + "_free", free_ids_.size());
        if (visitor.is_dumping()) dump(sizes.data, bytes.data, free.data);
        if (visitor.is_loading()) load(kind, sizes, bytes, free, retired);
    }

    std::size_t resident_bytes() const {
        return slots_.size() * sizeof(Slot) + spans_.resident_bytes() + bytes_.resident_bytes() +
               free_ids_.capacity() * sizeof(std::uint32_t);
    }

private:
    void take_name(std::uint32_t id) {
        const std::uint32_t tag = tag_of(hash(name(id)));
        std::size_t at = home(tag);
        while (slots_[at].id_plus_1 != id + 1) at = next(at);
        close_gap(
            slots_, at, [this](const Slot& slot) { return home(slot.tag); },
            [](const Slot& slot) { return slot.id_plus_1 == 0; });
        live_bytes_ -= spans_[id].size;
        spans_[id] = Span{0, 0, 0};
        --count_;
        ++removals_;
    }

    void dump(std::uint16_t* sizes, char* bytes, std::uint32_t* free) const {
        for (std::uint32_t id = 0; id < end(); ++id) {
            const std::string_view text = name(id);
            sizes[id] = static_cast<std::uint16_t>(text.size());
            bytes = std::copy(text.begin(), text.end(), bytes);
        }
        std::copy(free_ids_.begin(), free_ids_.end(), free);
    }

    // Add the names with their sizes by id (0: free or retired) from the bytes end to end, and the
    // free ids in the order in which they were freed.
    void load(const std::string& kind, const Run<std::uint16_t>& sizes, const Run<char>& bytes,
              const Run<std::uint32_t>& free, const Run<std::uint32_t>& retired) {
        std::size_t at = 0, free_seen = 0;
        for (std::size_t id = 0; id < sizes.size; ++id) {
            const std::uint16_t size = sizes.data[id];
            if (size == 0) {
                ++free_seen;
                spans_.append(Span{0, 0, 0});
                continue;
            }
            if (bytes.size - at < size) refuse(kind + "_name_sizes", "names are cut short");
            if (size > LONGEST_NAME) refuse(kind + "_name_sizes", "a name is too long");
            const std::string_view name(bytes.data + at, size);
            if (!is_utf8(name)) refuse(kind + "_names", "a name is not UTF-8");
            if (find(name) != NO_ID) refuse(kind + "_names", "a name stands twice");
            if ((static_cast<std::size_t>(count_) + 1) * 5 > slots_.size() * 4)
                rebuild(slots_.size() + slots_.size() / 4 + 16);
            spans_.append(Span{});
            store_name(static_cast<std::uint32_t>(id), name);
            insert(tag_of(hash(name)), static_cast<std::uint32_t>(id));
            at += size;
        }
        if (at != bytes.size) refuse(kind + "_name_sizes", "more name bytes than names");
        std::vector<bool> taken(sizes.size, false);
        for (std::size_t i = 0; i < free.size + retired.size; ++i) {
            const std::uint32_t id = i < free.size ? free.data[i] : retired.data[i - free.size];
            if (id >= sizes.size || sizes.data[id] != 0 || taken[id])
                refuse(kind + (i < free.size ? "_free" : "_retired"),
                       "the free ids do not match the names");
            taken[id] = true;
        }
        if (free_seen != free.size + retired.size)
            refuse(kind + "_free", "an id is neither used nor free");
        free_ids_.assign(free.data, free.data + free.size);
    }

    struct Slot {
        std::uint32_t tag;
        std::uint32_t id_plus_1;  // 0: empty
    };
    struct Span {
        std::uint64_t at : 47, half : 1, size : 16;
    };

    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
    std::size_t home(std::uint32_t tag) const {
        return (static_cast<std::uint64_t>(tag) * slots_.size()) >> 32;
    }
    std::size_t next(std::size_t at) const { return next_slot(at, slots_.size()); }

    void store_name(std::uint32_t id, std::string_view name) {
        const std::size_t at = bytes_.extend(name.size());
        std::memcpy(bytes_.data(bytes_.active()) + at, name.data(), name.size());
        spans_[id] = Span{at, bytes_.active(), name.size()};
        live_bytes_ += name.size();
        ++count_;
    }

    void insert(std::uint32_t tag, std::uint32_t id) {
        std::size_t at = home(tag);
        while (slots_[at].id_plus_1 != 0) at = next(at);
        slots_[at] = Slot{tag, id + 1};
    }

    void rebuild(std::size_t size) {
        std::vector<Slot> old(size, Slot{0, 0});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.id_plus_1 != 0) insert(slot.tag, slot.id_plus_1 - 1);
    }

    // One more step of packing names closer together, which begins when a quarter of their bytes is
    // unused. A removal makes room for one name and moves several.
    void pack_on() {
        constexpr std::uint32_t MOVED_AT_ONCE = 16;
        if (bytes_.is_settled()) {
            if (bytes_.size() <= 4096 || live_bytes_ >= bytes_.size() - bytes_.size() / 4) return;
            if (!bytes_.begin_move(live_bytes_)) return;  // it can wait
            packed_ = 0;
        }
        if (!bytes_.is_moving()) {
            bytes_.give_back();
            return;
        }
        const std::uint32_t until = std::min(end(), packed_ + MOVED_AT_ONCE);
        for (; packed_ < until; ++packed_) {
            const std::string_view old = name(packed_);
            if (old.empty() || spans_[packed_].half == bytes_.active()) continue;
            const std::size_t at = bytes_.extend(old.size());
            std::memcpy(bytes_.data(bytes_.active()) + at, old.data(), old.size());
            spans_[packed_] = Span{at, bytes_.active(), old.size()};
        }
        if (packed_ == end()) bytes_.end_move();
    }

    std::uint64_t seed_;
    std::vector<Slot> slots_;
    Arena<Span> spans_;
    Moving<char> bytes_;
    std::uint32_t packed_ = 0;  // during a move: names of ids below it are in the active half
    std::uint64_t live_bytes_ = 0;
    std::uint32_t count_ = 0;
    std::uint64_t removals_ = 0;
    std::vector<std::uint32_t> free_ids_;
};

}  // namespace manyclass
