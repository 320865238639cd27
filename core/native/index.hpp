// The sparse index: RankedRetrieval (Madani et al., JMLR 2009, section 3) and learning by any of the
// rules of normalized_weights.hpp and update_context.hpp. Vocabulary, rows and past instances are in their own headers; here
// they meet.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "learners/class_order.hpp"
#include "learners/options.hpp"
#include "learners/rules/normalized_weights.hpp"
#include "learners/rules/signed_weights.hpp"
#include "learners/rules/update_context.hpp"
#include "learners/rules/updates.hpp"
#include "learners/tree/label_tree.hpp"
#include "math/natural_log.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/eviction_clock.hpp"
#include "pipeline/fair_mutex.hpp"
#include "pipeline/memory_reserve.hpp"
#include "pipeline/wire.hpp"
#include "snapshot/state.hpp"
#include "snapshot/state_check.hpp"
#include "storage/name_order.hpp"
#include "storage/postings.hpp"
#include "storage/replay_buffer.hpp"
#include "storage/score_table.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

struct Learned {
    std::uint32_t rank;  // of the best true class before learning; 0: not retrieved
    bool updated;
    TopTwoScores top_two;  // as `rank` would have had it
};

struct ClassRecord {
    std::uint64_t learned;  // events that named it
    std::uint64_t born;     // its place in the order in which classes were first learned
    std::uint32_t last_learned;
};

// What the bytes limit is held against. By count, so that a reloaded index, whose blocks lie
// closer together, evicts at the same moment as one that grew.
constexpr std::uint64_t BYTES_PER_FEATURE = 48, BYTES_PER_CLASS = 60, BYTES_PER_EDGE = 9;
constexpr std::uint64_t BYTES_PER_VARIANCE = 4;
constexpr std::uint64_t BYTES_PER_BIRTH = 8;  // of a feature, if past instances are kept
constexpr std::uint64_t BYTES_PER_PLACE = 64;  // of a class in the order of Popular
constexpr std::uint64_t KEPT_SHARE = 4;  // past instances take at most one in so many of the bytes
constexpr std::size_t MOST_NEGATIVES = 1000;
// A limit that was lowered is approached by at most so much an event.
constexpr std::uint64_t SURPLUS_PER_EVENT = 1000, SURPLUS_BYTES_PER_EVENT = 1 << 16;
// Nodes that a search of a label tree opens at most: it is exact below that. Once names were evicted
// the model is none that could be exact, and far more nodes can be likely.
constexpr std::uint64_t MOST_OPENED = 1 << 14, MOST_OPENED_AFTER_EVICTION = 512;
constexpr std::uint32_t ROWS_SWEPT_PER_EVENT = 64;
constexpr std::uint32_t EDGES_AHEAD = 16;  // of a row that is swept soon, fetched from memory

// An error, such as a failed allocation, ended a change of the index. No call reads the index again.
struct IndexHalfChanged : std::exception {};

class Index {
public:
    Index(const Options& options, std::uint64_t hash_seed)
        : features_(hash_seed),
          classes_(hash_seed),
          rows_(options.kind == Kind::confidence),
          options_(options),
          tree_(options),
          past_(options.seed) {
        limit_past();
    }

    // Options of the same kind of learner: what rows hold means the same.
    void configure(const Options& options) {
        Change change(*this);
        options_ = options;
        tree_.configure(options);
        if (is_sampling() && past_.offered() >= options_.sample) plant_sample(workspace());
        limit_past();
        change.done();
    }

    // --- ranking -----------------------------------------------------------------------------

    // The k best classes of an instance in wire form, best first, with their names appended.
    void rank(const char* data, std::size_t size, std::uint32_t k, double threshold,
              std::vector<Ranked>& best, std::string& names) {
        const Read lock = reading();
        Workspace& work = workspace();
        read(work, data, size);
        prepare(work);
        best_of(work, k, threshold, best);
        for (const Ranked& ranked : best) {
            const std::string_view name = classes_.name(ranked.cls);
            put(names, static_cast<std::uint32_t>(name.size()));
            names.append(name);
        }
    }

    // Rank all rows; class ids and scores are written k to a row, padded with -1 and 0. While one
    // row is scored the edges of the next and the counters of the one after it are on their way.
    void rank_csr(Columns& columns, const std::int64_t* indptr, const std::int32_t* indices,
                  const float* values, std::int64_t rows, std::uint32_t k, std::int32_t* ids,
                  double* scores) {
        constexpr std::int64_t BLOCK = 256;  // a waiting change gets its turn between blocks
        std::vector<Ranked> best;
        std::vector<ActiveFeature> coming[2];
        for (std::int64_t begin = 0; begin < rows; begin += BLOCK) {
            const Read lock = reading();
            Workspace& work = workspace();
            const auto in_use = columns.meet(2 * number_, features_);
            const std::int64_t end = std::min(rows, begin + BLOCK);
            const auto read_row = [&](std::int64_t row, std::vector<ActiveFeature>& active) {
                active.clear();
                if (row < end)
                    read_csr(active, columns, indptr[row], indptr[row + 1], indices, values);
            };
            read_row(begin, coming[0]);
            read_row(begin + 1, coming[1]);
            prefetch_edges(coming[0]);
            for (std::int64_t row = begin; row < end; ++row) {
                work.active.swap(coming[0]);
                coming[0].swap(coming[1]);
                prefetch_edges(coming[0]);
                read_row(row + 2, coming[1]);
                prepare(work);
                best_of(work, k, -std::numeric_limits<double>::infinity(), best);
                for (std::uint32_t i = 0; i < k; ++i) {
                    const bool there = i < best.size();
                    ids[row * k + i] = there ? static_cast<std::int32_t>(best[i].cls) : -1;
                    scores[row * k + i] = there ? best[i].score : 0.0;
                }
            }
        }
    }

    // For each class, what each active feature gave to it, heaviest first, at most `limit`.
    void explain(const char* data, std::size_t size, const std::vector<std::string_view>& classes,
                 std::size_t limit,
                 std::vector<std::vector<std::pair<std::string, double>>>& explained) {
        const Read lock = reading();
        Workspace& work = workspace();
        read(work, data, size);
        prepare(work);
        for (const std::string_view name : classes) {
            const std::uint32_t cls = classes_.find(name);
            auto& votes = explained.emplace_back();
            if (options_.kind == Kind::label_tree) explain_by_path(work, cls, votes);
            for (const ActiveFeature& active : work.active) {
                if (active.feature == NO_ID) continue;
                const Row& row = rows_[active.feature];
                const auto edge = static_cast<const Postings&>(rows_).edges(row);
                const std::uint32_t voting = scored(row);
                const std::uint32_t at = Postings::place_of(cls, edge.classes, voting);
                if (at < voting)
                    votes.emplace_back(
                        std::string(active.name),
                        coefficient(active, row) * static_cast<double>(edge.masses[at]));
            }
            heaviest_first(votes, limit);
        }
    }

    // A node on the path to a class in a label tree, from the root down: how many classes it holds,
    // its probability given the node above it, and what moved its log-odds, most first.
    struct Node {
        std::uint64_t classes;
        double probability;
        double bias;
        std::vector<std::pair<std::string, double>> moved;
    };

    // For each class its path, with at most `limit` features a node; none without a tree.
    void paths(const char* data, std::size_t size, const std::vector<std::string_view>& classes,
               std::size_t limit, std::vector<std::vector<Node>>& paths) {
        const Read lock = reading();
        Workspace& work = workspace();
        read(work, data, size);
        prepare(work);
        LabelTree::input_of(work.active, work.input);
        for (const std::string_view name : classes) {
            const std::uint32_t cls = classes_.find(name);
            std::vector<Node>& path = paths.emplace_back();
            if (cls == NO_ID || !tree_.has(cls)) continue;
            for (const LabelTree::Step& step : tree_.path(work.input, cls)) {
                Node& node = path.emplace_back();
                node.classes = step.classes;
                node.probability = step.probability;
                node.bias = step.moved.back();
                named(work, step.moved, node.moved);
                heaviest_first(node.moved, limit);
            }
        }
    }

