// Learns events: counts, adds new names, calls the algorithm, replays and evicts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "learners/algorithm.hpp"
#include "pipeline/eviction.hpp"
#include "pipeline/neighbors.hpp"
#include "pipeline/preprocessing.hpp"
#include "pipeline/replay.hpp"

namespace manyclass {

// Threads: one at a time, with the engine's lock held for a change that has begun; `prepare` before
// it begins.
class Trainer {
public:
    Trainer(Tables& tables, Algorithm& algorithm, Replay& replay, Neighbors& neighbors,
            Eviction& eviction, const Limits& limits, const Preprocessing& preprocessing)
        : tables_(tables),
          algorithm_(algorithm),
          replay_(replay),
          neighbors_(neighbors),
          eviction_(eviction),
          limits_(limits),
          preprocessing_(preprocessing) {}

    // Prepare an example. Only reads the state.
    void prepare(Example& example) const {
        if (algorithm_.ignores_features()) example.active.clear();
        replay_.prefetch_examples(limits_.replay);
        replay_.note_values(example);
        preprocessing_.apply(example.active, tables_);
    }

    // Learn a prepared example. `class_name` returns the name of a true class by its position. The
    // functions `feature_added` and `class_added` are called with a new feature, and with the
    // position and id of a new class. Times seen are counted in the first epoch only.
    template <class N, class F, class C>
    Outcome learn(Example& example, bool is_first_epoch, N&& class_name, F&& feature_added,
                  C&& class_added) {
        replay_.prefetch_values(limits_.replay);
        count_features(example, is_first_epoch);
        for (ActiveFeature& each : example.active) {
            if (each.feature != NO_ID) continue;
            each.feature = add_feature(each.name);
            if (each.feature != NO_ID) feature_added(each);
        }
        Outcome outcome{};
        example.constraints.clear();
        const bool learns_first = algorithm_.learns_before_counting();
        if (learns_first) outcome = learn_once(example, is_first_epoch);
        count_classes(example);
        for (std::size_t at = 0; at < example.classes.size(); ++at) {
            if (example.classes[at] != NO_ID) continue;
            const std::string_view name = class_name(at);
            example.classes[at] = tables_.classes.find(name);  // as a node above another of them
            if (example.classes[at] == NO_ID) example.classes[at] = add_class(name);
            else count_class(example.classes[at]);
            if (example.classes[at] != NO_ID) class_added(at, example.classes[at]);
        }
        drop_evicted(example.rejected);
        if (!learns_first) {
            neighbors_.vote_to_learn(example, is_first_epoch);
            outcome = learn_once(example, is_first_epoch);
            if (is_first_epoch) neighbors_.judge(example);
        }
        store(example);
        eviction_.end_event();
        eviction_.sweep();
        return outcome;
    }

    // Build the algorithm's tree from rows, which `read_row` reads into the example. Their features
    // and classes become known, but do not count as seen. Return false, and change nothing, if the
    // algorithm is not built from rows, or has learned already.
    template <class R, class N>
    bool build(Example& example, std::int64_t rows, R&& read_row, N&& class_name) {
        if (!algorithm_.can_be_built() || tables_.learned != 0) return false;
        for (std::int64_t row = 0; row < rows; ++row) {
            read_row(row);
            count_for_build(example, [&](std::size_t at) { return class_name(row, at); });
        }
        tables_.counted = static_cast<std::uint64_t>(rows);
        const auto each = [&](const VisitExample& visit) {
            for (std::int64_t row = 0; row < rows; ++row) {
                read_row(row);
                preprocessing_.apply(example.active, tables_);
                visit(example);
            }
        };
        algorithm_.build(each, /*learns=*/false);
        tables_.counted = 0;
        for (std::uint32_t id = 0; id < tables_.postings.end(); ++id)
            tables_.postings[id].times_seen = 0;
        for (ClassRecord& record : tables_.class_records) record.learned = 0;
        tables_.classes_named = 0;
        limit_replay();
        return true;
    }

