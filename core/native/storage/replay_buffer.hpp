// Examples stored to be learned again: a uniform sample of all offered examples, of a bounded size
// (algorithm R of Vitter 1985). Its random generator is part of the state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "math/random.hpp"
#include "pipeline/example.hpp"
#include "pipeline/wire.hpp"
#include "snapshot/visitor.hpp"
#include "storage/neighbor_index.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// The size of a heap block for this many bytes: one word more, in steps of 16, at least four
// words.
inline std::uint64_t block_bytes(std::uint64_t bytes) {
    return bytes == 0 ? 0 : std::max<std::uint64_t>((bytes + 23) / 16 * 16, 32);
}

// An example with its raw values, by feature ids. Its lists have no spare capacity. After it was
// stored, ids may be freed and reused: the counts show the removed ids, which stay in the lists
// until the example is drawn.
struct StoredExample {
    std::vector<std::pair<std::uint32_t, float>> values;
    std::vector<std::uint32_t> classes;   // the true ones, then `rejected` wrong ones
    std::vector<Constraint> constraints;  // if the learner has any
    std::uint64_t removals = 0;      // of features and classes, until it was stored or last drawn
    std::uint64_t classes_made = 0;  // until then
    std::uint32_t rejected = 0;
    float weight = 1;

    std::uint64_t bytes() const {
        return 96 + block_bytes(8 * values.size()) + block_bytes(4 * classes.size()) +
               block_bytes(12 * constraints.size());
    }
};

// `names` of a function says which features and classes are forgotten, and prepares a value for the
// neighbor index.
class ReplayBuffer {
public:
    explicit ReplayBuffer(std::uint64_t seed) : random_(seed) {}

    bool empty() const { return stored_.empty(); }
    std::size_t size() const { return stored_.size(); }
    std::uint64_t bytes() const { return bytes_; }
    std::size_t resident_bytes() const { return bytes_ + index_.resident_bytes(); }
    const StoredExample& operator[](std::size_t at) const { return stored_[at]; }
    std::size_t draw() { return random_below(random_, stored_.size()); }

    // Visit the examples that the next draws give, if none is taken out between them.
    template <class F>
    void each_of_next(std::uint32_t draws, F&& visit) const {
        if (empty()) return;
        std::uint64_t random = random_;
        for (std::uint32_t i = 0; i < draws; ++i) visit(stored_[random_below(random, size())]);
    }

    // The constraints of an example have changed.
    template <class N>
    void put_constraints(std::size_t at, const std::vector<Constraint>& constraints,
                         const N& names) {
        std::vector<Constraint>& stored = stored_[at].constraints;
        if (stored.size() == constraints.size()) {
            std::copy(constraints.begin(), constraints.end(), stored.begin());
            return;
        }
        bytes_ -= bytes_of(stored_[at]);
        stored = std::vector<Constraint>(constraints);  // no spare capacity
        bytes_ += bytes_of(stored_[at]);
        while (bytes_ > most_bytes_) take_out(random_below(random_, stored_.size()), names);
    }

    // Limit the examples and bytes from here on.
    template <class N>
    void limit(std::size_t most, std::uint64_t most_bytes, const N& names) {
        most_ = most;
        most_bytes_ = most_bytes;
        while (stored_.size() > most_ || bytes_ > most_bytes_)
            take_out(random_below(random_, stored_.size()), names);
    }

    // Offer an example: it takes a free place, replaces another example, or is not stored.
    template <class N>
    void offer(StoredExample&& example, const N& names) {
        if (example.values.empty() || example.classes.empty()) return;
        ++offered_;
        const std::uint64_t bytes = bytes_of(example);
        if (bytes > most_bytes_) return;
        if (stored_.size() >= most_ || bytes_ + bytes > most_bytes_) {
            const std::uint64_t at = random_below(random_, offered_);
            if (at >= stored_.size()) return;
            take_out(at, names);
        }
        while (bytes_ + bytes > most_bytes_)
            take_out(random_below(random_, stored_.size()), names);
        bytes_ += bytes;
        stored_.push_back(std::move(example));
        if (is_indexed_) index_last(stored_.size() - 1, names);
    }

