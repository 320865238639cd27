// An inverted index over stored examples: feature -> the examples that have it, to find those nearest
// to an instance by cosine (Zobel and Moffat, Inverted Files for Text Search Engines, 2006).
//
//   lists_   [ size, dead | entries ] ...              by feature id
//                              |
//   entries  [ generation : 24 | handle : 24 | value : 16 ] ...   8 bytes; the order does not matter
//                                   |
//   generations_, scales_, slots_                      of an example in the replay buffer, by handle
//
// A removed example leaves its entries behind: their generation is over. A list is cleaned when an
// eighth to three eighths of it are dead, by its feature, so that the features that all examples
// have are not all cleaned in one event. On average a removal costs about as much as an addition.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "storage/arena.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// A feature of an instance with its value, as the search takes it.
struct SearchedFeature {
    std::uint32_t feature;
    std::uint32_t at;  // its index in the instance
    double value;
    std::uint32_t examples = 0;  // that have it, filled in
};

// A stored example near an instance.
struct Neighbor {
    double similarity;
    std::uint32_t slot;  // in the replay buffer
};

// Threads: as a learner. Memory of a list that does not fit into its header is allocated by size.
class NeighborIndex {
public:
    // By count, of what an example adds: for each value, with dead entries and spare room; for
    // itself; and for each feature that the tables know.
    static constexpr std::uint64_t BYTES_PER_VALUE = 16, BYTES_PER_EXAMPLE = 24,
                                   BYTES_PER_FEATURE = 24;

    // The features with the shortest lists are searched, which tell most, until so many entries
    // were read: a bound on the time of a search.
    static constexpr std::uint64_t MOST_ENTRIES = 2048;

    NeighborIndex() = default;
    NeighborIndex(const NeighborIndex&) = delete;
    NeighborIndex& operator=(const NeighborIndex&) = delete;
    ~NeighborIndex() { clear(); }

    // A value as it is stored: in 16 bits, cut off.
    static double stored_value(double value) {
        return static_cast<double>(value_of(bits_of(value)));
    }

    void clear() {
        for (std::uint32_t id = 0; id < lists_.size(); ++id) free_list(lists_[id]);
        Arena<List>().swap(lists_);
        generations_ = {};
        scales_ = {};
        slots_ = {};
        free_ = {};
        handle_of_slot_ = {};
    }

    // The lists: those of features below it.
    std::uint32_t end() const { return static_cast<std::uint32_t>(lists_.size()); }

    // Make lists for features below `end`.
    void fit(std::uint32_t end) {
        if (const std::size_t known = lists_.size(); known < end) {
            lists_.extend(end - known);
            std::fill(lists_.data() + known, lists_.data() + end, List{});
        }
    }

    // Add the example of the next slot, with features and values.
    void add(const std::vector<std::pair<std::uint32_t, double>>& values) {
        std::uint32_t handle;
        if (free_.empty()) {
            handle = static_cast<std::uint32_t>(generations_.size());
            generations_.push_back(0);
            scales_.push_back(0);
            slots_.push_back(0);
        } else {
            handle = free_.back();
            free_.pop_back();
        }
        slots_[handle] = static_cast<std::uint32_t>(handle_of_slot_.size());
        handle_of_slot_.push_back(handle);
        for (const auto& [feature, value] : values)
            append(lists_[feature], entry(handle, bits_of(value)));
    }

    // The factor of a product with the example of a slot: 1 / the length of its values.
    void set_scale(std::size_t slot, double scale) {
        scales_[handle_of_slot_[slot]] = scale;
    }

    double scale(std::size_t slot) const { return scales_[handle_of_slot_[slot]]; }

