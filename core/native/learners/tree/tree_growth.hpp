// Growth of a label tree: new leaves where the policy leads (Jasinska-Kobus et al., AISTATS 2021),
// or a tree over all classes at once; and its shrinking as classes and features go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "learners/tree/tree_builder.hpp"
#include "learners/tree/tree_classifiers.hpp"
#include "math/elementary.hpp"
#include "math/random.hpp"

namespace manyclass {

class TreeGrowth : public TreeClassifiers {
public:
    // `random`: the state of the generator for the random policy and for k-means.
    explicit TreeGrowth(std::uint64_t& random) : random_(random) {}

    // New leaves for new classes, beside each other if there is room: where the policy leads.
    void add_leaves(const std::vector<Input>& input, const std::vector<std::uint32_t>& classes) {
        if (classes.empty()) return;
        if (root_ == NO_ID) root_ = make_node(NO_ID, true);
        std::uint32_t at = node_to_grow(input);
        for (std::size_t i = 0; i < classes.size(); ++i) {
            if (i > 0 && is_crowded(at)) at = node_to_grow(input);
            at = with_room(at);
            add_leaf(at, classes[i]);
        }
    }

    // Begin anew with a tree over these classes that knows nothing else.
    void build(std::vector<Leaf> leaves) {
        std::vector<std::uint32_t> classes;
        for (const Leaf& leaf : leaves) classes.push_back(leaf.cls);
        const Branch shape = TreeBuilder(std::move(leaves), options_, random_).shape();
        nodes_.clear();
        positions_.clear();
        free_.clear();
        std::fill_n(weights_of_.data(), weights_of_.size(), 0u);
        outdegrees_.fill(0);
        blocks_ = weights_ = 0;
        root_ = add_branch(shape, NO_ID);
        leaves_added_ = 0;
        for (const std::uint32_t cls : classes) positions_[cls].order = leaves_added_++;
    }

    // --- forgetting ----------------------------------------------------------------------------

    // Take the feature's block out of every node that holds one.
    void forget_feature(std::uint32_t feature) {
        nodes_visited_ += each_node_with(feature, [&](std::uint32_t id, std::uint32_t block) {
            Node& node = nodes_[id];
            discount(node);
            remove_block(node, block);
            node.blocks.give_back_unused();
            count(node);
        });
    }

    void forget_class(std::uint32_t cls) {
        if (!has(cls)) return;
        std::uint32_t node = positions_[cls].node, index = positions_[cls].index;
        for (std::uint32_t above = node; above != NO_ID; above = nodes_[above].parent)
            --nodes_[above].leaves;
        positions_[cls] = {};
        while (true) {
            take_child(node, index);
            if (!nodes_[node].children.empty()) {
                if (is_needless(nodes_[node])) replace_by_child(node);
                return;
            }
            const std::uint32_t parent = nodes_[node].parent;
            index = parent == NO_ID ? 0 : index_of_child(parent, node);
            free_node(node);
            if (parent == NO_ID) {
                root_ = NO_ID;
                return;
            }
            node = parent;
        }
    }

protected:
    std::uint32_t make_node(std::uint32_t parent, bool is_preleaf) {
        std::uint32_t id;
        if (free_.empty()) {
            id = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
        } else {
            id = free_.back();
            free_.pop_back();
        }
        nodes_[id].parent = parent;
        nodes_[id].is_preleaf = is_preleaf;
        nodes_[id].grows = true;
        return id;
    }

    void add_leaf(std::uint32_t node, std::uint32_t cls) {
        if (cls >= positions_.size()) positions_.resize(cls + 1);
        const auto index = static_cast<std::uint32_t>(nodes_[node].children.size());
        positions_[cls] = {node, index, leaves_added_++};
        add_child(node, cls);
        for (std::uint32_t at = node; at != NO_ID; at = nodes_[at].parent) ++nodes_[at].leaves;
    }

    void add_child(std::uint32_t id, std::uint32_t child) {
        Node& node = nodes_[id];
        discount(node);
        node.children.push_back(child);
        node.blocks.make_room(width(node));
        count(node);
    }

    // The id of the node made for a branch, and of all below it; NO_ID for a branch without
    // classes.
    std::uint32_t add_branch(const Branch& branch, std::uint32_t parent) {
        if (branch.branches.empty() && branch.classes.empty()) return NO_ID;
        const std::uint32_t id = make_node(parent, branch.branches.empty());
        for (const std::uint32_t cls : branch.classes) add_leaf(id, cls);
        for (const Branch& below : branch.branches) {
            const std::uint32_t child = add_branch(below, id);
            add_child(id, child);
        }
        if (nodes_[id].children.size() >= options_.arity && !nodes_[id].is_preleaf)
            stop_growing(nodes_[id]);
        return id;
    }

    // Follow the policy to a node that may grow, or to a pre-leaf of a tree that lost many classes.
    std::uint32_t node_to_grow(const std::vector<Input>& input) {
        const bool is_filling = has_lost_many();
        std::uint32_t at = root_;
        while (is_filling ? !nodes_[at].is_preleaf : !nodes_[at].grows)
            at = chosen_child(at, input);
        return at;
    }