    // Remove the examples that have these values and true classes, and no others: as they were
    // learned, less what was forgotten since. How many there were.
    template <class N>
    std::size_t drop(const std::vector<std::pair<std::uint32_t, float>>& values,
                     const std::vector<std::uint32_t>& classes, const N& names) {
        std::size_t dropped = 0;
        for (std::size_t at = stored_.size(); at-- > 0;) {
            if (!is_of(stored_[at], values, classes, names)) continue;
            take_out(at, names);
            ++dropped;
        }
        return dropped;
    }

    // Remove forgotten features and classes from an example. Without features or without classes,
    // remove the example too and return false.
    template <class N>
    bool refresh(std::size_t at, std::uint64_t removals, std::uint64_t classes_made,
                 const N& names) {
        StoredExample& stored = stored_[at];
        if (stored.removals == removals) {
            stored.classes_made = classes_made;  // none with the id of an earlier class
            return true;
        }
        bytes_ -= bytes_of(stored);
        const auto class_is_gone = [&](std::uint32_t cls) {
            return names.class_is_gone(stored, cls);
        };
        remove_if(stored.values, [&](const auto& one) {
            return names.feature_is_gone(stored, one.first);
        });
        stored.rejected -= static_cast<std::uint32_t>(std::count_if(
            stored.classes.end() - stored.rejected, stored.classes.end(), class_is_gone));
        remove_if(stored.classes, class_is_gone);
        remove_if(stored.constraints, [&](const Constraint& each) {
            return class_is_gone(each.ahead) || class_is_gone(each.behind);
        });
        stored.removals = removals;
        stored.classes_made = classes_made;
        bytes_ += bytes_of(stored);
        if (!stored.values.empty() && !stored.classes.empty()) {
            if (is_indexed_) index_.set_scale(at, scale_of(stored, names));
            return true;
        }
        take_out(at, names);
        return false;
    }

    // --- neighbors -----------------------------------------------------------------------------

    bool is_indexed() const { return is_indexed_; }
    const NeighborIndex& index() const { return index_; }

    // Index the stored examples, for features below `features`, or no longer. All of them are
    // indexed at once: it is for options that have changed.
    template <class N>
    void set_indexed(bool is_indexed, std::uint32_t features, const N& names) {
        index_.clear();
        is_indexed_ = is_indexed;
        bytes_ = 0;
        for (const StoredExample& each : stored_) bytes_ += bytes_of(each);
        if (!is_indexed_) return;
        index_.fit(features);
        for (std::size_t at = 0; at < stored_.size(); ++at) index_last(at, names);
    }

    void feature_added(std::uint32_t id) {
        if (is_indexed_) index_.fit(id + 1);
    }
    void feature_removed(std::uint32_t id) {
        if (is_indexed_) index_.drop(id);
    }

    // --- state ---------------------------------------------------------------------------------

    std::uint64_t offered() const { return offered_; }

