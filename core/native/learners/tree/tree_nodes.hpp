// The nodes of a label tree, with their blocks of weights.
//
//   node 4 = [2 5]           an inner node: its children are nodes
//     node 2 = [c7 c1 c3]    a pre-leaf: its children are classes, the leaves
//     node 5 = [c4]          a lone leaf, which may still grow
//
// A node holds the classifiers of its children, logistic ones with AdaGrad: block by block a weight
// for each child and feature (node_classifiers.hpp). A node that may still grow has one more in
// front, the auxiliary classifier, for which every instance of the node is positive. A new child
// starts from its negation: had it been there from the start, each of these instances would have
// been a negative one for it. The logistic step is odd-symmetric, so that negating the weights is
// exact, and a block that was not changed since needs no slot for the child before it is changed
// again.
//
// If a node holds a block of a feature, so does the node above it: an instance concerns whole
// paths. So a feature is evicted on the way down from the root, past the nodes that do not hold it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "learners/tree/node_classifiers.hpp"
#include "storage/postings.hpp"

namespace manyclass {

constexpr std::uint32_t BIAS = NO_ID - 1;    // the feature that every instance has
constexpr std::size_t MOST_CHILDREN = 1000;  // arity and max_leaves are at most that

class TreeNodes {
public:
    std::uint64_t root_plus_1() const { return root_ == NO_ID ? 0 : root_ + std::uint64_t{1}; }
    std::uint64_t leaves_added() const { return leaves_added_; }  // ever
    void set_leaves_added(std::uint64_t added) { leaves_added_ = added; }

    std::uint64_t weights() const { return weights_; }
    bool has(std::uint32_t cls) const {
        return cls < positions_.size() && positions_[cls].node != NO_ID;
    }

    // The turn of a class in the order in which classes came to the tree.
    std::uint64_t order(std::uint32_t cls) const { return positions_[cls].order; }

    // Bytes of the tree by count: the same for one that grew and one that was loaded.
    std::uint64_t bytes() const {
        return node_bytes() + blocks_ * BYTES_PER_BLOCK + weights_ * BYTES_PER_TREE_WEIGHT;
    }

    // The part of them that classes alone account for.
    std::uint64_t node_bytes() const { return (nodes_.size() - free_.size()) * BYTES_PER_NODE; }

    std::size_t resident_bytes() const {
        std::size_t bytes = nodes_.capacity() * sizeof(Node) +
                            positions_.capacity() * sizeof(LeafPosition) +
                            weights_of_.resident_bytes();
        for (const Node& node : nodes_)
            bytes += node.blocks.resident_bytes() + node.children.capacity() * sizeof(std::uint32_t);
        return bytes;
    }

    // The weight with which a feature speaks for a class among the classes of its pre-leaf.
    float leaf_weight(std::uint32_t feature, std::uint32_t cls) const {
        const LeafPosition index = positions_[cls];
        const Node& node = nodes_[index.node];
        return classifiers(node) == 0 ? 0 : weight(node, feature, index.index);
    }

    // Every class with a leaf weight other than 0 for the feature.
    template <class F>
    void each_leaf_weight(std::uint32_t feature, F&& visit) const {
        std::vector<std::uint32_t> ids;
        each_node_with(feature, [&](std::uint32_t id, std::uint32_t) { ids.push_back(id); });
        std::sort(ids.begin(), ids.end());
        for (const std::uint32_t id : ids) {
            const Node& node = nodes_[id];
            if (!node.is_preleaf || classifiers(node) == 0) continue;
            for (std::uint32_t index = 0; index < node.children.size(); ++index)
                if (const float found = weight(node, feature, index); found != 0)
                    visit(node.children[index], found);
        }
    }

    // The numbers of features with 0, 1, ... weights with a slot in a block; the last: that many
    // or more. Features without a block are not counted.
    const std::array<std::uint64_t, OUTDEGREES>& outdegrees() const { return outdegrees_; }

    std::uint64_t nodes_visited() const { return nodes_visited_; }  // to forget features; no state

protected:
    // Of a node the record and five allocations; of a block its slot (12 to 16 bytes), feature and
    // count; of a weight its sum of squares too. All with the room they have to spare and with the
    // holes that small allocations leave behind: nearly half of the memory, as load_tests/soak.py
    // shows.
    static constexpr std::uint64_t BYTES_PER_NODE = 1024, BYTES_PER_BLOCK = 40;
    static constexpr std::uint64_t BYTES_PER_TREE_WEIGHT = 15;

    struct Node {
        std::uint32_t parent = NO_ID;
        std::uint32_t leaves = 0;             // classes below
        std::vector<std::uint32_t> children;  // classes of a pre-leaf, nodes of an inner node
        NodeClassifiers blocks;
        bool is_preleaf = false;
        bool grows = false;  // more children may come: the first classifier is the auxiliary one
    };

    struct LeafPosition {  // of a class: below which node, and as which of its children
        std::uint32_t node = NO_ID;
        std::uint32_t index = 0;
        std::uint64_t order = 0;  // its turn among the classes that came to the tree
    };

    // The number of a node's children with classifiers: an only child is certain, and needs none.
    static std::uint32_t classifiers(const Node& node) {
        return node.children.size() == 1 ? 0 : static_cast<std::uint32_t>(node.children.size());
    }
    static std::uint32_t width(const Node& node) { return node.grows + classifiers(node); }

