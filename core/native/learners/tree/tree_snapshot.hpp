// A label tree in a snapshot.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learners/tree/tree_growth.hpp"
#include "snapshot/visitor.hpp"
#include "storage/tables.hpp"

namespace manyclass {

class TreeSnapshot : public TreeGrowth {
public:
    using TreeGrowth::TreeGrowth;

    // Visit the sections, and the state of the tree in "counts". What is loaded is checked.
    void visit(SnapshotVisitor& visitor, const Tables& tables, std::uint64_t root_plus_1) {
        std::uint64_t children = 0, blocks = 0, weights = 0;
        for (const Node& node : nodes_) {
            children += node.children.size();
            blocks += node.blocks.count();
            for (std::uint32_t block = 0; block < node.blocks.count(); ++block)
                weights += node.blocks.weights_in(block);
        }
        Runs runs;
        runs.kinds = visitor.run<std::uint8_t>("node_kinds", nodes_.size());
        runs.degrees = visitor.matching<std::uint32_t>("node_children", runs.kinds.size);
        runs.blocks_of = visitor.matching<std::uint32_t>("node_blocks", runs.kinds.size);
        runs.free = visitor.run<std::uint32_t>("node_free", free_.size());
        runs.children = visitor.run<std::uint32_t>("children_ids", children);
        runs.features = visitor.run<std::uint32_t>("block_features", blocks);
        runs.widths = visitor.matching<std::uint32_t>("block_weights", runs.features.size);
        runs.weights = visitor.run<float>("tree_weights", weights);
        runs.squares = visitor.matching<float>("tree_squares", runs.weights.size);
        runs.turns = visitor.run<std::uint64_t>("class_turns",
                                                root_ == NO_ID ? 0 : tables.classes.end());
        if (visitor.is_dumping()) dump(runs);
        if (!visitor.is_loading()) return;
        need(runs.turns.size == 0 || runs.turns.size == tables.classes.end(), "class_turns",
             "it has not a turn for each class");
        need(root_plus_1 <= runs.kinds.size, "counts", "the tree has no such root");
        root_ = static_cast<std::uint32_t>(root_plus_1) - 1;
        need((root_ == NO_ID) == (runs.turns.size == 0), "class_turns",
             "either a root or turns of classes are missing");
        load(
            runs,
            [&](auto id) { return id < tables.features.end() && tables.features.alive(id); },
            [&](auto id) { return id < tables.classes.end() && tables.classes.alive(id); });
    }

private:
    struct Runs {
        Run<std::uint8_t> kinds;  // of nodes; 1: a pre-leaf; 2: it may grow
        Run<std::uint32_t> degrees, blocks_of;  // of each node, how many children and blocks
        Run<std::uint32_t> free;
        Run<std::uint32_t> children;  // nodes; of a pre-leaf, classes
        Run<std::uint32_t> features, widths;  // of each block, and how many weights
        Run<float> weights, squares;
        Run<std::uint64_t> turns;  // of each class, its number among the leaves ever added
    };

    void dump(const Runs& runs) const {
        std::uint64_t child = 0, next_block = 0, weight = 0;
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            const Node& node = nodes_[id];
            runs.kinds.data[id] = static_cast<std::uint8_t>(node.is_preleaf + 2 * node.grows);
            runs.degrees.data[id] = static_cast<std::uint32_t>(node.children.size());
            runs.blocks_of.data[id] = node.blocks.count();
            for (const std::uint32_t each : node.children) runs.children.data[child++] = each;
            for (std::uint32_t block = 0; block < node.blocks.count(); ++block, ++next_block) {
                const std::uint32_t count = node.blocks.weights_in(block);
                runs.features.data[next_block] = node.blocks.feature(block);
                runs.widths.data[next_block] = count;
                std::copy_n(node.blocks.weights(block), count, runs.weights.data + weight);
                std::copy_n(node.blocks.squares(block), count, runs.squares.data + weight);
                weight += count;
            }
        }
        std::copy(free_.begin(), free_.end(), runs.free.data);
        for (std::uint64_t cls = 0; cls < runs.turns.size; ++cls)
            runs.turns.data[cls] = has(static_cast<std::uint32_t>(cls)) ? positions_[cls].order : 0;
    }

    template <class F, class C>
    void load(const Runs& runs, F&& is_feature, C&& is_class) {
        nodes_.resize(runs.kinds.size);
        positions_.resize(runs.turns.size);
        std::uint64_t child = 0, next_block = 0, weight = 0;
        for (std::uint64_t id = 0; id < runs.kinds.size; ++id) {
            Node& node = nodes_[id];
            if (runs.kinds.data[id] > 3 || runs.kinds.data[id] == 1)  // a pre-leaf may always grow
                refuse("node_kinds", "there is no such node");
            node.is_preleaf = runs.kinds.data[id] % 2;
            node.grows = runs.kinds.data[id] / 2;
            if (runs.children.size - child < runs.degrees.data[id])
                refuse("node_children", "children are cut short");
            node.children.assign(runs.children.data + child,
                                 runs.children.data + child + runs.degrees.data[id]);
            child += runs.degrees.data[id];
            need(node.children.size() <= MOST_CHILDREN, "node_children",
                 "a node has too many children");
            need(!is_needless(node), "node_children", "a node says nothing of its only child");
            load_blocks(node, runs, runs.blocks_of.data[id], next_block, weight, is_feature);
            count(node);
        }
        need(child == runs.children.size, "node_children", "more children than nodes account for");
        need(next_block == runs.features.size, "node_blocks", "more blocks than nodes account for");
        need(weight == runs.weights.size, "block_weights", "more weights than blocks account for");
        load_free(runs);
        join(runs, is_class);
        for (const Node& node : nodes_) check_blocks(node);
    }