    // The probability of each class by the label tree, 0 for one that is not in it.
    void probabilities(const char* data, std::size_t size,
                       const std::vector<std::string_view>& classes, std::vector<double>& found) {
        const Read lock = reading();
        Workspace& work = workspace();
        read(work, data, size);
        prepare(work);
        LabelTree::input_of(work.active, work.input);
        std::vector<std::uint32_t> ids;
        for (const std::string_view name : classes) ids.push_back(classes_.find(name));
        found = tree_.probabilities(work.input, ids);
    }

    // --- changing ----------------------------------------------------------------------------

    // Learn an instance in wire form; `true_classes` are unique names. `first_pass` counts times seen
    // (section 4.1: once only).
    Learned learn(const char* data, std::size_t size,
                  const std::vector<std::string_view>& true_classes, bool first_pass) {
        Change change(*this);
        Workspace& work = workspace();
        read(work, data, size);
        if (options_.kind == Kind::frequency) work.active.clear();  // it knows no features
        note_values(work);
        prepare(work);
        count_features(work, first_pass);
        for (ActiveFeature& active : work.active)
            if (active.feature == NO_ID) active.feature = make_feature(active.name);
        work.true_ids.clear();
        for (const std::string_view cls : true_classes) work.true_ids.push_back(classes_.find(cls));
        const Learned learned =
            learn(work, first_pass, [&](std::size_t i) { return make_class(true_classes[i]); });
        change.done();
        return learned;
    }

    // Learn one row of CSR arrays.
    Learned learn_csr(Columns& columns, std::int64_t begin, std::int64_t end,
                      const std::int32_t* indices, const float* values, Columns& class_columns,
                      const std::int32_t* class_indices, std::size_t class_count, bool first_pass) {
        Change change(*this);
        Workspace& work = workspace();
        const auto in_use = columns.meet(2 * number_, features_);
        const auto classes_in_use = class_columns.meet(2 * number_ + 1, classes_);
        read_csr(work.active, columns, begin, end, indices, values);
        if (options_.kind == Kind::frequency) work.active.clear();
        prefetch_edges(work.active);
        note_values(work);
        prepare(work);
        count_features(work, first_pass);
        for (ActiveFeature& active : work.active)
            if (active.feature == NO_ID) {
                active.feature = make_feature(active.name);
                if (active.feature != NO_ID) columns.set(active.column, active.feature, features_);
            }
        work.true_ids.clear();
        for (std::size_t i = 0; i < class_count; ++i)
            work.true_ids.push_back(
                class_columns.id(static_cast<std::size_t>(class_indices[i]), classes_));
        const Learned learned = learn(work, first_pass, [&](std::size_t i) {
            const auto column = static_cast<std::size_t>(class_indices[i]);
            const std::uint32_t id = make_class(class_columns.name(column));
            if (id != NO_ID) class_columns.set(column, id, classes_);
            return id;
        });
        change.done();
        return learned;
    }

    // Plant a label tree that has learned nothing over the classes of these rows. Features and
    // classes are known from here on, but do not count as seen. False, with nothing changed, when
    // the learner is no label tree, or has learned.
    bool plant_csr(Columns& columns, const std::int64_t* indptr, const std::int32_t* indices,
                   const float* values, std::int64_t rows, Columns& class_columns,
                   const std::int64_t* class_indptr, const std::int32_t* class_indices) {
        Change change(*this);
        if (options_.kind != Kind::label_tree || learned_ != 0) {
            change.done();
            return false;
        }
        Workspace& work = workspace();
        const auto in_use = columns.meet(2 * number_, features_);
        const auto classes_in_use = class_columns.meet(2 * number_ + 1, classes_);
        const auto read_row = [&](std::int64_t row) {
            read_csr(work.active, columns, indptr[row], indptr[row + 1], indices, values);
            work.true_ids.clear();
            for (std::int64_t at = class_indptr[row]; at < class_indptr[row + 1]; ++at)
                work.true_ids.push_back(
                    class_columns.id(static_cast<std::size_t>(class_indices[at]), classes_));
        };
        for (std::int64_t row = 0; row < rows; ++row) {
            read_row(row);
            count_for_planting(work, class_columns, class_indices + class_indptr[row]);
        }
        counted_ = static_cast<std::uint64_t>(rows);
        std::vector<Leaf> leaves = leaves_of_classes();
        const std::vector<std::size_t> place_of = places_of(leaves);
        for (std::int64_t row = 0; row < rows; ++row) {
            read_row(row);
            prepare(work);
            add_to_sums(work, leaves, place_of);
        }
        tree_.plant(std::move(leaves), options_);
        counted_ = 0;
        for (std::uint32_t id = 0; id < rows_.end(); ++id) rows_[id].times_seen = 0;
        for (ClassRecord& record : class_records_) record.learned = 0;
        planted_ = true;
        limit_past();
        change.done();
        return true;
    }

    bool forget_class(std::string_view name) {
        Change change(*this);
        const std::uint32_t id = classes_.find(name);
        if (id != NO_ID) {
            retire_class(id);
            sweep();
        }
        change.done();
        return id != NO_ID;
    }

    bool forget_feature(std::string_view name) {
        Change change(*this);
        const std::uint32_t id = features_.find(name);
        if (id != NO_ID) remove_feature(id);
        change.done();
        return id != NO_ID;
    }

    // Keep so many edges of signed weights, the heaviest, and of equal ones those of the features
    // that came first. How many went.
    std::uint64_t sparsify(std::uint64_t wanted) {
        Change change(*this);
        while (!retired_.empty()) sweep();
        std::vector<float> weights;
        for (std::uint32_t id = 0; id < rows_.end(); ++id) {
            const Row& row = rows_[id];
            const float* of_row = static_cast<const Postings&>(rows_).edges(row).masses;
            for (std::uint32_t at = 0; at < row.outdegree; ++at)
                weights.push_back(std::fabs(of_row[at]));
        }
        const std::uint64_t before = rows_.edges();
        if (wanted < before) {
            std::nth_element(weights.begin(),
                             weights.begin() + static_cast<std::ptrdiff_t>(wanted), weights.end(),
                             std::greater<float>());
            const float least = weights[wanted];
            std::uint64_t equals = wanted;
            for (std::uint64_t i = 0; i < wanted; ++i) equals -= weights[i] > least;
            SignedWeights rows(rows_, options_.max_outdegree);
            for (std::uint32_t id = 0; id < rows_.end(); ++id)
                rows.keep_heaviest(rows_[id], least, equals);
        }
        change.done();
        return before - rows_.edges();
    }

    // --- looking inside ----------------------------------------------------------------------

    std::uint64_t features() const { return guarded([&] { return features_.count(); }); }
    std::uint64_t classes() const { return guarded([&] { return classes_.count(); }); }
    std::uint64_t edges() const {
        return guarded([&] { return rows_.edges() + tree_.weights(); });
    }
    std::uint64_t learned() const { return guarded([&] { return learned_; }); }
    std::uint64_t evicted_features() const { return guarded([&] { return evicted_features_; }); }
    std::uint64_t evicted_classes() const { return guarded([&] { return evicted_classes_; }); }
    std::uint64_t bytes() const { return guarded([&] { return counted_bytes(); }); }
    std::uint64_t resident_bytes() const {
        return guarded([&] {
            return features_.resident_bytes() + classes_.resident_bytes() + rows_.resident_bytes() +
                   class_records_.capacity() * sizeof(ClassRecord) + past_.bytes() +
                   popular_.size() * BYTES_PER_PLACE + feature_births_.resident_bytes() +
                   feature_order_.resident_bytes() + class_order_.resident_bytes() +
                   tree_.resident_bytes();
        });
    }
    std::uint64_t active_features_ranked() const { return active_features_ranked_; }
    std::uint64_t edges_touched() const { return edges_touched_; }