    // The sign of a missing weight, of a child without a slot in a block: the negation of the
    // auxiliary weight, but for the first, which was once the only one.
    static float sign(std::uint32_t index) { return index == 0 ? 1.0f : -1.0f; }

    // --- the blocks of a feature ---------------------------------------------------------------

    // Meet the nodes that hold a block of the feature, and the block, which may be removed. How
    // many nodes were looked at.
    template <class F>
    std::uint64_t each_node_with(std::uint32_t feature, F&& visit) const {
        if (root_ == NO_ID) return 0;
        std::vector<std::uint32_t> ahead{root_};
        std::uint64_t looked_at = 0;
        for (; !ahead.empty(); ++looked_at) {
            const std::uint32_t id = ahead.back();
            ahead.pop_back();
            const Node& node = nodes_[id];
            const std::uint32_t block = node.blocks.find(feature);
            if (block == NO_ID) continue;
            if (!node.is_preleaf) {
                for (const std::uint32_t child : node.children) __builtin_prefetch(&nodes_[child]);
                for (const std::uint32_t child : node.children)
                    nodes_[child].blocks.prefetch_slot(feature);
                ahead.insert(ahead.end(), node.children.begin(), node.children.end());
            }
            visit(id, block);
        }
        return looked_at;
    }

    std::uint32_t add_block(Node& node, std::uint32_t feature, std::uint32_t weights) {
        if (feature != BIAS && feature >= weights_of_.size()) {
            const std::size_t added = feature + std::size_t{1} - weights_of_.size();
            const std::size_t at = weights_of_.extend(added);
            std::fill_n(weights_of_.data() + at, added, 0u);
        }
        count_weights(feature, weights);
        return node.blocks.add(feature, weights);
    }

    // Take a block away; the last of the node gets its number.
    void remove_block(Node& node, std::uint32_t block) {
        count_weights(node.blocks.feature(block),
                      -static_cast<std::int64_t>(node.blocks.weights_in(block)));
        node.blocks.remove(block);
    }

    // Count more weights of a feature, or fewer.
    void count_weights(std::uint32_t feature, std::int64_t more) {
        if (feature == BIAS) return;
        std::uint32_t& weights = weights_of_[feature];
        if (weights > 0) --outdegrees_[std::min<std::size_t>(weights, OUTDEGREES - 1)];
        weights = static_cast<std::uint32_t>(weights + more);
        if (weights > 0) ++outdegrees_[std::min<std::size_t>(weights, OUTDEGREES - 1)];
    }

    static float weight(const Node& node, std::uint32_t feature, std::size_t index) {
        const std::uint32_t block = node.blocks.find(feature);
        if (block == NO_ID) return 0;
        const float* weights = node.blocks.weights(block);
        const auto at = static_cast<std::uint32_t>(index) + node.grows;
        return at < node.blocks.weights_in(block)
                   ? weights[at]
                   : sign(static_cast<std::uint32_t>(index)) * weights[0];
    }

    template <class F>
    void climb(std::uint32_t cls, F&& visit) const {
        std::uint32_t node = positions_[cls].node, index = positions_[cls].index;
        while (true) {
            visit(node, index);
            if (node == root_) return;
            index = index_in_parent(node);
            node = nodes_[node].parent;
        }
    }

    std::uint32_t index_in_parent(std::uint32_t node) const {
        return index_of_child(nodes_[node].parent, node);
    }
    std::uint32_t index_of_child(std::uint32_t parent, std::uint32_t node) const {
        const std::vector<std::uint32_t>& children = nodes_[parent].children;
        return static_cast<std::uint32_t>(std::find(children.begin(), children.end(), node) -
                                          children.begin());
    }

    bool is_held_below(const Node& node, std::uint32_t feature) const {
        return !node.is_preleaf &&
               std::any_of(node.children.begin(), node.children.end(), [&](std::uint32_t child) {
                   return nodes_[child].blocks.find(feature) != NO_ID;
               });
    }

    // A full inner node with an only child, which is certain, adds no information.
    static bool is_needless(const Node& node) {
        return !node.is_preleaf && !node.grows && node.children.size() == 1;
    }

    // --- accounts ------------------------------------------------------------------------------

    // Take what a node has out of the totals, before it changes.
    void discount(const Node& node) {
        blocks_ -= node.blocks.count();
        weights_ -= static_cast<std::uint64_t>(node.blocks.count()) * width(node);
    }
    // Put it into them again.
    void count(const Node& node) {
        blocks_ += node.blocks.count();
        weights_ += static_cast<std::uint64_t>(node.blocks.count()) * width(node);
    }

    std::vector<Node> nodes_;
    std::vector<LeafPosition> positions_;  // by class id
    std::vector<std::uint32_t> free_;
    std::uint32_t root_ = NO_ID;
    std::uint64_t leaves_added_ = 0;  // leaves ever added
    std::uint64_t blocks_ = 0, weights_ = 0;
    Arena<std::uint32_t> weights_of_;  // by feature id, how many with a slot in a block
    Outdegrees outdegrees_{};
    std::uint64_t nodes_visited_ = 0;
};

}  // namespace manyclass