    // Read these nodes from the taxonomy, which added, moved or removed some of them.
    // `is_before_learning`: the event that changed them will be learned next.
    void place(const std::vector<std::string_view>& names, bool is_before_learning) {
        ClassNodes& nodes = tables_.class_nodes;
        for (const std::string_view name : names)
            if (const std::uint32_t id = tables_.classes.find(name); id != NO_ID)
                nodes.find(id, name);
        if (!algorithm_.has_nodes()) return;
        eviction_.classes_placed();
        for (const std::string_view name : names) {
            const std::uint32_t node = nodes.tree().find(name);
            const bool is_new = tables_.classes.find(name) == NO_ID;
            if (is_new && (node == NO_ID || !eviction_.make_room_for_class())) continue;
            add_nodes_above(node, is_before_learning);
            if (is_new) add_node(name, is_before_learning);
            else algorithm_.node_placed(tables_.classes.find(name), is_before_learning);
        }
        for (const std::string_view name : names) {
            const std::uint32_t id = tables_.classes.find(name);
            if (id != NO_ID && nodes[id] == NO_ID && tables_.class_records[id].learned == 0)
                eviction_.retire_class(id);
        }
    }

    // Forget a class. A class with children stays as a node without weights of its own; a node that
    // was never learned keeps the weights of its family.
    void forget_class(std::uint32_t id) {
        const std::string name(tables_.classes.name(id));
        const std::vector<std::uint32_t> children = algorithm_.children(id);
        if (!children.empty() && tables_.class_records[id].learned == 0) return;
        eviction_.retire_class(id);
        if (children.empty()) return;
        add_node(name, false);
        for (const std::uint32_t child : children) algorithm_.node_placed(child, false);
    }

    // Called after the options changed.
    void configured(Example& example, bool prepares_alike) {
        neighbors_.configured(prepares_alike);
        if (const std::uint32_t wanted = algorithm_.sample_wanted();
            wanted > 0 && replay_.offered() >= wanted)
            build_from_sample(example);
        limit_replay();
    }

    // Store examples for replay, as neighbors, or until the tree is built from them.
    void limit_replay() {
        constexpr std::uint64_t SHARE = 4;  // stored examples take at most 1/4 of the bytes
        const std::uint32_t stored = stores() ? limits_.replay_size : 0;
        replay_.limit(std::max(stored, algorithm_.sample_wanted()), limits_.max_bytes / SHARE);
    }

private:
    bool stores() const { return limits_.replay > 0 || neighbors_.is_on(); }

    ExampleReader reader() const {
        return {tables_, algorithm_.most_edges_read(), algorithm_.takes_signs()};
    }

    // Learn, and note the ranking before it, as long as the tables have its classes.
    Outcome learn_once(Example& example, bool is_counted) {
        if (example.before != nullptr) example.before->best.clear();
        const Outcome outcome = algorithm_.learn(example, is_counted);
        if (RankingBefore* const before = std::exchange(example.before, nullptr))
            before->note(tables_.classes, [&](std::uint32_t cls) {
                return std::find(example.classes.begin(), example.classes.end(), cls) !=
                       example.classes.end();
            });
        return outcome;
    }

    void count_features(const Example& example, bool is_first_epoch) {
        eviction_.begin_event();
        ++tables_.learned;
        tables_.unlabelled += example.classes.empty();
        tables_.counted += is_first_epoch;
        for (const ActiveFeature& each : example.active) {
            if (each.feature == NO_ID) continue;
            Row& row = tables_.postings[each.feature];
            if (is_first_epoch && row.times_seen != 0xffffffffu) ++row.times_seen;
            row.last_seen = tables_.stamp();
        }
    }

    void count_classes(const Example& example) {
        for (const std::uint32_t cls : example.classes)
            if (cls != NO_ID) count_class(cls);
    }

    void count_class(std::uint32_t cls) {
        tables_.count_class(cls);
        tables_.class_records[cls].last_learned = tables_.stamp();
        algorithm_.class_counted(cls);
    }