    // Visit the sections. A loaded example has ids of the tables, has constraints only with
    // `has_constraints`, and values below 0 only with `takes_signs`.
    template <class N>
    void visit(SnapshotVisitor& visitor, const Tables& tables, bool has_constraints,
               bool takes_signs, const N& names) {
        std::uint64_t values = 0, classes = 0, constraints = 0;
        bool any_rejected = false, any_weighted = false;
        for (const StoredExample& each : stored_) {
            any_rejected |= each.rejected > 0;
            any_weighted |= each.weight != 1;
            values += each.values.size();
            classes += each.classes.size();
            constraints += each.constraints.size();
        }
        visitor.count(Count::replay_offered, offered_);
        visitor.word(Count::replay_random, random_);
        Runs runs;
        runs.features = visitor.run<std::uint32_t>("kept_features", stored_.size());
        const std::uint64_t examples = runs.features.size;
        runs.classes = visitor.matching<std::uint32_t>("kept_true", examples);
        runs.constraints = visitor.matching<std::uint32_t>("kept_demanded", examples);
        runs.feature_ids = visitor.run<std::uint32_t>("kept_feature_ids", values);
        runs.values = visitor.matching<float>("kept_feature_values", runs.feature_ids.size);
        runs.class_ids = visitor.run<std::uint32_t>("kept_class_ids", classes);
        runs.ahead = visitor.run<std::uint32_t>("kept_demands_ahead", constraints);
        runs.behind = visitor.matching<std::uint32_t>("kept_demands_behind", runs.ahead.size);
        runs.multiplier = visitor.matching<float>("kept_demands_multiplier", runs.ahead.size);
        // Empty in a state without any.
        runs.rejected = visitor.run<std::uint32_t>("kept_rejected", any_rejected ? examples : 0);
        runs.weights = visitor.run<float>("kept_weights", any_weighted ? examples : 0);
        if (visitor.is_dumping()) dump(runs, names);
        if (visitor.is_loading()) {
            load(runs, tables, has_constraints, takes_signs);
            set_indexed(is_indexed_, tables.features.end(), names);
        }
    }

private:
    struct Runs {
        Run<std::uint32_t> features, classes, constraints;  // of each example, how many
        Run<std::uint32_t> feature_ids;
        Run<float> values;
        Run<std::uint32_t> class_ids;
        Run<std::uint32_t> ahead, behind;  // of each constraint
        Run<float> multiplier;
        Run<std::uint32_t> rejected;  // of the classes of each example, how many are
        Run<float> weights;           // of each example
    };

    template <class N>
    void dump(const Runs& runs, const N& names) const {
        std::uint64_t value = 0, cls = 0, constraint = 0;
        for (std::size_t i = 0; i < stored_.size(); ++i) {
            const StoredExample& example = stored_[i];
            const auto known = [&](std::uint32_t id) {
                return names.class_is_gone(example, id) ? GONE_ID : id;
            };
            runs.features.data[i] = static_cast<std::uint32_t>(example.values.size());
            runs.classes.data[i] = static_cast<std::uint32_t>(example.classes.size());
            if (runs.rejected.size > 0) runs.rejected.data[i] = example.rejected;
            if (runs.weights.size > 0) runs.weights.data[i] = example.weight;
            runs.constraints.data[i] = static_cast<std::uint32_t>(example.constraints.size());
            for (const auto& [feature, given] : example.values) {
                const bool is_gone = names.feature_is_gone(example, feature);
                runs.feature_ids.data[value] = is_gone ? GONE_ID : feature;
                runs.values.data[value++] = given;
            }
            for (const std::uint32_t id : example.classes) runs.class_ids.data[cls++] = known(id);
            for (const Constraint& each : example.constraints) {
                runs.ahead.data[constraint] = known(each.ahead);
                runs.behind.data[constraint] = known(each.behind);
                runs.multiplier.data[constraint++] = each.multiplier;
            }
        }
    }

    // --- loading -------------------------------------------------------------------------------

    // Load into tables without removals. The parts of an example are checked as they are read.
    void load(const Runs& runs, const Tables& tables, bool has_constraints, bool takes_signs) {
        need(runs.features.size <= offered_ && offered_ <= tables.learned, "counts",
             "more past instances than came");
        need(runs.features.size <= most_, "kept_features",
             "more past instances than the options allow");
        need(runs.rejected.size == 0 || runs.rejected.size == runs.features.size, "kept_rejected",
             "it is not of the past instances");
        need(runs.weights.size == 0 || runs.weights.size == runs.features.size, "kept_weights",
             "it is not of the past instances");
        std::vector<std::uint64_t> feature_in(tables.features.end(), 0);  // the last example with it
        std::vector<std::uint64_t> class_in(tables.classes.end(), 0);
        std::uint64_t value = 0, cls = 0, constraint = 0;
        for (std::uint64_t i = 0; i < runs.features.size; ++i) {
            StoredExample example;
            example.classes_made = tables.classes_made;
            value = load_values(runs, i, value, tables, takes_signs, feature_in, example);
            cls = load_classes(runs, i, cls, tables, class_in, example);
            load_weight(runs, i, example);
            need(runs.constraints.data[i] == 0 || has_constraints, "kept_demanded",
                 "this learner makes no demands");
            constraint = load_constraints(runs, i, constraint, tables, example);
            stored_.push_back(std::move(example));
        }
        need(value == runs.feature_ids.size, "kept_features",
             "more past than instances account for");
        need(cls == runs.class_ids.size, "kept_true", "more past than instances account for");
        need(constraint == runs.ahead.size, "kept_demanded",
             "more past than instances account for");
    }

