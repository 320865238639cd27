// Replay: stores learned examples, and returns them with the names that the tables still have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pipeline/example_reader.hpp"
#include "pipeline/preprocessing.hpp"
#include "storage/replay_buffer.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// The ids of a stored example may be freed and reused. Therefore each feature has a birth: the
// count of removals when it was added. In an example stored before its birth, the id meant another
// feature.
class Replay {
public:
    static constexpr std::uint64_t BYTES_PER_BIRTH = 8;

    Replay(const Tables& tables, const Preprocessing& preprocessing, std::uint64_t seed)
        : tables_(tables), preprocessing_(preprocessing), buffer_(seed) {}

    bool empty() const { return buffer_.empty(); }
    bool is_on() const { return most_ > 0; }
    std::uint64_t offered() const { return buffer_.offered(); }
    std::uint64_t bytes() const { return buffer_.bytes(); }
    std::uint64_t bytes_per_feature() const {
        return (is_on() ? BYTES_PER_BIRTH : 0) +
               (buffer_.is_indexed() ? NeighborIndex::BYTES_PER_FEATURE : 0);
    }
    std::size_t resident_bytes() const {
        return buffer_.resident_bytes() + births_.resident_bytes();
    }
    const ReplayBuffer& buffer() const { return buffer_; }

    // Store at most this many examples from now on; 0: none.
    void limit(std::uint64_t most, std::uint64_t most_bytes) {
        most_ = most;
        buffer_.limit(most, most_bytes, *this);
        if (!is_on()) {
            Arena<std::uint64_t>().swap(births_);
        } else if (const std::size_t known = births_.size(); known < tables_.features.end()) {
            births_.extend(tables_.features.end() - known);
            std::fill(births_.data() + known, births_.data() + tables_.features.end(), 0);
        }
    }

    // Index the stored examples by their features, to find neighbors, or remove that index.
    void index(bool is_indexed) {
        buffer_.set_indexed(is_indexed, tables_.features.end(), *this);
    }
    bool is_indexed() const { return buffer_.is_indexed(); }
    const NeighborIndex& index() const { return buffer_.index(); }

    void feature_added(std::uint32_t id) {
        buffer_.feature_added(id);
        if (!is_on()) return;
        if (id == births_.size()) births_.extend(1);
        births_[id] = removals();
    }

    void feature_removed(std::uint32_t id) {
        buffer_.feature_removed(id);
        if (is_on()) births_[id] = NEVER;
    }

    // Store the values before preprocessing.
    void note_values(Example& example) const {
        if (!is_on()) return;
        example.raw_values.clear();
        for (const ActiveFeature& each : example.active)
            example.raw_values.push_back(static_cast<float>(each.value));
    }

    StoredExample stored(const Example& example) const {
        StoredExample stored;
        const auto lost =
            std::count_if(example.active.begin(), example.active.end(),
                          [](const ActiveFeature& each) { return each.feature == NO_ID; });
        stored.values.reserve(example.active.size() - static_cast<std::size_t>(lost));
        for (std::size_t i = 0; i < example.active.size(); ++i)
            if (example.active[i].feature != NO_ID)
                stored.values.emplace_back(example.active[i].feature, example.raw_values[i]);
        for (const std::uint32_t cls : example.classes)
            if (cls != NO_ID) stored.classes.push_back(cls);
        stored.classes.insert(stored.classes.end(), example.rejected.begin(),
                              example.rejected.end());
        stored.classes.shrink_to_fit();
        stored.rejected = static_cast<std::uint32_t>(example.rejected.size());
        stored.weight = static_cast<float>(example.weight);
        stored.constraints = example.constraints;
        stored.removals = removals();
        stored.classes_made = tables_.classes_made;
        return stored;
    }

    void offer(StoredExample&& example) { buffer_.offer(std::move(example), *this); }

    // Remove the stored examples that have the known features and classes of this example, which is
    // not preprocessed. Return how many were removed.
    std::size_t drop(const Example& example) {
        std::vector<std::pair<std::uint32_t, float>> values;
        for (const ActiveFeature& each : example.active)
            if (each.feature != NO_ID)
                values.emplace_back(each.feature, static_cast<float>(each.value));
        std::vector<std::uint32_t> classes;
        for (const std::uint32_t cls : example.classes)
            if (cls != NO_ID) classes.push_back(cls);
        return values.empty() ? 0 : buffer_.drop(values, classes, *this);
    }

