// Ids in the order of their names' UTF-8 bytes: for listings, built by the first of them.
//
//   leaves_   ""  -> [ 7 3 9 ]      a leaf has the ids of all names from its key up to the next key;
//             "k" -> [ 5 1 ]        it is sorted when it is read
//
// The order takes about 6 bytes a name, and nothing before the first listings, which build it. After as many
// additions as there were names it is taken apart again, one leaf an addition; the next listing
// builds it anew. So listings and additions together cost time linear in their number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/vocabulary.hpp"

namespace manyclass {

// Threads: `build` and `read` from any that hold the index's lock for reading, `add` from the one
// that holds it for writing. A removal needs no call: leaves drop removed names when they are read.
class NameOrder {
public:
    static constexpr std::uint32_t NAMES_AT_ONCE = 1024;

    // Take in the next names; whether the order is complete.
    bool build(const Vocabulary& names) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (is_falling_apart_) forget_all();
        if (leaves_.empty()) {
            leaves_[""];
            additions_left_ = names.count() + SPARE_ADDITIONS;
        }
        const std::uint32_t end = std::min(names.end(), built_ + NAMES_AT_ONCE);
        visited_ += end - built_;
        for (; built_ < end; ++built_)
            if (names.alive(built_)) insert(names, built_);
        return is_built_ = built_ == names.end();
    }

    // Meet the ids of names from `from` on that are after `after` and begin with `prefix`, in
    // order, as long as `meet` returns true and the leaf lasts. Whether to go on from `from`, which
    // is then the next leaf's key. An order that was taken apart meets nothing and returns true.
    template <class F>
    bool read(const Vocabulary& names, std::string_view prefix, std::string_view after,
              std::string& from, F&& meet) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!is_built_) return true;
        const auto leaf = leaf_of(from);
        sort(names, leaf);
        const std::vector<std::uint32_t>& ids = leaf->second.ids;
        const auto first =
            std::partition_point(ids.begin(), ids.end(), [&](std::uint32_t id) {
                const std::string_view name = names.name(id);
                return name < from || name <= after;
            });
        for (auto id = first; id != ids.end(); ++id) {
            ++visited_;
            if (!begins_with(names.name(*id), prefix) || !meet(*id)) return false;
        }
        const auto next = std::next(leaf);
        if (next == leaves_.end() || !begins_with(next->first, prefix)) return false;
        from = next->first;
        return true;
    }

    // Take in a name that has just been given an id.
    void add(const Vocabulary& names, std::uint32_t id) {
        if (leaves_.empty()) return;
        if (is_falling_apart_) {
            leaves_.erase(leaves_.begin());
            if (leaves_.empty()) forget_all();
        } else if (additions_left_ == 0) {
            is_falling_apart_ = true;
            is_built_ = false;
        } else if (id < built_ || is_built_) {  // else `build` comes to it
            --additions_left_;
            built_ = std::max(built_, id + 1);
            insert(names, id);
        }
    }

    // Vocabulary looked at by all calls so far, once for each time.
    std::uint64_t visited() const { return visited_; }

    std::size_t resident_bytes() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::size_t bytes = 0;
        for (const auto& [key, leaf] : leaves_)
            bytes += key.capacity() + sizeof(*leaves_.begin()) + 32 +
                     leaf.ids.capacity() * sizeof(std::uint32_t);
        return bytes;
    }

private:
    struct Leaf {
        std::vector<std::uint32_t> ids;
        std::uint64_t removals = 0;  // of names, when it was sorted
        bool is_sorted = true;
    };
    using Leaves = std::map<std::string, Leaf, std::less<>>;

    static constexpr std::size_t LARGEST_LEAF = 1024;
    static constexpr std::uint64_t SPARE_ADDITIONS = 4096;

    static bool begins_with(std::string_view name, std::string_view prefix) {
        return name.substr(0, prefix.size()) == prefix;
    }

    Leaves::iterator leaf_of(std::string_view name) {
        return std::prev(leaves_.upper_bound(name));  // the first key, "", is before every name
    }

    void insert(const Vocabulary& names, std::uint32_t id) {
        const auto leaf = leaf_of(names.name(id));
        leaf->second.ids.push_back(id);
        leaf->second.is_sorted = false;
        if (leaf->second.ids.size() >= LARGEST_LEAF) split(names, leaf);
    }

    void split(const Vocabulary& names, Leaves::iterator leaf) {
        sort(names, leaf);
        std::vector<std::uint32_t>& ids = leaf->second.ids;
        if (ids.size() < LARGEST_LEAF / 2) return;
        const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2);
        Leaf& upper = leaves_[std::string(names.name(*middle))];
        upper.ids.assign(middle, ids.end());
        upper.removals = leaf->second.removals;
        ids.erase(middle, ids.end());
        ids.shrink_to_fit();
    }

    // Sort a leaf and drop from it what is not its own: removed names, and ids that were given to
    // other names since, or to the same name again.
    void sort(const Vocabulary& names, Leaves::iterator at) {
        Leaf& leaf = at->second;
        if (leaf.is_sorted && leaf.removals == names.removals()) return;
        const auto next = std::next(at);
        visited_ += leaf.ids.size();
        const auto is_elsewhere = [&](std::uint32_t id) {
            const std::string_view name = names.name(id);
            return !names.alive(id) || name < at->first ||
                   (next != leaves_.end() && name >= next->first);
        };
        std::vector<std::uint32_t>& ids = leaf.ids;
        ids.erase(std::remove_if(ids.begin(), ids.end(), is_elsewhere), ids.end());
        std::sort(ids.begin(), ids.end(), [&](std::uint32_t one, std::uint32_t other) {
            return names.name(one) < names.name(other);
        });
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        leaf.is_sorted = true;
        leaf.removals = names.removals();
    }

    void forget_all() {
        leaves_.clear();
        built_ = 0;
        is_built_ = is_falling_apart_ = false;
    }

    mutable std::mutex mutex_;  // of readers among each other
    Leaves leaves_;
    std::uint32_t built_ = 0;  // ids below it are in leaves
    bool is_built_ = false;
    bool is_falling_apart_ = false;
    std::uint64_t additions_left_ = 0;  // until the order is taken apart
    std::atomic<std::uint64_t> visited_{0};
};

}  // namespace manyclass