    // Work done by all calls so far, to be compared with what was asked of them. No state.
    struct Work {
        std::uint64_t names_visited;  // by listings
        std::uint64_t ids_looked_at;  // by evictions
        std::uint64_t rows_swept;     // for retired classes
        std::uint64_t nodes_opened;   // of a label tree, by searches
        std::uint64_t nodes_visited;  // of a label tree, to forget features
    };
    Work work() const {
        const Read lock = reading();
        return {feature_order_.visited() + class_order_.visited(),
                feature_clock_.looked_at() + class_clock_.looked_at(), rows_swept_,
                nodes_opened_, tree_.nodes_visited()};
    }

    // How many features have 0, 1, ... OUTDEGREES - 2 edges; those with more count in the last.
    void outdegrees(std::int64_t* counts) const {
        const Read lock = reading();
        const auto& degrees =
            options_.kind == Kind::label_tree ? tree_.outdegrees() : rows_.outdegrees();
        std::copy(degrees.begin() + 1, degrees.end(), counts + 1);
        counts[0] = static_cast<std::int64_t>(features_.count()) -
                    std::accumulate(counts + 1, counts + OUTDEGREES, std::int64_t{0});
    }

    // A feature's counters and its edges as (class, weight); false when it is not known.
    bool feature(std::string_view name, Row& counters, double& rating,
                 std::vector<std::pair<std::string, double>>& edges) const {
        const Read lock = reading();
        const std::uint32_t id = features_.find(name);
        if (id == NO_ID) return false;
        counters = rows_[id];
        rating = rating_of(counters);
        const auto edge = rows_.edges(counters);
        for (std::uint32_t at = 0; at < counters.outdegree; ++at)
            if (classes_.alive(edge.classes[at]))
                edges.emplace_back(std::string(classes_.name(edge.classes[at])),
                                   weight(counters, edge.masses[at]));
        tree_.each_leaf_weight(id, [&](std::uint32_t cls, float weight) {
            edges.emplace_back(std::string(classes_.name(cls)), static_cast<double>(weight));
        });
        heaviest_first(edges, edges.size());
        return true;
    }

    bool has_class(std::string_view name) const {
        return guarded([&] { return classes_.find(name) != NO_ID; }) != 0;
    }
    bool has_feature(std::string_view name) const {
        return guarded([&] { return features_.find(name) != NO_ID; }) != 0;
    }

    // How often a class was learned and the features with an edge to it, heaviest weight first.
    // Postings are read block by block, so that a change need not wait for all of them; what it takes
    // away meanwhile is left out.
    bool cls(std::string_view name, std::size_t limit, std::uint64_t& learned,
             std::vector<std::pair<std::string, double>>& edges) const {
        constexpr std::uint32_t BLOCK = 16384;
        std::vector<std::pair<double, std::uint32_t>> found;  // -|weight|; feature
        for (std::uint32_t begin = 0, end = 1; begin < end; begin += BLOCK) {
            const Read lock = reading();
            const std::uint32_t id = classes_.find(name);
            end = rows_.end();
            for (std::uint32_t feature = begin; feature < std::min(end, begin + BLOCK); ++feature)
                if (const double weight = weight_of(feature, id); weight != 0)
                    found.emplace_back(-std::fabs(weight), feature);
        }
        const Read lock = reading();
        const std::uint32_t id = classes_.find(name);
        if (id == NO_ID) return false;
        learned = class_records_[id].learned;
        const auto kept = static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
        std::partial_sort(found.begin(), found.begin() + kept, found.end());
        found.resize(static_cast<std::size_t>(kept));
        for (auto& [order, feature] : found) order = -std::fabs(weight_of(feature, id));
        std::sort(found.begin(), found.end());
        for (const auto& [order, feature] : found)
            if (order < 0)
                edges.emplace_back(std::string(features_.name(feature)), weight_of(feature, id));
        return true;
    }

    // The next classes by name, after `after`, and how often each was learned.
    void class_page(std::string_view prefix, std::string_view after, std::size_t limit,
                    std::vector<std::pair<std::string, std::uint64_t>>& page) const {
        name_page(classes_, class_order_, prefix, after, limit, page,
                  [this](std::uint32_t id) { return class_records_[id].learned; });
    }

    // The same of features, and how often each was seen.
    void feature_page(std::string_view prefix, std::string_view after, std::size_t limit,
                      std::vector<std::pair<std::string, std::uint64_t>>& page) const {
        name_page(features_, feature_order_, prefix, after, limit, page,
                  [this](std::uint32_t id) { return rows_[id].times_seen; });
    }

    void class_ids(Columns& columns, std::int32_t* ids) const {
        const Read lock = reading();
        for (std::size_t column = 0; column < columns.size(); ++column)
            ids[column] = static_cast<std::int32_t>(classes_.find(columns.name(column)));
    }

    // Hold the lock as a change does, until `let_go` or for so long. For tests of waiting threads.
    void hold(std::uint32_t milliseconds) {
        const Writing held(mutex_);
        is_held_ = true;
        for (; milliseconds > 0 && is_held_; --milliseconds)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        is_held_ = false;
    }
    void let_go() { is_held_ = false; }
    bool is_held() const { return is_held_; }

    // --- state ---------------------------------------------------------------------------------

    // Fill in the sizes of the state; the number that comes back changes with the state.
    std::uint64_t measure(State& state) const {
        const Read lock = reading();
        state.features = features_.end();
        state.feature_name_bytes = features_.name_bytes();
        state.free_features = features_.free_ids().size();
        state.edges = rows_.edges();
        state.classes = classes_.end();
        state.class_name_bytes = classes_.name_bytes();
        state.free_classes = classes_.free_ids().size();
        state.retired_classes = retired_.size();
        state.variances = rows_.has_variances() ? rows_.edges() : 0;
        past_.measure(state);
        tree_.measure(state, classes_.end());
        return changes_;
    }

    // Copy the state into runs of the measured sizes; false when it has changed since.
    bool dump(const State& state, std::uint64_t changes) const {
        const Read lock = reading();
        if (changes != changes_) return false;
        const std::uint64_t counts[COUNTS] = {
            learned_, counted_,       births_, evicted_features_, evicted_classes_,
            past_.offered(), past_.random()};
        std::copy_n(counts, 7, state.counts);
        state.counts[10] = planted_;
        state.counts[11] = feature_clock_.hand();
        state.counts[12] = class_clock_.hand();
        state.counts[13] = swept_;
        state.counts[14] = sweeping_;
        std::copy(retired_.begin(), retired_.end(), state.class_retired);
        tree_.dump(state);
        dump_names(features_, state.feature_name_sizes, state.feature_names, state.feature_free);
        dump_names(classes_, state.class_name_sizes, state.class_names, state.class_free);
        std::uint64_t at = 0;
        for (std::uint32_t id = 0; id < features_.end(); ++id) {
            const Row& row = rows_[id];
            state.feature_mass[id] = row.mass;
            state.feature_times_seen[id] = row.times_seen;
            state.feature_last_seen[id] = row.last_seen;
            state.outdegrees[id] = row.outdegree;
            const auto edge = rows_.edges(row);
            std::copy_n(edge.classes, row.outdegree, state.edge_classes + at);
            std::copy_n(edge.masses, row.outdegree, state.edge_masses + at);
            if (rows_.has_variances())
                std::copy_n(edge.variances, row.outdegree, state.edge_variances + at);
            at += row.outdegree;
        }
        for (std::uint32_t id = 0; id < classes_.end(); ++id) {
            state.class_learned[id] = class_records_[id].learned;
            state.class_born[id] = class_records_[id].born;
            state.class_last_learned[id] = class_records_[id].last_learned;
        }
        past_.dump(
            state, [this](const StoredExample& kept, std::uint32_t id) { return feature_is_gone(kept, id); },
            [this](const StoredExample& kept, std::uint32_t id) { return class_is_gone(kept, id); });
        return true;
    }

