// The tables that every learner shares: the vocabularies, the postings with the counters of each
// feature, the counters of each class, and the counts of events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/ranking.hpp"
#include "snapshot/visitor.hpp"
#include "storage/family.hpp"
#include "storage/name_order.hpp"
#include "storage/postings.hpp"
#include "storage/retired_classes.hpp"
#include "storage/vocabulary.hpp"
#include "taxonomy/class_nodes.hpp"

namespace manyclass {

struct ClassRecord {
    std::uint64_t learned;         // events that named the class
    std::uint64_t creation_order;  // its number in the order in which classes were first learned
    std::uint32_t last_learned;
};

// Threads: as the engine that owns the tables, which holds its lock for each call.
struct Tables {
    Tables(std::uint64_t hash_seed, std::shared_ptr<const Taxonomy> taxonomy_of_model)
        : features(hash_seed), classes(hash_seed), class_nodes(std::move(taxonomy_of_model)) {}

    Vocabulary features, classes;
    Postings postings;                        // by feature id
    std::vector<ClassRecord> class_records;   // by class id
    RetiredClasses retired;
    ClassNodes class_nodes;  // of the taxonomy, which the engines of a model share
    mutable NameOrder feature_order, class_order;  // for listings; no state
    std::uint64_t learned = 0;       // events; also the clock by which idleness is measured
    std::uint64_t counted = 0;       // events of a first epoch: N of tf-idf
    std::uint64_t classes_made = 0;
    std::uint64_t classes_named = 0;  // by events: the sum of the records' `learned`
    std::uint64_t unlabelled = 0;     // events without true classes, which only reject some
    std::uint64_t evicted_features = 0, evicted_classes = 0;

    std::uint32_t stamp() const { return static_cast<std::uint32_t>(learned); }

    // The true classes of an event that has some, on average.
    double mean_classes() const {
        const auto labelled = static_cast<double>(learned - unlabelled);
        return labelled == 0 ? 0.0 : static_cast<double>(classes_named) / labelled;
    }

    // True if one class ranks before the other: of equal scores the older class is first.
    bool precedes(const Ranked& one, const Ranked& other) const {
        if (one.score != other.score) return one.score > other.score;
        return class_records[one.cls].creation_order < class_records[other.cls].creation_order;
    }

    // The ids of the known classes of these names, each once.
    std::vector<std::uint32_t> known_classes(const std::vector<std::string_view>& names) const {
        std::vector<std::uint32_t> ids;
        for (const std::string_view name : names)
            if (const std::uint32_t id = classes.find(name); id != NO_ID) ids.push_back(id);
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }

    // A new feature, seen once.
    std::uint32_t add_feature(std::string_view name) {
        const std::uint32_t id = features.add(name);
        feature_order.add(features, id);
        postings.start(id);
        postings[id].times_seen = 1;
        postings[id].last_seen = stamp();
        return id;
    }

    // A new class, learned once.
    // Give a class another name, which no class has.
    void rename_class(std::uint32_t id, std::string_view name) {
        classes.rename(id, name);
        class_order.add(classes, id);
    }

    std::uint32_t add_class(std::string_view name) {
        const std::uint32_t id = add_node(name);
        class_records[id].learned = 1;
        ++classes_named;
        return id;
    }

    // A new class that was not learned yet, or a node above classes.
    std::uint32_t add_node(std::string_view name) {
        const std::uint32_t id = classes.add(name);
        class_order.add(classes, id);
        if (id == class_records.size()) {
            class_records.push_back({});
            retired.extend();
        }
        class_records[id] = {0, classes_made++, stamp()};
        class_nodes.find(id, name);
        return id;
    }

    // An event names a known class.
    void count_class(std::uint32_t id) {
        ++class_records[id].learned;
        ++classes_named;
    }

    void remove_class_record(std::uint32_t id) {
        classes_named -= class_records[id].learned;
        class_records[id] = {};
        class_nodes.remove(id);
    }

    std::size_t resident_bytes() const {
        return features.resident_bytes() + classes.resident_bytes() + postings.resident_bytes() +
               class_records.capacity() * sizeof(ClassRecord) + feature_order.resident_bytes() +
               class_order.resident_bytes() + class_nodes.resident_bytes();
    }

    // --- state ---------------------------------------------------------------------------------

    // Visit all sections but those of the learner and of replay. `check_row` checks a row that is
    // loaded, as the learner does; `least_learned` is the least number of events that named a
    // class.
    template <class F>
    void visit(SnapshotVisitor& visitor, bool has_edges, bool has_families,
               std::uint64_t least_learned, F&& check_row) {
        visitor.count(Count::learned, learned);
        visitor.count(Count::counted, counted);
        visitor.count(Count::classes_made, classes_made);
        visitor.count(Count::evicted_features, evicted_features);
        visitor.count(Count::evicted_classes, evicted_classes);
        need(counted <= learned, "counts", "more first passes than instances learned");
        visit_unlabelled(visitor);
        features.visit(visitor, "feature", {nullptr, 0});
        const Run<std::uint32_t> retired_ids = retired.visit(visitor);
        need(retired_ids.size == 0 || has_edges, "class_retired", OTHER_LEARNER);
        classes.visit(visitor, "class", retired_ids);
        if (visitor.is_loading())
            retired.load(retired_ids, classes.end(),
                         [this](std::uint32_t id) { return classes.alive(id); });
        retired.visit_hands(visitor, features.end());
        visit_classes(visitor, least_learned);
        visit_postings(visitor, has_edges, has_families, check_row);
    }

private:
    // Stamps are the low 32 bits of the count of events.
    bool is_past(std::uint32_t given) const { return learned > 0xffffffffu || given <= learned; }