    // Remove the example of a slot; the last one takes the slot. `features` are those of the
    // example that were not dropped since. False when the handle was used so often that all
    // examples have to be added anew.
    bool remove(std::size_t slot, const std::vector<std::uint32_t>& features) {
        const std::uint32_t handle = handle_of_slot_[slot];
        const std::uint32_t last = handle_of_slot_.back();
        handle_of_slot_[slot] = last;
        slots_[last] = static_cast<std::uint32_t>(slot);
        handle_of_slot_.pop_back();
        generations_[handle] = (generations_[handle] + 1) & LOW_BITS;
        free_.push_back(handle);
        for (const std::uint32_t feature : features) {
            List& list = lists_[feature];
            ++list.dead;
            if (std::uint64_t{256} * list.dead > dead_of_256(feature) * list.size) clean(list);
        }
        return generations_[handle] != 0;
    }

    // Forget a feature, and so the list of its id.
    void drop(std::uint32_t feature) {
        free_list(lists_[feature]);
        lists_[feature] = {};
    }

    // The `most` nearest examples of a similarity above 0, nearest first; of equally near ones that
    // of the lowest slot. `searched` comes with the known features of an instance of this length,
    // and keeps the searched ones, in the order of the sums.
    void search(std::vector<SearchedFeature>& searched, double length, std::size_t most,
                std::vector<Neighbor>& nearest) const {
        nearest.clear();
        nearest.reserve(most);  // no error may leave sums behind
        keep_shortest(searched);
        Scratch& scratch = Scratch::of_thread();
        std::vector<double>& sums = scratch.sums;
        std::vector<std::uint32_t>& touched = scratch.touched;
        if (sums.size() < generations_.size()) sums.resize(generations_.size(), 0.0);
        touched.resize(std::max<std::size_t>(touched.size(), MOST_ENTRIES + 1));
        std::size_t count = 0;
        for (std::size_t at = 0; at < searched.size(); ++at) {
            if (at + AHEAD < searched.size())
                __builtin_prefetch(lists_[searched[at + AHEAD].feature].entries());
            const List& list = lists_[searched[at].feature];
            const double value = searched[at].value;
            const std::uint64_t* const entries = list.entries();
            for (std::uint32_t i = 0; i < list.size; ++i) {
                const std::uint32_t handle = handle_of(entries[i]);
                if (list.dead > 0 && generations_[handle] != generation_of(entries[i])) continue;
                double& sum = sums[handle];
                touched[count] = handle;
                count += sum == 0;  // without a branch
                sum += value * static_cast<double>(value_of(entries[i]));
            }
        }
        const auto nearer = [](const Neighbor& one, const Neighbor& other) {
            return one.similarity != other.similarity ? one.similarity > other.similarity
                                                      : one.slot < other.slot;
        };
        double least = 0;  // similarity of the last of enough
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t handle = touched[i];
            const double similarity = sums[handle] * scales_[handle];
            sums[handle] = 0;
            // one whose sum was 0 on the way is touched twice
            if (!(similarity > 0) || similarity < least) continue;
            const Neighbor found{similarity, slots_[handle]};
            if (nearest.size() == most && !nearer(found, nearest.back())) continue;
            if (nearest.size() == most) nearest.pop_back();
            nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), found, nearer), found);
            if (nearest.size() == most) least = nearest.back().similarity;
        }
        for (Neighbor& each : nearest) each.similarity /= length;
    }

    // Without what examples add.
    std::size_t resident_bytes() const { return lists_.resident_bytes(); }

