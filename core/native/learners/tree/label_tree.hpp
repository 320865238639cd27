// A label tree: a probability for each class, as the product of those of the nodes on its path
// (Jasinska-Kobus et al., Online Probabilistic Label Trees, AISTATS 2021).
//
//   tree_nodes.hpp        nodes, and the blocks of weights that they hold
//   tree_classifiers.hpp  inference and training of the classifiers of a node
//   tree_search.hpp       best-first search for the most probable classes
//   tree_growth.hpp       new leaves, and the tree as features and classes go
//   tree_builder.hpp      the shapes of trees over classes that are known
//   tree_snapshot.hpp     the tree in a snapshot
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "learners/algorithm.hpp"
#include "learners/tree/tree_options.hpp"
#include "learners/tree/tree_search.hpp"
#include "learners/tree/tree_snapshot.hpp"
#include "pipeline/top_k.hpp"

namespace manyclass {

class LabelTree : public Algorithm {
public:
    LabelTree(Tables& tables, std::uint64_t seed, const OptionValues& options)
        : Algorithm(tables, seed), tree_(counts_[RANDOM]) {
        LabelTree::configure(options);
    }

    static void visit_options(OptionNames& names) { TreeOptions().visit_options(names); }

    void configure(const OptionValues& options) override {
        options_.visit_options(options);
        tree_.configure(options_);
    }

    // --- ranking -------------------------------------------------------------------------------

    void rank(const Example& example, std::uint32_t k, double threshold,
              std::vector<Ranked>& best) const override {
        best.clear();
        if (k == 0) return;
        search(input_of(example), k, [&](std::uint32_t cls, double probability) {
            if (!(probability > threshold)) return false;
            best.push_back({probability, cls});
            return best.size() < k;
        });
    }

    // By the paths to the classes; no other node is opened.
    void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best) const override {
        best.clear();
        const std::vector<double> found = probabilities(example, classes);
        for (std::size_t at = 0; at < classes.size(); ++at)
            if (tree_.has(classes[at]) && found[at] > threshold)
                best.push_back({found[at], classes[at]});
        keep_first(best, k, [this](const Ranked& one, const Ranked& other) {
            if (one.score != other.score) return one.score > other.score;
            return tree_.order(one.cls) < tree_.order(other.cls);
        });
    }

    // Add up the log-odds that each feature moves on the whole path to the class.
    void explain(const Example& example, std::uint32_t cls,
                 Contributions& contributions) const override {
        if (cls == NO_ID || !tree_.has(cls)) return;
        const std::vector<Input>& input = input_of(example);
        std::vector<double> moved(input.size(), 0.0);
        for (const auto& step : tree_.path(input, cls))
            for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step.moved[i];
        contributions = by_name(example, moved);
    }

    std::vector<PathNode> path(const Example& example, std::uint32_t cls) const override {
        std::vector<PathNode> path;
        if (cls == NO_ID || !tree_.has(cls)) return path;
        for (const auto& step : tree_.path(input_of(example), cls))
            path.push_back({step.classes, step.probability, step.moved.back(),
                            by_name(example, step.moved)});
        return path;
    }

    std::vector<double> probabilities(const Example& example,
                                      const std::vector<std::uint32_t>& classes) const override {
        const std::vector<Input>& input = input_of(example);
        TreeClassifiers::Cost cost{0, 0};
        std::vector<double> found = tree_.probabilities(input, classes, cost);
        work_.add(input.size() - 1, cost.weights, cost.nodes);
        return found;
    }

    std::uint64_t nodes_visited() const override { return tree_.nodes_visited(); }

    // --- learning ------------------------------------------------------------------------------

    // Rank the example, add a leaf for each class that has none, and learn.
    Outcome learn(Example& example, bool) override {
        const std::vector<Input>& input = input_of(example);
        Outcome outcome{0, true, {}};
        std::uint32_t window = 0;  // no search is needed if no true class is in the tree
        std::vector<std::uint32_t> new_classes;
        for (const std::uint32_t cls : example.classes) {
            if (cls == NO_ID) continue;
            if (tree_.has(cls)) window = options_.retrieval_window;
            else new_classes.push_back(cls);
        }
        const auto is_true = [&](std::uint32_t cls) {
            return std::find(example.classes.begin(), example.classes.end(), cls) !=
                   example.classes.end();
        };
        std::uint32_t rank = 0;
        const std::uint32_t depth = example.before == nullptr ? 0 : example.before->depth;
        const std::uint32_t least = std::max(depth, 2u);
        search(input, std::max(window, least), [&](std::uint32_t cls, double probability) {
            ++rank;
            if (rank <= depth) example.before->best.push_back({probability, cls});
            if (rank <= 2) outcome.top_two.add(probability);
            if (outcome.rank == 0 && rank <= window && is_true(cls)) outcome.rank = rank;
            return rank < least || (outcome.rank == 0 && rank < window);
        });
        tree_.add_leaves(input, new_classes);
        tree_.learn(input, example.classes, example.weight);
        // a tree that began to grow without a sample is never built: it would lose what it knows
        if (options_.sample == 0) counts_[IS_BUILT] = 1;
        return outcome;
    }

    // By the present tree, in which its classes may have moved.
    void learn_again(Example& example) override {
        tree_.learn(input_of(example), example.classes, example.weight);
    }