    // Empty in a state without any.
    void visit_unlabelled(SnapshotVisitor& visitor) {
        const auto run = visitor.run<std::uint64_t>("unlabelled", unlabelled > 0);
        if (visitor.is_dumping() && run.size > 0) *run.data = unlabelled;
        if (!visitor.is_loading()) return;
        need(run.size == 0 || (run.size == 1 && *run.data > 0), "unlabelled",
             "it is not a number of events");
        unlabelled = run.size > 0 ? *run.data : 0;
        need(unlabelled <= learned, "unlabelled", "more than the instances learned");
    }

    void visit_classes(SnapshotVisitor& visitor, std::uint64_t least_learned) {
        const auto times = visitor.matching<std::uint64_t>("class_learned", classes.end());
        const auto order = visitor.matching<std::uint64_t>("class_born", classes.end());
        const auto last = visitor.matching<std::uint32_t>("class_last_learned", classes.end());
        if (visitor.is_dumping())
            for (std::uint32_t id = 0; id < classes.end(); ++id) {
                times.data[id] = class_records[id].learned;
                order.data[id] = class_records[id].creation_order;
                last.data[id] = class_records[id].last_learned;
            }
        if (!visitor.is_loading()) return;
        for (std::uint32_t id = 0; id < classes.end(); ++id)
            class_records.push_back({times.data[id], order.data[id], last.data[id]});
        check_classes(least_learned);
        for (std::uint32_t id = 0; id < classes.end(); ++id)
            if (classes.alive(id)) class_nodes.find(id, classes.name(id));
    }

    void check_classes(std::uint64_t least_learned) {
        std::vector<std::uint64_t> order;
        for (std::uint32_t id = 0; id < classes.end(); ++id) {
            const ClassRecord& record = class_records[id];
            if (!classes.alive(id)) {
                need(record.learned == 0, "class_learned", "a free class was learned");
                need(record.creation_order == 0, "class_born", "a free class was born");
                need(record.last_learned == 0, "class_last_learned", "a free class was learned");
                continue;
            }
            need(record.learned >= least_learned && record.learned <= learned, "class_learned",
                 "a class was learned more often than there were instances, or never");
            classes_named += record.learned;
            need(classes_named <= LARGEST_COUNT, "class_learned", "no count can be so large");
            need(is_past(record.last_learned), "class_last_learned",
                 "a class was learned after the last instance");
            order.push_back(record.creation_order);
        }
        std::sort(order.begin(), order.end());
        need(std::adjacent_find(order.begin(), order.end()) == order.end() &&
                 (order.empty() || order.back() < classes_made),
             "class_born", "two classes were born at once");
    }

    template <class F>
    void visit_postings(SnapshotVisitor& visitor, bool has_edges, bool has_families,
                        F&& check_row) {
        const Postings::Runs runs = postings.visit(visitor, features.end());
        need(runs.edges == 0 || has_edges, "edge_classes", OTHER_LEARNER);
        if (!visitor.is_loading()) return;
        const std::uint64_t most_seen = counted + 1;  // a later epoch may have brought the feature
        // the last row with an edge to it
        std::vector<std::uint64_t> seen_in(classes.end() * (has_families ? 2 : 1), 0);
        std::uint64_t at = 0;
        for (std::uint32_t id = 0; id < features.end(); ++id) {
            at = postings.load(runs, id, at);
            const Row& row = postings[id];
            const auto edges = static_cast<const Postings&>(postings).edges(row);
            need(row.times_seen <= most_seen, "feature_times_seen",
                 "a feature was seen more often than there were instances");
            need(is_past(row.last_seen), "feature_last_seen",
                 "a feature was seen after the last instance");
            if (!features.alive(id)) {
                need(row.outdegree == 0, "outdegrees", "a free feature has edges");
                need(row.mass == 0, "feature_mass", "a free feature has a mass");
                need(row.times_seen == 0, "feature_times_seen", "a free feature was seen");
                need(row.last_seen == 0, "feature_last_seen", "a free feature was seen");
            }
            for (std::uint32_t edge = 0; edge < row.outdegree; ++edge) {
                const std::uint32_t each = edges.classes[edge];
                const std::uint32_t cls = has_families ? class_of(each) : each;
                const std::size_t slot = cls + (cls == each ? 0 : std::size_t{classes.end()});
                need(cls < classes.end() && (classes.alive(cls) || retired.has(cls)) &&
                         seen_in[slot] != id + std::uint64_t{1},
                     "edge_classes", "an edge leads to no class, or twice to one");
                seen_in[slot] = id + std::uint64_t{1};
            }
            check_row(row, edges);
        }
        need(at == runs.edges, "outdegrees", "more edges than rows account for");
    }
};

}  // namespace manyclass