private:
    static constexpr std::size_t AHEAD = 4;  // lists that are fetched from memory early
    static constexpr std::uint32_t LOW_BITS = (1u << 24) - 1;  // there are no more examples

    // A single entry is stored instead of the pointer.
    struct List {
        std::uint32_t size = 0, dead = 0;
        union {
            std::uint64_t one;
            std::uint64_t* many;
        };

        List() : one(0) {}
        const std::uint64_t* entries() const { return size > 1 ? many : &one; }
    };

    struct Scratch {
        std::vector<double> sums;  // by handle; 0 between searches
        std::vector<std::uint32_t> touched;

        [[gnu::noinline]] static Scratch& of_thread() {
            static thread_local Scratch scratch;
            return scratch;
        }
    };

    static std::uint16_t bits_of(double value) {
        const auto single = static_cast<float>(value);
        std::uint32_t bits;
        std::memcpy(&bits, &single, sizeof bits);
        return static_cast<std::uint16_t>(bits >> 16);
    }
    static float value_of(std::uint64_t entry) {
        const std::uint32_t bits = static_cast<std::uint32_t>(entry & 0xffff) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    static std::uint32_t handle_of(std::uint64_t entry) {
        return static_cast<std::uint32_t>(entry >> 16) & LOW_BITS;
    }
    static std::uint32_t generation_of(std::uint64_t entry) {
        return static_cast<std::uint32_t>(entry >> 40);
    }
    std::uint64_t entry(std::uint32_t handle, std::uint16_t value) const {
        return std::uint64_t{generations_[handle]} << 40 | std::uint64_t{handle} << 16 | value;
    }

    static std::uint64_t dead_of_256(std::uint32_t feature) {
        return 32 + (feature * 2654435761u >> 26);  // its highest 6 bits, by multiplicative hashing
    }

    // The room of a list of this size: four steps an octave.
    static std::uint32_t room(std::uint32_t size) {
        std::uint32_t octave = 4;
        while (octave < size) octave *= 2;
        const std::uint32_t step = std::max(octave / 8, 1u);
        return (size + step - 1) / step * step;
    }

    static void free_list(List& list) {
        if (list.size > 1) delete[] list.many;
    }

    static void append(List& list, std::uint64_t added) {
        if (list.size == 0) {
            list.one = added;
        } else if (list.size == 1 || list.size == room(list.size)) {
            auto* const grown = new std::uint64_t[room(list.size + 1)];
            std::copy(list.entries(), list.entries() + list.size, grown);
            free_list(list);
            list.many = grown;
            list.many[list.size] = added;
        } else {
            list.many[list.size] = added;
        }
        ++list.size;
    }

    // Leave the living entries.
    void clean(List& list) const {
        std::vector<std::uint64_t> living;
        living.reserve(list.size - list.dead);
        for (const std::uint64_t* each = list.entries(); each != list.entries() + list.size; ++each)
            if (generations_[handle_of(*each)] == generation_of(*each)) living.push_back(*each);
        List cleaned;
        cleaned.size = static_cast<std::uint32_t>(living.size());
        if (living.size() == 1) cleaned.one = living[0];
        if (living.size() > 1) {
            cleaned.many = new std::uint64_t[room(cleaned.size)];
            std::copy(living.begin(), living.end(), cleaned.many);
        }
        free_list(list);
        list = cleaned;
    }

    // Keep the features with the shortest lists, shortest first, as far as the entries go. The dead
    // do not count, since a loaded index has none.
    void keep_shortest(std::vector<SearchedFeature>& searched) const {
        for (const SearchedFeature& each : searched) __builtin_prefetch(&lists_[each.feature]);
        for (SearchedFeature& each : searched)
            each.examples = lists_[each.feature].size - lists_[each.feature].dead;
        searched.erase(std::remove_if(searched.begin(), searched.end(),
                                      [](const SearchedFeature& each) {
                                          return each.examples == 0 || each.examples > MOST_ENTRIES;
                                      }),
                       searched.end());
        std::sort(searched.begin(), searched.end(),
                  [](const SearchedFeature& one, const SearchedFeature& other) {
                      return one.examples != other.examples ? one.examples < other.examples
                                                            : one.at < other.at;
                  });
        std::uint64_t entries = 0;
        for (std::size_t i = 0; i < searched.size(); ++i) {
            entries += searched[i].examples;
            if (entries > MOST_ENTRIES) searched.resize(i);
        }
    }

    Arena<List> lists_;
    std::vector<std::uint32_t> generations_, slots_;  // by handle
    std::vector<double> scales_;
    std::vector<std::uint32_t> free_, handle_of_slot_;
};

}  // namespace manyclass
