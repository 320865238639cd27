// Past instances, kept to be learned again: a uniform sample of all that came, of a bounded size
// (algorithm R of Vitter 1985), drawn by a generator that is part of the state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "lesson.hpp"
#include "state.hpp"

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

// An instance as it was given, by feature ids. Its lists have no room to spare.
struct Kept {
    std::vector<std::pair<std::uint32_t, float>> values;
    std::vector<std::uint32_t> classes;
    std::vector<Demand> demands;  // if the learner makes any

    std::uint64_t bytes() const {
        return 80 + block_bytes(8 * values.size()) + block_bytes(4 * classes.size()) +
               block_bytes(12 * demands.size());
    }
};

class Reservoir {
public:
    explicit Reservoir(std::uint64_t seed) : random_(seed) {}

    bool empty() const { return kept_.empty(); }
    std::size_t size() const { return kept_.size(); }
    std::uint64_t bytes() const { return bytes_; }
    const Kept& operator[](std::size_t at) const { return kept_[at]; }
    std::size_t draw() { return random_below(random_, kept_.size()); }

    // What an instance demands has changed.
    void put_demands(std::size_t at, const std::vector<Demand>& demands) {
        bytes_ -= kept_[at].bytes();
        kept_[at].demands = std::vector<Demand>(demands);  // of another size than what was there
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
    void offer(Kept&& instance) {
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

    // Take the features and classes that are marked out of every instance, and with them those
    // instances that are left without either.
    void forget(const std::vector<bool>& features, const std::vector<bool>& classes) {
        std::size_t left = 0;
        bytes_ = 0;
        for (Kept& instance : kept_) {
            remove_if(instance.values, [&](const auto& one) { return marked(features, one.first); });
            remove_if(instance.classes, [&](std::uint32_t cls) { return marked(classes, cls); });
            remove_if(instance.demands, [&](const Demand& demand) {
                return marked(classes, demand.ahead) || marked(classes, demand.behind);
            });
            if (instance.values.empty() || instance.classes.empty()) continue;
            instance.values.shrink_to_fit();
            instance.classes.shrink_to_fit();
            instance.demands.shrink_to_fit();
            bytes_ += instance.bytes();
            if (&kept_[left] != &instance) kept_[left] = std::move(instance);
            ++left;
        }
        kept_.resize(left);
    }

    // --- state ---------------------------------------------------------------------------------

    std::uint64_t offered() const { return offered_; }
    std::uint64_t random() const { return random_; }

    // Fill in the sizes of the runs.
    void measure(State& state) const {
        state.kept = kept_.size();
        state.kept_values = state.kept_classes = state.kept_demands = 0;
        for (const Kept& instance : kept_) {
            state.kept_values += instance.values.size();
            state.kept_classes += instance.classes.size();
            state.kept_demands += instance.demands.size();
        }
    }

    void dump(const State& state) const {
        std::uint64_t value = 0, cls = 0, demand = 0;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            state.kept_features[i] = static_cast<std::uint32_t>(kept_[i].values.size());
            state.kept_true[i] = static_cast<std::uint32_t>(kept_[i].classes.size());
            state.kept_demanded[i] = static_cast<std::uint32_t>(kept_[i].demands.size());
            for (const auto& [feature, given] : kept_[i].values) {
                state.kept_feature_ids[value] = feature;
                state.kept_feature_values[value++] = given;
            }
            for (const std::uint32_t id : kept_[i].classes) state.kept_class_ids[cls++] = id;
            for (const Demand& each : kept_[i].demands) {
                state.kept_demands_ahead[demand] = each.ahead;
                state.kept_demands_behind[demand] = each.behind;
                state.kept_demands_multiplier[demand++] = each.multiplier;
            }
        }
    }

    // Take what was dumped, which StateCheck has passed.
    void load(const State& state) {
        offered_ = state.counts[5];
        random_ = state.counts[6];
        std::uint64_t value = 0, cls = 0, demand = 0;
        for (std::uint64_t i = 0; i < state.kept; ++i) {
            Kept instance;
            instance.values.reserve(state.kept_features[i]);
            instance.demands.reserve(state.kept_demanded[i]);
            for (std::uint32_t left = state.kept_features[i]; left > 0; --left, ++value)
                instance.values.emplace_back(state.kept_feature_ids[value],
                                             state.kept_feature_values[value]);
            instance.classes.assign(state.kept_class_ids + cls,
                                    state.kept_class_ids + cls + state.kept_true[i]);
            cls += state.kept_true[i];
            for (std::uint32_t left = state.kept_demanded[i]; left > 0; --left, ++demand)
                instance.demands.push_back({state.kept_demands_ahead[demand],
                                            state.kept_demands_behind[demand],
                                            state.kept_demands_multiplier[demand]});
            bytes_ += instance.bytes();
            kept_.push_back(std::move(instance));
        }
    }

private:
    static bool marked(const std::vector<bool>& marks, std::uint32_t id) {
        return id < marks.size() && marks[id];
    }

    template <class T, class F>
    static void remove_if(std::vector<T>& from, F&& which) {
        from.erase(std::remove_if(from.begin(), from.end(), which), from.end());
    }

    void take_out(std::size_t at) {
        bytes_ -= kept_[at].bytes();
        if (at + 1 != kept_.size()) kept_[at] = std::move(kept_.back());
        kept_.pop_back();
    }

    std::deque<Kept> kept_;  // which, unlike a vector, has next to no room to spare
    std::uint64_t bytes_ = 0;
    std::size_t most_ = 0;
    std::uint64_t most_bytes_ = 0;
    std::uint64_t offered_ = 0;
    std::uint64_t random_;
};

}  // namespace manyclass