    // True when more classes are gone than a sixteenth of the classes left. If new classes went on
    // to get pre-leaves of their own, the old ones would empty.
    bool has_lost_many() const {
        const std::uint64_t left = nodes_[root_].leaves;
        return leaves_added_ - left > left / 16;
    }

    // The child of a node that the policy leads to.
    std::uint32_t chosen_child(std::uint32_t id, const std::vector<Input>& input) {
        const Node& node = nodes_[id];
        if (options_.policy == Policy::random)
            return node.children[random_below(random_, node.children.size())];
        Work& work = workspace();
        probabilities(node, input, work);
        const double share =
            static_cast<double>(node.leaves) / static_cast<double>(node.children.size());
        std::uint32_t chosen = node.children[0];
        double best = -1e300;
        for (std::size_t index = 0; index < node.children.size(); ++index) {
            if (options_.policy == Policy::sampled && random_below(random_, 2) == 0) continue;
            const std::uint32_t child = node.children[index];
            const double leaves = static_cast<double>(nodes_[child].leaves);
            const double score = (1 - options_.alpha) * work.probabilities[index] +
                                 options_.alpha * natural_log(share / leaves);
            if (score > best) {
                best = score;
                chosen = child;
            }
        }
        return chosen;
    }

    // A pre-leaf with room for a class, at a node that may grow or beside it.
    std::uint32_t with_room(std::uint32_t id) {
        if (!nodes_[id].is_preleaf) return make_branch(id);
        if (const std::uint32_t preleaf = near_with_room(id); preleaf != NO_ID) return preleaf;
        const std::uint32_t parent = nodes_[id].parent;
        if (parent != NO_ID && nodes_[parent].grows) return make_branch(parent);
        return make_branch(make_parent(id));
    }

    // True if one more class would make the tree deeper here.
    bool is_crowded(std::uint32_t id) const {
        if (!nodes_[id].is_preleaf || near_with_room(id) != NO_ID) return false;
        const std::uint32_t parent = nodes_[id].parent;
        return parent == NO_ID || !nodes_[parent].grows;
    }

    // This pre-leaf or the first of its siblings that has room, NO_ID if none has.
    std::uint32_t near_with_room(std::uint32_t id) const {
        if (has_room(id)) return id;
        if (nodes_[id].parent == NO_ID) return NO_ID;
        for (const std::uint32_t sibling : nodes_[nodes_[id].parent].children)
            if (nodes_[sibling].is_preleaf && has_room(sibling)) return sibling;
        return NO_ID;
    }

    bool has_room(std::uint32_t id) const {
        return nodes_[id].children.size() < options_.max_leaves;
    }

    // A new lone leaf-to-be below a node that may grow.
    std::uint32_t make_branch(std::uint32_t id) {
        const std::uint32_t branch = make_node(id, true);
        add_child(id, branch);
        Node& node = nodes_[id];
        if (node.children.size() >= options_.arity) stop_growing(node);
        return branch;
    }

    // Insert a new node above this one, which starts from its auxiliary classifier.
    std::uint32_t make_parent(std::uint32_t id) {
        const std::uint32_t parent = nodes_[id].parent, made = make_node(parent, false);
        if (parent == NO_ID) root_ = made;
        else nodes_[parent].children[index_of_child(parent, id)] = made;
        nodes_[id].parent = made;
        Node& above = nodes_[made];
        above.leaves = nodes_[id].leaves;
        above.children.push_back(id);
        above.blocks.make_room(3);
        above.blocks.copy_first_weights(nodes_[id].blocks);
        for (std::uint32_t block = 0; block < above.blocks.count(); ++block)
            count_weights(above.blocks.feature(block), 1);
        count(above);
        return made;
    }

    // A node that is full needs no auxiliary classifier any more.
    void stop_growing(Node& node) {
        discount(node);
        fill_before_drop(node);
        node.grows = false;
        node.blocks.drop_first();
        count(node);
    }

    void replace_by_child(std::uint32_t id) {
        const std::uint32_t parent = nodes_[id].parent, child = nodes_[id].children[0];
        nodes_[child].parent = parent;
        if (parent == NO_ID) root_ = child;
        else nodes_[parent].children[index_of_child(parent, id)] = child;
        free_node(id);
    }

    void free_node(std::uint32_t id) {
        discount(nodes_[id]);
        const NodeClassifiers& blocks = nodes_[id].blocks;
        for (std::uint32_t block = 0; block < blocks.count(); ++block)
            count_weights(blocks.feature(block), -std::int64_t{blocks.weights_in(block)});
        nodes_[id] = Node{};
        free_.push_back(id);
    }

    void take_child(std::uint32_t id, std::uint32_t index) {
        Node& node = nodes_[id];
        discount(node);
        if (classifiers(node) > 0) {
            fill_before_drop(node);
            node.blocks.drop(index + node.grows);
        }
        node.children.erase(node.children.begin() + index);
        if (node.is_preleaf)
            for (std::uint32_t at = index; at < node.children.size(); ++at)
                --positions_[node.children[at]].index;
        if (!node.children.empty())  // else it goes
            node.blocks.give_back(static_cast<std::uint32_t>(node.children.size()) + node.grows);
        count(node);
    }

    std::uint64_t& random_;
};

}  // namespace manyclass