    std::uint32_t sample_wanted() const override {
        return counts_[IS_BUILT] == 0 ? options_.sample : 0;
    }

    void build(const EachExample& each, bool learns) override {
        counts_[IS_BUILT] = 1;
        std::vector<Leaf> leaves = leaves_of_classes();
        if (options_.shape == Shape::kmeans) add_to_sums(each, leaves);
        tree_.build(std::move(leaves));
        if (learns)
            each([this](Example& example) {
                tree_.learn(input_of(example), example.classes, example.weight);
            });
    }

    // --- forgetting ----------------------------------------------------------------------------

    void forget_feature(std::uint32_t id) override { tree_.forget_feature(id); }
    void forget_class(std::uint32_t id) override { tree_.forget_class(id); }

    // --- looking inside ------------------------------------------------------------------------

    std::uint64_t weights() const override { return tree_.weights(); }

    double weight(std::uint32_t feature, std::uint32_t cls) const override {
        return tree_.has(cls) ? static_cast<double>(tree_.leaf_weight(feature, cls)) : 0.0;
    }

    void each_weight(std::uint32_t feature,
                     const std::function<void(std::uint32_t, double)>& visit) const override {
        tree_.each_leaf_weight(feature, [&](std::uint32_t cls, float weight) {
            visit(cls, static_cast<double>(weight));
        });
    }

    const Outdegrees& outdegrees() const override { return tree_.outdegrees(); }

    // --- sizes and state -----------------------------------------------------------------------

    std::uint64_t bytes() const override { return tree_.bytes() - tree_.node_bytes(); }
    std::uint64_t class_bytes() const override { return tree_.node_bytes(); }
    std::size_t resident_bytes() const override { return tree_.resident_bytes(); }
    std::uint64_t least_learned() const override { return 0; }  // of the classes it was built over

    void visit(SnapshotVisitor& visitor) override {
        Counts counts = counts_;
        counts[ROOT] = tree_.root_plus_1();
        counts[LEAVES] = tree_.leaves_added();
        visit_counts(visitor, counts);
        if (visitor.is_loading()) {
            counts_ = counts;
            tree_.set_leaves_added(counts[LEAVES]);
        }
        tree_.visit(visitor, tables_, counts[ROOT]);
    }

private:
    enum : std::size_t { ROOT, LEAVES, RANDOM, IS_BUILT };  // the counts of a learner's own

    const std::vector<Input>& input_of(const Example& example) const {
        static thread_local std::vector<Input> input;
        tree_.input_of(example.active, tables_.mean_classes(), input);
        return input;
    }

    // A search is exact if it opens at most so many nodes. Once names were evicted the model is not
    // exact anyway, and far more nodes can be likely.
    template <class F>
    void search(const std::vector<Input>& input, std::uint32_t wanted, F&& visit) const {
        constexpr std::uint64_t MOST_NODES = 1 << 14, MOST_NODES_AFTER_EVICTION = 256;
        const bool has_evicted = tables_.evicted_features + tables_.evicted_classes > 0;
        const TreeClassifiers::Cost cost =
            TreeSearch(tree_, input, wanted)
                .run(has_evicted ? MOST_NODES_AFTER_EVICTION : MOST_NODES, visit);
        work_.add(input.size() - 1, cost.weights, cost.nodes);
    }

    // The log-odds moved by each feature of the example, by name.
    static Contributions by_name(const Example& example, const std::vector<double>& moved) {
        Contributions named;
        std::size_t input = 0;
        for (const ActiveFeature& each : example.active) {
            if (each.feature == NO_ID) continue;
            if (moved[input] != 0) named.emplace_back(std::string(each.name), moved[input]);
            ++input;
        }
        return named;
    }

    // Every class, in the order in which they were first learned.
    std::vector<Leaf> leaves_of_classes() const {
        std::vector<Leaf> leaves;
        const std::vector<ClassRecord>& records = tables_.class_records;
        for (std::uint32_t id = 0; id < tables_.classes.end(); ++id)
            if (tables_.classes.alive(id)) leaves.push_back({id, records[id].learned, {}, 0});
        std::sort(leaves.begin(), leaves.end(), [&](const Leaf& one, const Leaf& other) {
            return records[one.cls].creation_order < records[other.cls].creation_order;
        });
        return leaves;
    }

    // Add the examples of each class to the sum of its leaf.
    void add_to_sums(const EachExample& each, std::vector<Leaf>& leaves) const {
        std::vector<std::size_t> position_of(tables_.classes.end(), leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) position_of[leaves[i].cls] = i;
        each([&](const Example& example) {
            for (const std::uint32_t cls : example.classes)
                for (const ActiveFeature& active : example.active)
                    if (cls != NO_ID && active.feature != NO_ID)
                        leaves[position_of[cls]].add(active.feature, active.value);
        });
    }

    TreeOptions options_;
    TreeSnapshot tree_;
};

// A tree that only grows, unless the option `sample` says otherwise.
using GrownLabelTree = LabelTree;

// A tree that can be built over classes that are known before they are learned.
class BuiltLabelTree final : public LabelTree {
public:
    using LabelTree::LabelTree;
    bool can_be_built() const override { return true; }
};

}  // namespace manyclass