    // Remove classes that were evicted to make room for those of the event.
    void drop_evicted(std::vector<std::uint32_t>& classes) const {
        const auto is_gone = [this](std::uint32_t cls) { return !tables_.classes.alive(cls); };
        classes.erase(std::remove_if(classes.begin(), classes.end(), is_gone), classes.end());
    }

    // Add a feature and return its id; NO_ID if the limit is met and every feature is in use now.
    std::uint32_t add_feature(std::string_view name) {
        if (!eviction_.make_room_for_feature()) return NO_ID;
        const std::uint32_t id = tables_.add_feature(name);
        replay_.feature_added(id);
        return id;
    }

    std::uint32_t add_class(std::string_view name) {
        if (!eviction_.make_room_for_class()) return NO_ID;
        if (algorithm_.has_nodes()) add_nodes_above(tables_.class_nodes.tree().find(name), true);
        const std::uint32_t id = tables_.add_class(name);
        algorithm_.class_added(id);
        if (algorithm_.has_nodes()) algorithm_.node_placed(id, true);
        return id;
    }

    // Give ids to the ancestors of a node, from the root down. They count as classes, but limits do
    // not apply to them: the taxonomy has limits of its own. Known ancestors of a new node are read
    // again too, because the same event may have moved them.
    void add_nodes_above(std::uint32_t node, bool is_before_learning) {
        const ClassTree& tree = tables_.class_nodes.tree();
        const std::uint32_t parent = node == NO_ID ? NO_ID : tree.parent(node);
        if (parent == NO_ID || tables_.class_nodes.class_of(parent) != NO_ID) return;
        std::vector<std::uint32_t> above;
        for (std::uint32_t at = parent; at != NO_ID; at = tree.parent(at)) above.push_back(at);
        for (; !above.empty(); above.pop_back()) {
            const std::uint32_t known = tables_.class_nodes.class_of(above.back());
            if (known == NO_ID) add_node(tree.name(above.back()), is_before_learning);
            else algorithm_.node_placed(known, is_before_learning);
        }
    }

    void add_node(std::string_view name, bool is_before_learning) {
        const std::uint32_t id = tables_.add_node(name);
        algorithm_.class_added(id);
        algorithm_.node_placed(id, is_before_learning);
    }

    // Replay, and store the example just learned, for replay or to build the tree.
    void store(Example& example) {
        const std::uint32_t wanted = algorithm_.sample_wanted();
        if (!stores() && wanted == 0) return;
        StoredExample stored = replay_.stored(example);
        const auto relearn = [this](Example& drawn) { algorithm_.learn_again(drawn); };
        for (std::uint32_t i = 0; i < limits_.replay && !replay_.empty(); ++i)
            replay_.relearn_one(example, reader(), relearn);
        replay_.offer(std::move(stored));
        if (wanted > 0 && replay_.offered() >= wanted) build_from_sample(example);
    }

    // Build the tree from the sample, and drop the sample.
    void build_from_sample(Example& example) {
        replay_.refresh_all();
        const auto each = [&](const VisitExample& visit) {
            replay_.each(example, reader(), visit);
        };
        algorithm_.build(each, /*learns=*/true);
        limit_replay();
    }

    // Count features and classes of a row from which the tree is built.
    template <class N>
    void count_for_build(const Example& example, N&& class_name) {
        for (const ActiveFeature& each : example.active) {
            if (each.feature == NO_ID) add_feature(each.name);
            else ++tables_.postings[each.feature].times_seen;
        }
        for (std::size_t at = 0; at < example.classes.size(); ++at) {
            if (example.classes[at] == NO_ID) add_class(class_name(at));
            else tables_.count_class(example.classes[at]);
        }
    }

    Tables& tables_;
    Algorithm& algorithm_;
    Replay& replay_;
    Neighbors& neighbors_;
    Eviction& eviction_;
    const Limits& limits_;
    const Preprocessing& preprocessing_;
};

}  // namespace manyclass