    // Fill a new index; std::invalid_argument "section: fault" when the runs contradict themselves.
    void load(const State& state) {
        StateCheck(state, options_).run();
        features_.load("feature", state.feature_name_sizes, state.features, state.feature_names,
                       state.feature_name_bytes, state.feature_free, state.free_features);
        classes_.load("class", state.class_name_sizes, state.classes, state.class_names,
                      state.class_name_bytes, state.class_free, state.free_classes,
                      state.class_retired, state.retired_classes);
        load_hands(state);
        learned_ = state.counts[0];
        counted_ = state.counts[1];
        births_ = state.counts[2];
        evicted_features_ = state.counts[3];
        evicted_classes_ = state.counts[4];
        planted_ = state.counts[10] != 0;
        for (std::uint64_t id = 0; id < state.classes; ++id)
            class_records_.push_back({state.class_learned[id], state.class_born[id],
                                      state.class_last_learned[id]});
        std::uint64_t at = 0;
        for (std::uint64_t id = 0; id < state.features; ++id) {
            Row row;
            row.mass = state.feature_mass[id];
            row.times_seen = state.feature_times_seen[id];
            row.last_seen = state.feature_last_seen[id];
            row.outdegree = state.outdegrees[id];
            rows_.load(row, state.edge_classes + at, state.edge_masses + at,
                       state.edge_variances + at);
            at += row.outdegree;
        }
        limit_past();
        tree_.load(
            state, [this](std::uint32_t id) { return id < features_.end() && features_.alive(id); },
            [this](std::uint32_t id) { return id < classes_.end() && classes_.alive(id); });
        need(state.kept <= most_past(), "kept_features",
             "more past instances than the options allow");
        past_.load(state);
        if (options_.kind == Kind::frequency)
            for (std::uint32_t id = 0; id < classes_.end(); ++id)
                if (classes_.alive(id)) popular_.insert(popularity(id));
    }

private:
    // What one call needs; each thread has its own and keeps its room from call to call.
    struct Workspace {
        std::vector<ActiveFeature> active;
        std::vector<std::uint32_t> true_ids;
        UpdateContext context;
        std::vector<float> given;  // the values as they were before they were prepared
        std::vector<Input> input;  // of a label tree
        std::vector<std::uint32_t> new_classes;
        ScoreTable scores;
        std::uint64_t features_before, classes_before, bytes_before;  // the event
    };

    // Not inlined: the address of a thread's own variable is costly to find, and a compiler that
    // sees where it comes from finds it anew in every loop.
    [[gnu::noinline]] static Workspace& workspace() {
        static thread_local Workspace work;
        return work;
    }

    // Held while anything is read. An index that an error left half changed (memory ran out) is
    // not read any more; it has to be loaded anew.
    class Read {
    public:
        explicit Read(const Index& index) : held_(index.mutex_) { index.check_whole(); }

    private:
        Reading held_;
    };
    Read reading() const { return Read(*this); }

    void check_whole() const {
        if (half_changed_) throw IndexHalfChanged();
    }

    // Held while anything is changed, up to its `done`.
    class Change {
    public:
        explicit Change(Index& index) : index_(index), held_(index.mutex_) {
            index.check_whole();
            Reserve::refill();
            index.half_changed_ = true;
        }
        void done() {
            ++index_.changes_;
            index_.half_changed_ = false;
        }

    private:
        Index& index_;
        Writing held_;
    };

    template <class F>
    std::uint64_t guarded(F&& read) const {
        const Read lock = reading();
        return read();
    }

    // The weight of an edge, 0 when there is none.
    double weight_of(std::uint32_t feature, std::uint32_t cls) const {
        if (options_.kind == Kind::label_tree)
            return cls == NO_ID || !tree_.has(cls)
                       ? 0.0
                       : static_cast<double>(tree_.leaf_weight(feature, cls));
        const Row& row = rows_[feature];
        const auto edge = rows_.edges(row);
        const std::uint32_t at = Postings::place_of(cls, edge.classes, row.outdegree);
        return at < row.outdegree ? weight(row, edge.masses[at]) : 0;
    }

    double weight(const Row& row, float mass) const {
        return options_.shares() ? static_cast<double>(mass) / row.mass : static_cast<double>(mass);
    }

    // The next names and their counts. The lock is given up between the leaves of the order.
    template <class F>
    void name_page(const Vocabulary& names, NameOrder& order, std::string_view prefix,
                   std::string_view after, std::size_t limit,
                   std::vector<std::pair<std::string, std::uint64_t>>& page, F&& count) const {
        if (limit == 0) return;
        std::string from(std::max(prefix, after));
        const auto meet = [&](std::uint32_t id) {
            page.emplace_back(std::string(names.name(id)), count(id));
            return page.size() < limit;
        };
        for (bool goes_on = true; goes_on;) {
            const Read lock = reading();
            if (order.build(names)) goes_on = order.read(names, prefix, after, from, meet);
        }
    }

    using Votes = std::vector<std::pair<std::string, double>>;