    static std::uint64_t load_values(const Runs& runs, std::uint64_t at, std::uint64_t begin,
                                     const Tables& tables, bool takes_signs,
                                     std::vector<std::uint64_t>& feature_in,
                                     StoredExample& example) {
        const std::uint64_t count = runs.features.data[at];
        need(count > 0 && count <= runs.feature_ids.size - begin, "kept_features",
             "past instances are cut short");
        example.values.reserve(count);
        for (std::uint64_t each = begin; each < begin + count; ++each) {
            const std::uint32_t id = runs.feature_ids.data[each];
            if (id != GONE_ID) {
                need(id < tables.features.end() && tables.features.alive(id) &&
                         feature_in[id] != at + 1,
                     "kept_feature_ids", "a past instance has no such feature, or twice");
                feature_in[id] = at + 1;
            }
            const float given = runs.values.data[each];
            const float size = takes_signs ? std::fabs(given) : given;
            need(size >= static_cast<float>(SMALLEST_VALUE) &&
                     size <= static_cast<float>(LARGEST_VALUE),
                 "kept_feature_values", "a past instance has a value out of range");
            example.values.emplace_back(id, given);
        }
        return begin + count;
    }

    static bool is_class(const Tables& tables, std::uint32_t id) {
        return id < tables.classes.end() && tables.classes.alive(id);
    }

    static std::uint64_t load_classes(const Runs& runs, std::uint64_t at, std::uint64_t begin,
                                      const Tables& tables, std::vector<std::uint64_t>& class_in,
                                      StoredExample& example) {
        const std::uint64_t count = runs.classes.data[at];
        need(count > 0 && count <= runs.class_ids.size - begin, "kept_true",
             "past instances are cut short");
        for (std::uint64_t each = begin; each < begin + count; ++each) {
            const std::uint32_t id = runs.class_ids.data[each];
            if (id == GONE_ID) continue;
            need(is_class(tables, id) && class_in[id] != at + 1, "kept_class_ids",
                 "a past instance has no such class, or twice");
            class_in[id] = at + 1;
        }
        example.classes.assign(runs.class_ids.data + begin, runs.class_ids.data + begin + count);
        if (runs.rejected.size > 0) example.rejected = runs.rejected.data[at];
        need(example.rejected <= count, "kept_rejected", "a past instance has no such classes");
        return begin + count;
    }

    static void load_weight(const Runs& runs, std::uint64_t at, StoredExample& example) {
        if (runs.weights.size == 0) return;
        example.weight = runs.weights.data[at];
        need(example.weight >= static_cast<float>(LEAST_EXAMPLE_WEIGHT) &&
                 example.weight <= static_cast<float>(MOST_EXAMPLE_WEIGHT),
             "kept_weights", "a past instance has a weight out of range");
    }