    template <class F>
    void load_blocks(Node& node, const Runs& runs, std::uint32_t blocks, std::uint64_t& next_block,
                     std::uint64_t& weight, F&& is_feature) {
        if (runs.features.size - next_block < blocks) refuse("node_blocks", "blocks are cut short");
        const auto most = static_cast<std::uint32_t>(node.children.size()) + node.grows;
        node.blocks.make_room(most);
        for (const std::uint64_t end = next_block + blocks; next_block < end; ++next_block) {
            const std::uint32_t feature = runs.features.data[next_block];
            const std::uint32_t count = runs.widths.data[next_block];
            if ((feature != BIAS && !is_feature(feature)) || node.blocks.find(feature) != NO_ID)
                refuse("block_features", "a block has no feature of its own");
            if (count == 0 || count > most || (!node.grows && count != most) ||
                runs.weights.size - weight < count)
                refuse("block_weights", "a block has more or fewer weights than its node");
            const std::uint32_t block = add_block(node, feature, count);
            for (std::uint32_t at = 0; at < count; ++at, ++weight) {
                const float value = runs.weights.data[weight], square = runs.squares.data[weight];
                if (!(std::fabs(value) <= MOST_WEIGHT) || !(square >= 0) || square > MOST_SQUARES)
                    refuse("tree_weights", "a weight of the tree is not one");
                node.blocks.weights(block)[at] = value;
                node.blocks.squares(block)[at] = square;
            }
        }
    }

    void load_free(const Runs& runs) {
        std::vector<bool> is_free(nodes_.size(), false);
        for (std::uint64_t i = 0; i < runs.free.size; ++i) {
            const std::uint32_t id = runs.free.data[i];
            if (id >= nodes_.size() || is_free[id] || !nodes_[id].children.empty())
                refuse("node_free", "a node is not free");
            is_free[id] = true;
            free_.push_back(id);
        }
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            const Node& node = nodes_[id];
            if (node.children.empty() && (!is_free[id] || node.blocks.count() != 0 || node.grows))
                refuse("node_children", "a node has no children");
        }
    }

    // Tell nodes of their parents and classes of their nodes, from the root down: every one must be
    // met once.
    template <class C>
    void join(const Runs& runs, C&& is_class) {
        std::vector<std::uint32_t> ids, met(nodes_.size(), 0);
        if (root_ != NO_ID) ids.push_back(root_);
        std::vector<std::uint64_t> orders;
        for (std::size_t at = 0; at < ids.size(); ++at) {
            const std::uint32_t id = ids[at];
            if (met[id]++ || nodes_[id].children.empty())
                refuse("children_ids", "a node is not where it should be");
            for (std::uint32_t index = 0; index < nodes_[id].children.size(); ++index) {
                const std::uint32_t child = nodes_[id].children[index];
                if (nodes_[id].is_preleaf) {
                    if (child >= positions_.size() || !is_class(child) || has(child))
                        refuse("children_ids", "a class is not where it should be");
                    positions_[child] = {id, index, runs.turns.data[child]};
                    orders.push_back(runs.turns.data[child]);
                } else {
                    if (child >= nodes_.size())
                        refuse("children_ids", "the tree has no such node");
                    nodes_[child].parent = id;
                    ids.push_back(child);
                }
            }
        }
        if (ids.size() + free_.size() != nodes_.size())
            refuse("children_ids", "a node is out of reach");
        for (std::size_t at = ids.size(); at-- > 0;) {
            Node& node = nodes_[ids[at]];
            if (node.is_preleaf) node.leaves = static_cast<std::uint32_t>(node.children.size());
            if (node.parent != NO_ID) nodes_[node.parent].leaves += node.leaves;
        }
        for (std::uint32_t cls = 0; cls < runs.turns.size; ++cls)
            if (!has(cls) && runs.turns.data[cls] != 0)
                refuse("class_turns", "a class has a turn and no leaf");
        std::sort(orders.begin(), orders.end());
        if (std::adjacent_find(orders.begin(), orders.end()) != orders.end() ||
            (!orders.empty() && orders.back() >= leaves_added_))
            refuse("class_turns", "two classes came to the tree at once");
    }

    // A node holds blocks of features only that the node above it has, too.
    void check_blocks(const Node& node) const {
        if (node.parent == NO_ID) return;
        const NodeClassifiers& above = nodes_[node.parent].blocks;
        for (std::uint32_t block = 0; block < node.blocks.count(); ++block)
            need(above.find(node.blocks.feature(block)) != NO_ID, "block_features",
                 "a node has a feature that the node above it lacks");
    }

};

}  // namespace manyclass