    // Prefetch the examples of the next draws, most likely; then their values.
    void prefetch_examples(std::uint32_t draws) const {
        buffer_.each_of_next(draws, [](const StoredExample& each) {
            __builtin_prefetch(&each);
            __builtin_prefetch(&each.weight);  // it is longer than a cache line
        });
    }
    void prefetch_values(std::uint32_t draws) const {
        buffer_.each_of_next(draws, [](const StoredExample& each) {
            __builtin_prefetch(each.values.data());
            __builtin_prefetch(each.classes.data());
            __builtin_prefetch(each.constraints.data());
        });
    }

    // Learn a random example again if it has features and classes left.
    template <class F>
    void relearn_one(Example& example, const ExampleReader& reader, F&& learn) {
        const std::size_t at = buffer_.draw();
        if (!refresh(at)) return;
        read(at, example, reader);
        learn(example);
        buffer_.put_constraints(at, example.constraints, *this);
    }

    // Remove the examples that have no features or no classes left.
    void refresh_all() {
        for (std::size_t at = 0; at < buffer_.size();) at += refresh(at);
    }

    // Visit every example; call `refresh_all` first.
    template <class F>
    void each(Example& example, const ExampleReader& reader, F&& visit) const {
        for (std::size_t at = 0; at < buffer_.size(); ++at) {
            read(at, example, reader);
            visit(example);
        }
    }

    // Size, dump or load; the tables are loaded first, and `limit` is called first.
    void visit(SnapshotVisitor& visitor, bool has_constraints, bool takes_signs) {
        buffer_.visit(visitor, tables_, has_constraints, takes_signs, *this);
    }

    // True if a feature or class of a stored example was removed since it was stored.
    bool feature_is_gone(const StoredExample& example, std::uint32_t id) const {
        return id == GONE_ID || births_[id] > example.removals;
    }
    bool class_is_gone(const StoredExample& example, std::uint32_t id) const {
        if (id == NO_ID) return false;  // stands for a score of 0
        return id == GONE_ID || !tables_.classes.alive(id) ||
               tables_.class_records[id].creation_order >= example.classes_made;
    }

    // Convert a value to the form of the index, and back.
    double damped(float value) const { return preprocessing_.damped(static_cast<double>(value)); }

    double indexed_value(float value) const { return NeighborIndex::stored_value(damped(value)); }

private:
    static constexpr std::uint64_t NEVER = ~std::uint64_t{0};

    // Return 1 + the number of features and classes removed since the tables were made or loaded.
    std::uint64_t removals() const {
        return tables_.features.removals() + tables_.classes.removals() + 1;
    }

    // False if the example was replaced or removed.
    bool refresh(std::size_t at) {
        return buffer_.refresh(at, removals(), tables_.classes_made, *this);
    }

    void read(std::size_t at, Example& example, const ExampleReader& reader) const {
        const StoredExample& stored = buffer_[at];
        example.active.clear();
        example.votes.clear();
        example.vote_scale = 0;
        for (const auto& [feature, value] : stored.values) {
            tables_.postings.prefetch(feature);
            ActiveFeature& read = example.active.emplace_back();
            read.feature = feature;
            read.value = static_cast<double>(value);
        }
        reader.prefetch_edges(example.active);
        preprocessing_.apply(example.active, tables_);
        const auto rejected = stored.classes.end() - stored.rejected;
        example.classes.assign(stored.classes.begin(), rejected);
        example.rejected.assign(rejected, stored.classes.end());
        example.weight = static_cast<double>(stored.weight);
        example.constraints = stored.constraints;
    }

    const Tables& tables_;
    const Preprocessing& preprocessing_;
    ReplayBuffer buffer_;
    std::uint64_t most_ = 0;
    Arena<std::uint64_t> births_;  // by feature id, `removals` when it was added
};

}  // namespace manyclass