    static std::uint64_t load_constraints(const Runs& runs, std::uint64_t at, std::uint64_t begin,
                                          const Tables& tables, StoredExample& example) {
        const std::uint64_t count = runs.constraints.data[at];
        need(count <= runs.ahead.size - begin, "kept_demanded", "past instances are cut short");
        example.constraints.reserve(count);
        for (std::uint64_t each = begin; each < begin + count; ++each) {
            const std::uint32_t ahead = runs.ahead.data[each], behind = runs.behind.data[each];
            need(ahead == NO_ID || ahead == GONE_ID || is_class(tables, ahead), "kept_demands_ahead",
                 "a past instance demands something of no class");
            need((behind == NO_ID && ahead != NO_ID) || behind == GONE_ID ||
                     (is_class(tables, behind) && behind != ahead),
                 "kept_demands_behind", "a past instance demands something of no class");
            const float multiplier = runs.multiplier.data[each];
            need(multiplier >= 0 && std::isfinite(multiplier), "kept_demands_multiplier",
                 "a past instance makes no such demand");
            example.constraints.push_back({ahead, behind, multiplier});
        }
        return begin + count;
    }

    // -------------------------------------------------------------------------------------------

    template <class N>
    static bool is_of(const StoredExample& stored,
                      const std::vector<std::pair<std::uint32_t, float>>& values,
                      const std::vector<std::uint32_t>& classes, const N& names) {
        if (stored.values.size() < values.size()) return false;
        auto value = values.begin();
        for (const auto& each : stored.values) {
            if (names.feature_is_gone(stored, each.first)) continue;
            if (value == values.end() || *value++ != each) return false;
        }
        auto cls = classes.begin();
        for (std::size_t at = 0; at < stored.classes.size() - stored.rejected; ++at) {
            if (names.class_is_gone(stored, stored.classes[at])) continue;
            if (cls == classes.end() || *cls++ != stored.classes[at]) return false;
        }
        return value == values.end() && cls == classes.end();
    }

    template <class T, class F>
    static void remove_if(std::vector<T>& from, F&& which) {
        from.erase(std::remove_if(from.begin(), from.end(), which), from.end());
        from.shrink_to_fit();
    }

    template <class N>
    void take_out(std::size_t at, const N& names) {
        bytes_ -= bytes_of(stored_[at]);
        const bool is_worn = is_indexed_ && !index_.remove(at, features_of(stored_[at], names));
        if (at + 1 != stored_.size()) stored_[at] = std::move(stored_.back());
        stored_.pop_back();
        if (is_worn) set_indexed(true, index_.end(), names);
    }

    std::uint64_t bytes_of(const StoredExample& example) const {
        if (!is_indexed_) return example.bytes();
        return example.bytes() + NeighborIndex::BYTES_PER_EXAMPLE +
               NeighborIndex::BYTES_PER_VALUE * example.values.size();
    }

    template <class N>
    void index_last(std::size_t at, const N& names) {
        std::vector<std::pair<std::uint32_t, double>> values;
        for (const auto& [feature, value] : stored_[at].values)
            if (!names.feature_is_gone(stored_[at], feature))
                values.emplace_back(feature, names.damped(value));
        index_.add(values);
        index_.set_scale(at, scale_of(stored_[at], names));
    }

    // 1 / the length of the prepared values, which those of forgotten features count for until the
    // example is drawn.
    template <class N>
    static double scale_of(const StoredExample& example, const N& names) {
        double squares = 0;
        for (const auto& [feature, value] : example.values) {
            const double stored = NeighborIndex::stored_value(names.damped(value));
            squares += stored * stored;
        }
        return 1 / std::sqrt(squares);
    }

    template <class N>
    static std::vector<std::uint32_t> features_of(const StoredExample& example, const N& names) {
        std::vector<std::uint32_t> features;
        for (const auto& value : example.values)
            if (!names.feature_is_gone(example, value.first)) features.push_back(value.first);
        return features;
    }

    std::deque<StoredExample> stored_;  // unlike a vector, with little spare capacity
    std::uint64_t bytes_ = 0;
    std::size_t most_ = 0;
    std::uint64_t most_bytes_ = 0;
    std::uint64_t offered_ = 0;
    std::uint64_t random_;
    bool is_indexed_ = false;
    NeighborIndex index_;
};

}  // namespace manyclass
