// Past instances, kept to be learned again: a uniform sample of all that came, of a bounded size
// (algorithm R of Vitter 1985), drawn by a generator that is part of the state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "learners/rules/update_context.hpp"
#include "snapshot/state.hpp"

namespace manyclass {

// Steele, Lea and Flood's SplitMix64: one word of state, the same numbers everywhere.
inline std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// A number below `end`, which is less than 2^32 times smaller than what it is drawn from.
inline std::uint64_t random_below(std::uint64_t& state, std::uint64_t end) {
    return static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(next_random(state)) * end) >> 64);
}

// What a block of memory of so many bytes takes: a word more, in steps of 16, four words at least.
inline std::uint64_t block_bytes(std::uint64_t bytes) {
    return bytes == 0 ? 0 : std::max<std::uint64_t>((bytes + 23) / 16 * 16, 32);
}

// An instance as it was given, by feature ids. Its lists have no room to spare. Ids may be freed, and
// given to others, after it was kept: what is gone since is told by the counts, and stays in the
// lists until the instance is drawn.
struct StoredExample {
    std::vector<std::pair<std::uint32_t, float>> values;
    std::vector<std::uint32_t> classes;
    std::vector<Constraint> constraints;      // if the learner makes any
    std::uint64_t removals = 0;       // of features and classes, up to when it was kept or drawn
    std::uint64_t classes_made = 0;   // up to then

    std::uint64_t bytes() const {
        return 96 + block_bytes(8 * values.size()) + block_bytes(4 * classes.size()) +
               block_bytes(12 * constraints.size());
    }
};

class ReplayBuffer {
public:
    explicit ReplayBuffer(std::uint64_t seed) : random_(seed) {}

    bool empty() const { return kept_.empty(); }
    std::size_t size() const { return kept_.size(); }
    std::uint64_t bytes() const { return bytes_; }
    const StoredExample& operator[](std::size_t at) const { return kept_[at]; }
    std::size_t draw() { return random_below(random_, kept_.size()); }

    // What an instance constraints has changed.
    void put_constraints(std::size_t at, const std::vector<Constraint>& constraints) {
        bytes_ -= kept_[at].bytes();
        kept_[at].constraints = std::vector<Constraint>(constraints);  // of another size than what was there
        bytes_ += kept_[at].bytes();
        while (bytes_ > most_bytes_) take_out(random_below(random_, kept_.size()));
    }

    // Keep at most so many instances and bytes from here on.
    void limit(std::size_t most, std::uint64_t most_bytes) {
        most_ = most;
        most_bytes_ = most_bytes;
        while (kept_.size() > most_ || bytes_ > most_bytes_)
            take_out(random_below(random_, kept_.size()));
    }

    // One more instance has come: it takes a place, another's, or none.
    void offer(StoredExample&& instance) {
        if (instance.values.empty() || instance.classes.empty()) return;
        ++offered_;
        if (instance.bytes() > most_bytes_) return;
        if (kept_.size() >= most_ || bytes_ + instance.bytes() > most_bytes_) {
            const std::uint64_t at = random_below(random_, offered_);
            if (at >= kept_.size()) return;
            take_out(at);
        }
        while (bytes_ + instance.bytes() > most_bytes_)
            take_out(random_below(random_, kept_.size()));
        bytes_ += instance.bytes();
        kept_.push_back(std::move(instance));
    }

    // Take what is gone out of an instance. False, and the instance is gone too, when it is left
    // without features or without classes.
    template <class F, class C>
    bool refresh(std::size_t at, std::uint64_t removals, std::uint64_t classes_made,
                 F&& feature_is_gone, C&& class_is_gone) {
        StoredExample& instance = kept_[at];
        if (instance.removals == removals) {
            instance.classes_made = classes_made;  // none of which has the id of an earlier one
            return true;
        }
        bytes_ -= instance.bytes();
        remove_if(instance.values, [&](const auto& one) { return feature_is_gone(instance, one.first); });
        remove_if(instance.classes, [&](std::uint32_t cls) { return class_is_gone(instance, cls); });
        remove_if(instance.constraints, [&](const Constraint& constraint) {
            return class_is_gone(instance, constraint.ahead) || class_is_gone(instance, constraint.behind);
        });
        instance.removals = removals;
        instance.classes_made = classes_made;
        bytes_ += instance.bytes();
        if (!instance.values.empty() && !instance.classes.empty()) return true;
        take_out(at);
        return false;
    }