    static void heaviest_first(Votes& votes, std::size_t limit) {
        std::stable_sort(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
            return std::fabs(a.second) > std::fabs(b.second);
        });
        if (votes.size() > limit) votes.resize(limit);
    }

    // What each feature moved on the whole path to a class.
    void explain_by_path(Workspace& work, std::uint32_t cls, Votes& votes) const {
        if (cls == NO_ID || !tree_.has(cls)) return;
        LabelTree::input_of(work.active, work.input);
        std::vector<double> moved(work.input.size(), 0.0);
        for (const LabelTree::Step& step : tree_.path(work.input, cls))
            for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step.moved[i];
        named(work, moved, votes);
    }

    // By name, what was moved by the inputs that are features of the instance.
    static void named(const Workspace& work, const std::vector<double>& moved, Votes& votes) {
        std::size_t input = 0;
        for (const ActiveFeature& active : work.active) {
            if (active.feature == NO_ID) continue;
            if (moved[input] != 0) votes.emplace_back(std::string(active.name), moved[input]);
            ++input;
        }
    }

    // --- an instance -------------------------------------------------------------------------

    // The active features of an instance in wire form, looked up. Slots, rows and names are far
    // apart in memory, so each step asks for what the next one reads.
    void read(Workspace& work, const char* data, std::size_t size) const {
        work.active.clear();
        FeatureReader reader(data, size);
        while (reader.next()) {
            const std::uint64_t hash = features_.hash(reader.name());
            features_.prefetch(hash);
            work.active.push_back({NO_ID, 0, reader.value(), hash, reader.name()});
        }
        for (ActiveFeature& active : work.active) {
            active.feature = features_.candidate(active.hash);
            if (active.feature == NO_ID) continue;
            features_.prefetch_place(active.feature);
            rows_.prefetch(active.feature);
        }
        for (const ActiveFeature& active : work.active)
            if (active.feature != NO_ID) features_.prefetch_name(active.feature);
        for (ActiveFeature& active : work.active)
            if (active.feature != NO_ID && features_.name(active.feature) != active.name)
                active.feature = features_.find(active.name, active.hash);
        prefetch_edges(work.active);
    }

    void prefetch_edges(const std::vector<ActiveFeature>& active) const {
        for (const ActiveFeature& one : active)
            if (one.feature != NO_ID)
                rows_.prefetch_edges(rows_[one.feature], options_.max_outdegree);
    }

    void read_csr(std::vector<ActiveFeature>& active, Columns& columns, std::int64_t begin,
                  std::int64_t end, const std::int32_t* indices, const float* values) const {
        active.clear();
        for (std::int64_t at = begin; at < end; ++at) {
            if (!(values[at] >= SMALLEST_VALUE)) continue;
            const auto column = static_cast<std::uint32_t>(indices[at]);
            const std::uint32_t feature = columns.id(column, features_);
            if (feature != NO_ID) rows_.prefetch(feature);
            active.push_back(
                {feature, column, static_cast<double>(values[at]), 0, columns.name(column)});
        }
    }

    // Damp, weigh by tf-idf and scale to unit length, as the options say.
    void prepare(Workspace& work) const {
        if (options_.boolean) {
            for (ActiveFeature& active : work.active) active.value = 1.0;
            return;
        }
        if (options_.sublinear)
            for (ActiveFeature& active : work.active)
                if (active.value > 1) active.value = 1 + natural_log(active.value);
        if (options_.tfidf)
            for (ActiveFeature& active : work.active) {
                const double seen =
                    active.feature == NO_ID ? 0.0 : static_cast<double>(rows_[active.feature].times_seen);
                active.value += active.value * natural_log((1.0 + static_cast<double>(counted_)) / (1.0 + seen));
            }
        if (!options_.l2) return;
        double squares = 0;  // the limits on values keep them far from overflow and from nothing
        for (const ActiveFeature& active : work.active) squares += active.value * active.value;
        const double scale = 1.0 / std::sqrt(squares);
        for (ActiveFeature& active : work.active) active.value *= scale;
    }

    // --- RankedRetrieval -----------------------------------------------------------------------

    double rating_of(const Row& row) const {
        if (row.times_seen >= options_.rating) return 1.0;
        return static_cast<double>(row.times_seen) / static_cast<double>(options_.rating);
    }

    // How many edges of a row vote: the heaviest of a row that stands in order.
    std::uint32_t scored(const Row& row) const {
        if (!options_.shares()) return row.outdegree;
        const std::uint32_t most = std::min<std::uint32_t>(row.outdegree, options_.max_outdegree);
        if (options_.kind != Kind::independent) return most;
        const float* masses = rows_.edges(row).masses;  // IND leaves the light ones out
        return static_cast<std::uint32_t>(
            std::partition_point(masses, masses + most,
                                 [&](float mass) {
                                     return static_cast<double>(mass) / row.mass >=
                                            options_.min_weight;
                                 }) -
            masses);
    }

    double coefficient(const ActiveFeature& active, const Row& row) const {
        const double vote = rating_of(row) * active.value;
        return options_.shares() ? vote / row.mass : vote;
    }

    // The k best classes of an instance that was prepared.
    void best_of(Workspace& work, std::uint32_t k, double threshold, std::vector<Ranked>& best) {
        if (options_.kind == Kind::label_tree) {
            best_below(work, k, threshold, best);
            return;
        }
        retrieve(work);
        select(work, k, threshold, best);
        work.scores.undo();
    }

    void best_below(Workspace& work, std::uint32_t k, double threshold, std::vector<Ranked>& best) {
        best.clear();
        if (k == 0) return;
        LabelTree::input_of(work.active, work.input);
        const auto meet = [&](std::uint32_t cls, double probability) {
            if (!(probability > threshold)) return false;
            best.push_back({probability, cls});
            return best.size() < k;
        };
        count_touched(work, tree_.search(work.input, k, most_nodes_opened(), meet));
    }

    // By one search of a label tree.
    std::uint64_t most_nodes_opened() const {
        return evicted_features_ + evicted_classes_ == 0 ? MOST_OPENED : MOST_OPENED_AFTER_EVICTION;
    }

    void count_touched(const Workspace& work, const LabelTree::Cost& cost) {
        active_features_ranked_.fetch_add(work.input.size() - 1, std::memory_order_relaxed);
        edges_touched_.fetch_add(cost.weights, std::memory_order_relaxed);
        nodes_opened_.fetch_add(cost.nodes, std::memory_order_relaxed);
    }

    void retrieve(Workspace& work) {
        if (options_.kind == Kind::frequency) {
            retrieve_popular(work);
            return;
        }
        std::size_t edges = 0, known = 0;
        for (const ActiveFeature& active : work.active) {
            if (active.feature == NO_ID) continue;
            edges += scored(rows_[active.feature]);
            ++known;
        }
        work.scores.start(edges, classes_.end());
        for (const ActiveFeature& active : work.active) {
            if (active.feature == NO_ID) continue;
            const Row& row = rows_[active.feature];
            if (row.outdegree == 0) continue;
            const auto edge = static_cast<const Postings&>(rows_).edges(row);
            work.scores.add(edge.classes, edge.masses, scored(row), coefficient(active, row));
        }
        active_features_ranked_.fetch_add(known, std::memory_order_relaxed);
        edges_touched_.fetch_add(edges, std::memory_order_relaxed);
    }

    bool ahead(const Ranked& one, const Ranked& other) const {
        if (one.score != other.score) return one.score > other.score;
        return class_records_[one.cls].born < class_records_[other.cls].born;
    }

    // The k best, best first. A short list is kept in order as better ones come: few do, and a look
    // at the last of it turns the others away. A long one is cheaper to sort at the end.
    void select(Workspace& work, std::uint32_t k, double threshold, std::vector<Ranked>& best) const {
        constexpr std::uint32_t SHORT = 32;
        best.clear();
        // A score of 0 is none, since a class without any edge may stand in the table with it.
        const double least = options_.signed_weights() ? threshold : std::max(threshold, 0.0);
        double last = least;  // the k-th score so far; an equal one may stand before it
        for (std::size_t i = 0; i < work.scores.count(); ++i) {
            const ScoreTable::Slot& slot = work.scores.touched(i);
            if (!(slot.score > least) || slot.score < last || slot.score == 0) continue;
            if (slot.is_true) continue;  // while learning, negatives are looked for
            if (!retired_.empty() && is_retired_[slot.cls]) continue;
            best.push_back({slot.score, slot.cls});
            if (k > SHORT) continue;
            for (std::size_t at = best.size() - 1; at > 0 && ahead(best[at], best[at - 1]); --at)
                std::swap(best[at], best[at - 1]);
            if (best.size() > k) best.pop_back();
            if (best.size() == k && k > 0) last = best.back().score;
        }
        if (k <= SHORT) return;
        const auto kept = static_cast<std::ptrdiff_t>(std::min<std::size_t>(k, best.size()));
        std::partial_sort(best.begin(), best.begin() + kept, best.end(),
                          [this](const Ranked& a, const Ranked& b) { return ahead(a, b); });
        best.resize(static_cast<std::size_t>(kept));
    }

    // --- feature focus -------------------------------------------------------------------------

    std::uint32_t stamp() const { return static_cast<std::uint32_t>(learned_); }

    void count_features(Workspace& work, bool first_pass) {
        work.features_before = features_.count();
        work.classes_before = classes_.count();
        work.bytes_before = counted_bytes();
        ++learned_;
        counted_ += first_pass;
        for (const ActiveFeature& active : work.active) {
            if (active.feature == NO_ID) continue;
            Row& row = rows_[active.feature];
            if (first_pass && row.times_seen != 0xffffffffu) ++row.times_seen;
            row.last_seen = stamp();
        }
    }

    void count_classes(const Workspace& work) {
        for (const std::uint32_t cls : work.true_ids) {
            if (cls == NO_ID) continue;
            if (options_.kind == Kind::frequency) popular_.erase(popularity(cls));
            ++class_records_[cls].learned;
            class_records_[cls].last_learned = stamp();
            if (options_.kind == Kind::frequency) popular_.insert(popularity(cls));
        }
    }

    // A new feature, seen once; NO_ID when the limit is met and every feature is in use right now.
    std::uint32_t make_feature(std::string_view name) {
        if (features_.count() >= options_.max_features && !evict_feature()) return NO_ID;
        const std::uint32_t id = features_.add(name);
        feature_order_.add(features_, id);
        rows_.start(id);
        rows_[id].times_seen = 1;
        rows_[id].last_seen = stamp();
        if (most_past() > 0) {
            if (id == feature_births_.size()) feature_births_.extend(1);
            feature_births_[id] = removals();
        }
        return id;
    }

    std::uint32_t make_class(std::string_view name) {
        if (classes_.count() >= options_.max_classes && !evict_class()) return NO_ID;
        const std::uint32_t id = classes_.add(name);
        class_order_.add(classes_, id);
        if (id == class_records_.size()) {
            class_records_.push_back({});
            is_retired_.push_back(false);
        }
        class_records_[id] = {1, births_++, stamp()};
        if (options_.kind == Kind::frequency) popular_.insert(popularity(id));
        return id;
    }

    // Learn the instance that was read and its true classes, then some of the past again. `make`
    // gives a new true class, by its place among them, an id.
    template <class F>
    Learned learn(Workspace& work, bool first_pass, F&& make) {
        Learned learned{0, true, {}};
        // by frequency, classes are ranked by the counts from before
        if (options_.kind == Kind::frequency) {
            learned = improve(work);
            learned.updated = true;
        }
        count_classes(work);
        for (std::size_t i = 0; i < work.true_ids.size(); ++i)
            if (work.true_ids[i] == NO_ID) work.true_ids[i] = make(i);
        work.context.constraints.clear();
        if (options_.kind != Kind::frequency) learned = improve(work, first_pass);
        if (options_.replay > 0) {
            StoredExample instance = to_keep(work);
            for (std::uint32_t i = 0; i < options_.replay && !past_.empty(); ++i) {
                const std::size_t at = past_.draw();
                if (!refresh_past(at)) continue;
                read_past(work, past_[at]);
                improve(work);
                past_.put_constraints(at, work.context.constraints);
            }
            past_.offer(std::move(instance));
        } else if (options_.kind == Kind::label_tree && !planted_) {
            keep_for_planting(work);
        }
        keep_within_limits(work);
        sweep();
        return learned;
    }

    // Retrieve, see how the true classes stand, and change the rows as the learner does. `counted`:
    // the features' times seen have this instance in them.
    Learned improve(Workspace& work, bool counted = false) {
        if (options_.kind == Kind::label_tree) return improve_tree(work);
        if (!retired_.empty())
            for (const ActiveFeature& active : work.active)
                if (active.feature != NO_ID) forget_retired(rows_[active.feature]);
        retrieve(work);
        Learned learned = take_stand(work);
        if (counted && vote_less_before(work)) learned.top_two = lead_of(work);
        work.scores.undo();
        if (learned.updated)
            learned.updated = Updates(rows_, options_, work.active, work.context).apply();
        return learned;
    }

    // Rank the instance, give the classes that the tree does not have a leaf each, and learn.
    Learned improve_tree(Workspace& work) {
        LabelTree::input_of(work.active, work.input);
        Learned learned{0, true, {}};
        std::uint32_t rank = 0;
        const auto is_true = [&](std::uint32_t cls) {
            return std::find(work.true_ids.begin(), work.true_ids.end(), cls) != work.true_ids.end();
        };
        std::uint32_t window = 0;  // nothing is to be found if no true class is in the tree
        work.new_classes.clear();
        for (const std::uint32_t cls : work.true_ids) {
            if (cls == NO_ID) continue;
            if (tree_.has(cls)) window = options_.retrieval_window;
            else work.new_classes.push_back(cls);
        }
        const auto meet = [&](std::uint32_t cls, double probability) {
            ++rank;
            if (rank <= 2) learned.top_two.meet(probability);
            if (learned.rank == 0 && rank <= window && is_true(cls)) learned.rank = rank;
            return rank < 2 || (learned.rank == 0 && rank < window);
        };
        count_touched(work, tree_.search(work.input, std::max(window, 2u), most_nodes_opened(), meet));
        tree_.add_leaves(work.input, work.new_classes);
        tree_.learn(work.input, work.true_ids);
        return learned;
    }

    // Keep what was just learned for the tree that will be planted. One that began to grow without
    // a sample is never planted: it would lose what it knows.
    void keep_for_planting(Workspace& work) {
        if (!is_sampling()) {
            planted_ = true;
            return;
        }
        past_.offer(to_keep(work));
        if (past_.offered() >= options_.sample) plant_sample(work);
    }

    bool is_sampling() const {
        return options_.kind == Kind::label_tree && !planted_ && options_.sample > 0;
    }

    // Plant the tree anew over the classes of the sample, which is then learned again and forgotten.
    void plant_sample(Workspace& work) {
        planted_ = true;
        for (std::size_t i = 0; i < past_.size();) i += refresh_past(i);
        std::vector<Leaf> leaves = leaves_of_classes();
        const std::vector<std::size_t> place_of = places_of(leaves);
        for (std::size_t i = 0; i < past_.size(); ++i) {
            read_past(work, past_[i]);
            add_to_sums(work, leaves, place_of);
        }
        tree_.plant(std::move(leaves), options_);
        for (std::size_t i = 0; i < past_.size(); ++i) {
            read_past(work, past_[i]);
            LabelTree::input_of(work.active, work.input);
            tree_.learn(work.input, work.true_ids);
        }
        limit_past();
    }

    // How often features and classes are in the rows that a tree is planted from.
    void count_for_planting(Workspace& work, Columns& class_columns,
                            const std::int32_t* class_indices) {
        for (ActiveFeature& active : work.active) {
            if (active.feature == NO_ID) make_feature(active.name);
            else ++rows_[active.feature].times_seen;
        }
        for (std::size_t i = 0; i < work.true_ids.size(); ++i) {
            if (work.true_ids[i] == NO_ID)
                make_class(class_columns.name(static_cast<std::size_t>(class_indices[i])));
            else
                ++class_records_[work.true_ids[i]].learned;
        }
    }

    // Where the leaf of each class stands.
    std::vector<std::size_t> places_of(const std::vector<Leaf>& leaves) const {
        std::vector<std::size_t> places(classes_.end(), leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) places[leaves[i].cls] = i;
        return places;
    }

    void add_to_sums(const Workspace& work, std::vector<Leaf>& leaves,
                     const std::vector<std::size_t>& place_of) const {
        if (options_.tree != Shape::kmeans) return;
        for (const std::uint32_t cls : work.true_ids)
            for (const ActiveFeature& active : work.active)
                if (cls != NO_ID && active.feature != NO_ID)
                    leaves[place_of[cls]].add(active.feature, active.value);
    }

    // Every class, in the order in which they were first learned.
    std::vector<Leaf> leaves_of_classes() const {
        std::vector<Leaf> leaves;
        for (std::uint32_t id = 0; id < classes_.end(); ++id)
            if (classes_.alive(id)) leaves.push_back({id, class_records_[id].learned, {}, 0});
        std::sort(leaves.begin(), leaves.end(), [this](const auto& one, const auto& other) {
            return class_records_[one.cls].born < class_records_[other.cls].born;
        });
        return leaves;
    }

    // The context of what was retrieved, and whether there is anything to learn from it.
    Learned take_stand(Workspace& work) {
        ScoreTable& scores = work.scores;
        UpdateContext& context = work.context;
        for (const std::uint32_t cls : work.true_ids)
            if (ScoreTable::Slot* slot = cls == NO_ID ? nullptr : scores.find(cls)) slot->is_true = 1;
        find_negatives(work);
        Learned result{0, false, {}};
        for (const Ranked& negative : context.negatives) result.top_two.meet(negative.score);
        keep_most_negatives(work);
        context.positives.clear();
        for (const std::uint32_t cls : work.true_ids) {
            if (cls == NO_ID) continue;
            const ScoreTable::Slot* slot = scores.find(cls);
            double score = 0;
            if (slot != nullptr && is_retrieved(slot->score)) {
                const std::uint32_t rank = rank_of({slot->score, cls}, scores);
                if (!options_.has_window() || rank <= options_.retrieval_window)
                    score = slot->score;
                if (result.rank == 0 || rank < result.rank) result.rank = rank;
                result.top_two.meet(slot->score);
            }
            context.positives.push_back({score, cls});
        }
        find_others(work);
        leave_out_those_that_stand_well(context);
        result.updated = !context.positives.empty();
        return result;
    }

    // Take from the scores what features that are not fully rated yet give more for being seen once
    // more. Whether there are any.
    bool vote_less_before(Workspace& work) const {
        if (options_.rating == 0) return false;
        bool any = false;
        for (const ActiveFeature& active : work.active) {
            if (active.feature == NO_ID) continue;
            const Row& row = rows_[active.feature];
            if (row.times_seen > options_.rating || row.outdegree == 0) continue;
            Row before = row;
            --before.times_seen;
            const auto edge = rows_.edges(row);
            work.scores.add(edge.classes, edge.masses, scored(row),
                            coefficient(active, before) - coefficient(active, row));
            any = true;
        }
        return any;
    }

    static TopTwoScores lead_of(Workspace& work) {
        TopTwoScores top_two;
        for (std::size_t i = 0; i < work.scores.count(); ++i)
            if (const double score = work.scores.touched(i).score; score != 0) top_two.meet(score);
        return top_two;
    }

    void leave_out_those_that_stand_well(UpdateContext& context) const {
        if (options_.kind == Kind::independent || options_.kind == Kind::frequency ||
            options_.kind == Kind::vector_machine)
            return;
        const double margin =
            options_.kind == Kind::perceptron ? 0.0 : options_.margin_threshold;
        const double best = context.best_negative();
        const auto stands_well = [&](const Ranked& each) { return each.score - best > margin; };
        context.positives.erase(std::remove_if(context.positives.begin(), context.positives.end(), stands_well),
                           context.positives.end());
    }

    // The wrong classes that score highest, best first: all a learner wants to know of, and two at
    // least.
    void find_negatives(Workspace& work) const {
        std::vector<Ranked>& negatives = work.context.negatives;
        if (!options_.shares()) {
            const std::uint32_t most = std::max(most_negatives(work), 2u);
            select(work, most, -std::numeric_limits<double>::infinity(), negatives);
            return;
        }
        Ranked best{0, NO_ID}, second{0, NO_ID};
        for (std::size_t i = 0; i < work.scores.count(); ++i) {
            const ScoreTable::Slot& slot = work.scores.touched(i);
            if (slot.is_true || !(slot.score > second.score)) continue;
            second = {slot.score, slot.cls};
            if (second.score > best.score) std::swap(best, second);
        }
        negatives.clear();
        for (const Ranked& each : {best, second})
            if (each.cls != NO_ID) negatives.push_back(each);
    }

    void keep_most_negatives(Workspace& work) const {
        std::vector<Ranked>& negatives = work.context.negatives;
        const std::size_t most = options_.shares() ? 1 : most_negatives(work);
        if (negatives.size() > most) negatives.resize(most);
    }

    std::uint32_t most_negatives(const Workspace& work) const {
        if (options_.kind != Kind::vector_machine) return options_.negatives;
        const auto none = std::count(work.true_ids.begin(), work.true_ids.end(), NO_ID);
        const std::size_t positives = work.true_ids.size() - static_cast<std::size_t>(none);
        if (!DualSolver::are_many(positives)) return options_.negatives;
        return static_cast<std::uint32_t>(std::min(options_.negatives * positives, MOST_NEGATIVES));
    }

    // The scores of classes that the instance has made constraints of before.
    void find_others(Workspace& work) const {
        UpdateContext& context = work.context;
        context.others.clear();
        for (const Constraint& constraint : work.context.constraints)
            for (const std::uint32_t cls : {constraint.ahead, constraint.behind}) {
                if (cls == NO_ID) continue;
                const ScoreTable::Slot* slot = work.scores.find(cls);
                context.others.push_back({slot == nullptr ? 0.0 : slot->score, cls});
            }
    }

    bool is_retrieved(double score) const {
        return score > 0 || (options_.signed_weights() && score < 0);
    }

    std::uint32_t rank_of(const Ranked& wanted, ScoreTable& scores) const {
        std::uint32_t rank = 1;
        for (std::size_t i = 0; i < scores.count(); ++i) {
            const ScoreTable::Slot& negative = scores.touched(i);
            rank += negative.score != 0 && ahead({negative.score, negative.cls}, wanted);
        }
        return rank;
    }

    // --- frequency -----------------------------------------------------------------------------

    Popular::Entry popularity(std::uint32_t cls) const {
        return {class_records_[cls].learned, class_records_[cls].born, cls};
    }

    // The classes learned most often, whatever the instance; the score is the share among them.
    void retrieve_popular(Workspace& work) const {
        const std::vector<Popular::Entry> first = popular_.first(options_.retrieval_window);
        std::uint64_t learned = 0;
        for (const Popular::Entry& each : first) learned += each.learned;
        work.scores.start(first.size(), classes_.end());
        const float one = 1;
        for (const Popular::Entry& each : first)
            work.scores.add(&each.cls, &one, 1,
                            static_cast<double>(each.learned) / static_cast<double>(learned));
    }

    // --- the past ------------------------------------------------------------------------------

    // How many past instances are kept: to be replayed, or until a tree is planted.
    std::uint64_t most_past() const {
        if (options_.replay > 0) return options_.replay_size;
        return is_sampling() ? options_.sample : 0;
    }

    void limit_past() {
        past_.limit(most_past(), options_.max_bytes / KEPT_SHARE);
        if (most_past() == 0) {
            Arena<std::uint64_t>().swap(feature_births_);
        } else if (const std::size_t known = feature_births_.size(); known < features_.end()) {
            feature_births_.extend(features_.end() - known);
            std::fill(feature_births_.data() + known, feature_births_.data() + features_.end(), 0);
        }
    }

    // Features and classes removed since this index was made or loaded, and one.
    std::uint64_t removals() const { return features_.removals() + classes_.removals() + 1; }

    // Whether a feature was removed after an instance was kept with it. Its id may be another's now.
    bool feature_is_gone(const StoredExample& kept, std::uint32_t id) const {
        return id == GONE_ID || feature_births_[id] > kept.removals;
    }
    bool class_is_gone(const StoredExample& kept, std::uint32_t id) const {
        if (id == NO_ID) return false;  // in the place of a class
        return id == GONE_ID || !classes_.alive(id) ||
               class_records_[id].born >= kept.classes_made;
    }

    // Before a past instance is read; false if it is gone, and another, or none, is in its place.
    bool refresh_past(std::size_t at) {
        return past_.refresh(
            at, removals(), births_,
            [this](const StoredExample& kept, std::uint32_t id) { return feature_is_gone(kept, id); },
            [this](const StoredExample& kept, std::uint32_t id) { return class_is_gone(kept, id); });
    }

    // What the instance's values were before they were prepared, for the past to keep.
    void note_values(Workspace& work) const {
        if (most_past() == 0) return;
        work.given.clear();
        for (const ActiveFeature& active : work.active)
            work.given.push_back(static_cast<float>(active.value));
    }

    StoredExample to_keep(const Workspace& work) const {
        StoredExample kept;
        const auto lost = std::count_if(work.active.begin(), work.active.end(), [](const ActiveFeature& one) {
            return one.feature == NO_ID;
        });
        kept.values.reserve(work.active.size() - static_cast<std::size_t>(lost));
        for (std::size_t i = 0; i < work.active.size(); ++i)
            if (work.active[i].feature != NO_ID)
                kept.values.emplace_back(work.active[i].feature, work.given[i]);
        for (const std::uint32_t cls : work.true_ids)
            if (cls != NO_ID) kept.classes.push_back(cls);
        kept.classes.shrink_to_fit();
        kept.constraints = work.context.constraints;
        kept.removals = removals();
        kept.classes_made = births_;
        return kept;
    }

    void read_past(Workspace& work, const StoredExample& kept) const {
        work.active.clear();
        for (const auto& [feature, value] : kept.values) {
            rows_.prefetch(feature);
            work.active.push_back({feature, 0, static_cast<double>(value), 0, {}});
        }
        prefetch_edges(work.active);
        prepare(work);
        work.true_ids = kept.classes;
        work.context.constraints = kept.constraints;
    }

    // --- forgetting ----------------------------------------------------------------------------

    std::uint64_t counted_bytes() const {
        const std::uint64_t birth = most_past() > 0 ? BYTES_PER_BIRTH : 0;
        return features_.count() * (BYTES_PER_FEATURE + birth) + features_.name_bytes() +
               class_bytes() +
               rows_.edges() *
                   (BYTES_PER_EDGE + (rows_.has_variances() ? BYTES_PER_VARIANCE : 0)) +
               past_.bytes() + tree_.bytes() - tree_.node_bytes();
    }

    std::uint64_t class_bytes() const {
        const std::uint64_t place = options_.kind == Kind::frequency ? BYTES_PER_PLACE : 0;
        return classes_.count() * (BYTES_PER_CLASS + place) + classes_.name_bytes() +
               tree_.node_bytes();
    }

    void remove_feature(std::uint32_t id) {
        rows_.clear(id);
        tree_.forget_feature(id);
        features_.remove(id);
        if (most_past() > 0) feature_births_[id] = NEVER;
    }

    // Forget a class by its name. Edges to it stay in rows until the rows are swept, or learned
    // from; its id is kept from others until then, and in no ranking.
    void retire_class(std::uint32_t id) {
        if (options_.kind == Kind::frequency) popular_.erase(popularity(id));
        tree_.forget_class(id);
        classes_.retire(id);
        class_records_[id] = {};
        if (has_edges()) {
            retired_.push_back(id);
            is_retired_[id] = true;
        } else {
            classes_.release(id);
        }
    }

    bool has_edges() const {
        return options_.kind != Kind::frequency && options_.kind != Kind::label_tree;
    }

    // Take the edges to retired classes out of the next rows. After a round over all of them, free
    // the ids of the classes that were retired before it began.
    void sweep() {
        if (retired_.empty()) return;
        if (sweeping_ == 0) sweeping_ = static_cast<std::uint32_t>(retired_.size());
        const std::uint32_t rows = std::min(rows_.end() - swept_, ROWS_SWEPT_PER_EVENT);
        for (std::uint32_t i = 0; i < rows; ++i) rows_.prefetch_edges(rows_[swept_ + i], EDGES_AHEAD);
        for (std::uint32_t i = 0; i < rows; ++i) forget_retired(rows_[swept_++]);
        rows_swept_ += rows;
        if (swept_ < rows_.end()) return;
        const auto freed = retired_.begin() + static_cast<std::ptrdiff_t>(sweeping_);
        std::for_each(retired_.begin(), freed, [this](std::uint32_t id) {
            classes_.release(id);
            is_retired_[id] = false;
        });
        retired_.erase(retired_.begin(), freed);
        swept_ = sweeping_ = 0;
    }

    // Their share of the mass goes along, but for EMA, whose mass is a scale.
    void forget_retired(Row& row) {
        rows_.forget_classes(
            row, [this](std::uint32_t cls) { return is_retired_[cls]; },
            [this](Row& of, double without, double left) {
                if (options_.signed_weights() || options_.kind == Kind::moving_average) return;
                of.mass = of.outdegree == 0 ? 0 : std::max(without, left);  // no weight above 1
            });
    }

    // Evict what the event has added beyond the limits, and some of what was beyond them before.
    // Classes go when they take more than half of the bytes, or nothing else can.
    void keep_within_limits(const Workspace& work) {
        const std::uint64_t features =
            goal(options_.max_features, work.features_before, SURPLUS_PER_EVENT);
        while (features_.count() > features && evict_feature()) {}
        const std::uint64_t classes =
            goal(options_.max_classes, work.classes_before, SURPLUS_PER_EVENT);
        while (classes_.count() > classes && evict_class()) {}
        const std::uint64_t bytes =
            goal(options_.max_bytes, work.bytes_before, SURPLUS_BYTES_PER_EVENT);
        while (counted_bytes() > bytes || rows_.edges() > rows_.most_edges()) {
            const bool classes_first =
                counted_bytes() > bytes && class_bytes() > options_.max_bytes / 2;
            if (classes_first ? evict_class() || evict_feature()
                              : evict_feature() || evict_class())
                continue;
            return;  // what is left belongs to the event just learned
        }
    }

    // Where a size shall be after an event, which was so large before it.
    static std::uint64_t goal(std::uint64_t limit, std::uint64_t before, std::uint64_t most_less) {
        return std::max(limit, before - std::min(before, most_less));
    }

    // Forget a feature that was idle long; false when all were active in the event being learned.
    bool evict_feature() {
        if (all_features_in_use_ == learned_) return false;
        const std::uint32_t id = feature_clock_.pick(features_.end(), [this](std::uint32_t each) {
            rows_.prefetch(each + EvictionClock::WINDOW);  // it is looked at by the next eviction
            const Row& row = rows_[each];
            const Idleness idle = idleness(stamp() - row.last_seen, row.times_seen);
            return features_.alive(each) ? idle : IN_USE;
        });
        if (id == NO_ID) {
            all_features_in_use_ = learned_;
            return false;
        }
        remove_feature(id);
        ++evicted_features_;
        return true;
    }

    bool evict_class() {
        if (all_classes_in_use_ == learned_) return false;
        const std::uint32_t id = class_clock_.pick(classes_.end(), [this](std::uint32_t each) {
            const ClassRecord& record = class_records_[each];
            const Idleness idle = idleness(stamp() - record.last_learned, record.learned);
            return classes_.alive(each) ? idle : IN_USE;
        });
        if (id == NO_ID) {
            all_classes_in_use_ = learned_;
            return false;
        }
        retire_class(id);
        ++evicted_classes_;
        return true;
    }

    void load_hands(const State& state) {
        const std::uint64_t* hands = state.counts + 11;
        feature_clock_.set_hand(static_cast<std::uint32_t>(hands[0]));
        class_clock_.set_hand(static_cast<std::uint32_t>(hands[1]));
        swept_ = static_cast<std::uint32_t>(hands[2]);
        sweeping_ = static_cast<std::uint32_t>(hands[3]);
        retired_.assign(state.class_retired, state.class_retired + state.retired_classes);
        is_retired_.assign(classes_.end(), false);
        for (const std::uint32_t id : retired_) is_retired_[id] = true;
    }

    static void dump_names(const Vocabulary& names, std::uint16_t* sizes, char* bytes,
                           std::uint32_t* free_ids) {
        for (std::uint32_t id = 0; id < names.end(); ++id) {
            const std::string_view name = names.name(id);
            sizes[id] = static_cast<std::uint16_t>(name.size());
            bytes = std::copy(name.begin(), name.end(), bytes);
        }
        std::copy(names.free_ids().begin(), names.free_ids().end(), free_ids);
    }

    // Tells this index from every other of the process, also from one that lived at its address.
    static std::uint64_t next_number() {
        static std::atomic<std::uint64_t> made{0};
        return ++made;
    }

    static constexpr std::uint64_t NEVER = ~std::uint64_t{0};

    mutable FairMutex mutex_;
    const std::uint64_t number_ = next_number();
    Vocabulary features_;
    Vocabulary classes_;
    Postings rows_;
    std::vector<ClassRecord> class_records_;
    Popular popular_;  // every class, if the learner is frequency
    Options options_;
    LabelTree tree_;  // of every class, if the learner is one
    ReplayBuffer past_;
    std::uint64_t learned_ = 0;  // instances learned, which is also the time by which idleness goes
    std::uint64_t counted_ = 0;  // of these, in a first pass: N of tf-idf
    std::uint64_t births_ = 0;   // classes ever made
    EvictionClock feature_clock_;
    EvictionClock class_clock_;
    std::uint64_t evicted_features_ = 0;
    std::uint64_t evicted_classes_ = 0;
    // Of an event that could evict nothing, the number; no state, since it would find nothing again.
    std::uint64_t all_features_in_use_ = NEVER, all_classes_in_use_ = NEVER;
    std::vector<std::uint32_t> retired_;  // classes, in that order; of these, `sweeping_` will be
    std::vector<bool> is_retired_;        // by class id; a bit each stays in the cache
    std::uint32_t sweeping_ = 0;          // freed when `swept_`, the next row of the sweep, is the end
    std::uint32_t swept_ = 0;
    std::uint64_t rows_swept_ = 0;  // not part of the state
    Arena<std::uint64_t> feature_births_;  // by id, `removals` when it was made; if the past is kept
    mutable NameOrder feature_order_, class_order_;  // for listings; not part of the state
    std::uint64_t changes_ = 0;
    bool planted_ = false;  // whether the sample that a tree is planted from is over
    bool half_changed_ = false;
    std::atomic<bool> is_held_{false};
    std::atomic<std::uint64_t> active_features_ranked_{0};  // not part of the state
    std::atomic<std::uint64_t> edges_touched_{0};
    std::atomic<std::uint64_t> nodes_opened_{0};
};

}  // namespace manyclass