    // --- state ---------------------------------------------------------------------------------

    std::uint64_t offered() const { return offered_; }
    std::uint64_t random() const { return random_; }

    // Fill in the sizes of the runs.
    void measure(State& state) const {
        state.kept = kept_.size();
        state.kept_values = state.kept_classes = state.kept_demands = 0;
        for (const StoredExample& instance : kept_) {
            state.kept_values += instance.values.size();
            state.kept_classes += instance.classes.size();
            state.kept_demands += instance.constraints.size();
        }
    }

    template <class F, class C>
    void dump(const State& state, F&& feature_is_gone, C&& class_is_gone) const {
        std::uint64_t value = 0, cls = 0, constraint = 0;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            const auto known = [&](std::uint32_t id) {
                return class_is_gone(kept_[i], id) ? GONE_ID : id;
            };
            state.kept_features[i] = static_cast<std::uint32_t>(kept_[i].values.size());
            state.kept_true[i] = static_cast<std::uint32_t>(kept_[i].classes.size());
            state.kept_demanded[i] = static_cast<std::uint32_t>(kept_[i].constraints.size());
            for (const auto& [feature, given] : kept_[i].values) {
                state.kept_feature_ids[value] = feature_is_gone(kept_[i], feature) ? GONE_ID : feature;
                state.kept_feature_values[value++] = given;
            }
            for (const std::uint32_t id : kept_[i].classes) state.kept_class_ids[cls++] = known(id);
            for (const Constraint& each : kept_[i].constraints) {
                state.kept_demands_ahead[constraint] = known(each.ahead);
                state.kept_demands_behind[constraint] = known(each.behind);
                state.kept_demands_multiplier[constraint++] = each.multiplier;
            }
        }
    }

    // Take what was dumped, which StateCheck has passed, by an index that has removed nothing yet and
    // in which state.counts[2] classes were made.
    void load(const State& state) {
        offered_ = state.counts[5];
        random_ = state.counts[6];
        std::uint64_t value = 0, cls = 0, constraint = 0;
        for (std::uint64_t i = 0; i < state.kept; ++i) {
            StoredExample instance;
            instance.classes_made = state.counts[2];
            instance.values.reserve(state.kept_features[i]);
            instance.constraints.reserve(state.kept_demanded[i]);
            for (std::uint32_t left = state.kept_features[i]; left > 0; --left, ++value)
                instance.values.emplace_back(state.kept_feature_ids[value],
                                             state.kept_feature_values[value]);
            instance.classes.assign(state.kept_class_ids + cls,
                                    state.kept_class_ids + cls + state.kept_true[i]);
            cls += state.kept_true[i];
            for (std::uint32_t left = state.kept_demanded[i]; left > 0; --left, ++constraint)
                instance.constraints.push_back({state.kept_demands_ahead[constraint],
                                            state.kept_demands_behind[constraint],
                                            state.kept_demands_multiplier[constraint]});
            bytes_ += instance.bytes();
            kept_.push_back(std::move(instance));
        }
    }

private:
    template <class T, class F>
    static void remove_if(std::vector<T>& from, F&& which) {
        from.erase(std::remove_if(from.begin(), from.end(), which), from.end());
        from.shrink_to_fit();
    }

    void take_out(std::size_t at) {
        bytes_ -= kept_[at].bytes();
        if (at + 1 != kept_.size()) kept_[at] = std::move(kept_.back());
        kept_.pop_back();
    }

    std::deque<StoredExample> kept_;  // which, unlike a vector, has next to no room to spare
    std::uint64_t bytes_ = 0;
    std::size_t most_ = 0;
    std::uint64_t most_bytes_ = 0;
    std::uint64_t offered_ = 0;
    std::uint64_t random_;
};

}  // namespace manyclass
