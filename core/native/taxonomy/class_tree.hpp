// A tree of nodes, most of them classes, below a root that has no node.
//
//   names_   name <-> id of the node
//   nodes_   by id: parent, first and last child, the siblings before and behind
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapshot/visitor.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// A node is a class if it was placed or learned; a node that was only named as a parent, or whose
// class was forgotten, is none, and goes with its last child. NO_ID stands for the root, as the
// parent of a node without one. Siblings stand in the order in which they were placed there.
//
// Threads: as its owner.
class ClassTree {
public:
    static constexpr std::uint32_t MOST_NODES = 1'000'000, DEEPEST = 32;
    static constexpr std::uint64_t MOST_NAME_BYTES = std::uint64_t{1} << 26;  // 64 MiB

    explicit ClassTree(std::uint64_t hash_seed) : names_(hash_seed) {}

    // One past the highest id ever given; freed ids are below it.
    std::uint32_t end() const { return names_.end(); }
    std::uint32_t count() const { return names_.count(); }
    std::uint64_t name_bytes() const { return names_.name_bytes(); }
    std::uint32_t find(std::string_view name) const { return names_.find(name); }
    std::string_view name(std::uint32_t node) const { return names_.name(node); }
    bool alive(std::uint32_t node) const { return names_.alive(node); }

    std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
    std::uint32_t first_child(std::uint32_t node) const { return nodes_[node].first; }
    std::uint32_t next_sibling(std::uint32_t node) const { return nodes_[node].next; }
    bool is_class(std::uint32_t node) const { return nodes_[node].is_class; }

    // Edges from the root: 0 for the root, 1 for a node without a parent.
    std::uint32_t depth(std::uint32_t node) const {
        std::uint32_t edges = 0;
        for (; node != NO_ID; node = parent(node)) ++edges;
        return edges;
    }

    // Edges of the longest path from a node down. Reads all nodes below it.
    std::uint32_t height(std::uint32_t node) const {
        std::uint32_t deepest = 0, here = 0;
        std::uint32_t at = node;
        while (true) {
            if (nodes_[at].first != NO_ID) {
                at = nodes_[at].first;
                deepest = std::max(deepest, ++here);
                continue;
            }
            while (at != node && nodes_[at].next == NO_ID) {
                at = parent(at);
                --here;
            }
            if (at == node) return deepest;
            at = nodes_[at].next;
        }
    }

    // Edges of the path between two nodes; NO_ID stands for the root.
    std::uint32_t distance(std::uint32_t one, std::uint32_t other) const {
        std::uint32_t above_one = depth(one), above_other = depth(other), edges = 0;
        for (; above_one > above_other; --above_one, ++edges) one = parent(one);
        for (; above_other > above_one; --above_other, ++edges) other = parent(other);
        for (; one != other; edges += 2) {
            one = parent(one);
            other = parent(other);
        }
        return edges;
    }

    // Place a class below a parent, an empty name for the root; both are added if they are not
    // there. A class that has another parent keeps it unless it `moves`, and nothing changes where
    // a cycle or a path of more than DEEPEST edges would result. Returns the names of the nodes
    // that are gone because the class moved.
    std::vector<std::string> place(std::string_view name, std::string_view parent_name, bool moves) {
        std::uint32_t node = names_.find(name);
        const std::uint32_t above = parent_name.empty() ? NO_ID : names_.find(parent_name);
        const bool is_new_parent = !parent_name.empty() && above == NO_ID;
        if (node != NO_ID) {
            if (!is_new_parent && above == parent(node)) {
                nodes_[node].is_class = true;
                return {};
            }
            if (parent(node) != NO_ID && !moves) return {};
            if (is_below(above, node)) return {};
        }
        if (name == parent_name) return {};
        const std::uint32_t below = node == NO_ID ? 0 : height(node);
        if (depth(above) + is_new_parent + 1 + below > DEEPEST) return {};
        const std::uint32_t more = (node == NO_ID) + is_new_parent;
        const std::uint64_t bytes = (node == NO_ID ? name.size() : 0) +
                                    (is_new_parent ? parent_name.size() : 0);
        if (count() + more > MOST_NODES || name_bytes() + bytes > MOST_NAME_BYTES) return {};
        const std::uint32_t wanted = is_new_parent ? add(parent_name, NO_ID) : above;
        if (node == NO_ID) {
            nodes_[add(name, wanted)].is_class = true;
            return {};
        }
        const std::uint32_t before = parent(node);
        unlink(node);
        link(node, wanted);
        nodes_[node].is_class = true;
        return prune(before);
    }

    // Give a node another name, which no node has. Its parent and its children stay.
    void rename(std::uint32_t node, std::string_view name) { names_.rename(node, name); }

    // Note that a node is a class, as an event learned it. False if it was one.
    bool note_class(std::uint32_t node) { return !std::exchange(nodes_[node].is_class, true); }

    // Forget a class: its node goes unless it has children, and so does every node above it that is
    // then neither a class nor above one. Returns the names of the nodes that are gone.
    std::vector<std::string> forget(std::uint32_t node) {
        nodes_[node].is_class = false;
        return prune(node);
    }

    std::size_t resident_bytes() const {
        return names_.resident_bytes() + nodes_.capacity() * sizeof(Node);
    }

    // --- state ---------------------------------------------------------------------------------

    void visit(SnapshotVisitor& visitor) {
        names_.visit(visitor, "taxonomy", {nullptr, 0});
        const auto parents = visitor.matching<std::uint32_t>("taxonomy_parents", end());
        const auto before = visitor.matching<std::uint32_t>("taxonomy_before", end());
        const auto classes = visitor.matching<std::uint8_t>("taxonomy_classes", end());
        if (visitor.is_dumping())
            for (std::uint32_t node = 0; node < end(); ++node) {
                parents.data[node] = nodes_[node].parent;
                before.data[node] = nodes_[node].before;
                classes.data[node] = nodes_[node].is_class;
            }
        if (visitor.is_loading()) load(parents.data, before.data, classes.data);
    }

private:
    struct Node {
        std::uint32_t parent = NO_ID, first = NO_ID, last = NO_ID, before = NO_ID, next = NO_ID;
        bool is_class = false;
    };

    // True if a node is `above` or stands below it.
    bool is_below(std::uint32_t node, std::uint32_t above) const {
        for (; node != NO_ID; node = parent(node))
            if (node == above) return true;
        return false;
    }

    std::uint32_t add(std::string_view name, std::uint32_t parent) {
        const std::uint32_t node = names_.add(name);
        if (node == nodes_.size()) nodes_.emplace_back();
        nodes_[node] = Node{};
        link(node, parent);
        return node;
    }

    // The children of the root are not listed.
    void link(std::uint32_t node, std::uint32_t parent) {
        Node& linked = nodes_[node];
        linked.parent = parent;
        linked.before = linked.next = NO_ID;
        if (parent == NO_ID) return;
        Node& above = nodes_[parent];
        linked.before = above.last;
        (above.last == NO_ID ? above.first : nodes_[above.last].next) = node;
        above.last = node;
    }

    void unlink(std::uint32_t node) {
        const Node& linked = nodes_[node];
        if (linked.parent == NO_ID) return;
        Node& above = nodes_[linked.parent];
        (linked.before == NO_ID ? above.first : nodes_[linked.before].next) = linked.next;
        (linked.next == NO_ID ? above.last : nodes_[linked.next].before) = linked.before;
    }

    // Remove a node that is not a class and has no children, then the ones above it that are alike.
    std::vector<std::string> prune(std::uint32_t node) {
        std::vector<std::string> gone;
        while (node != NO_ID && !is_class(node) && nodes_[node].first == NO_ID) {
            const std::uint32_t above = parent(node);
            gone.emplace_back(names_.name(node));
            unlink(node);
            nodes_[node] = Node{};
            names_.remove(node);
            node = above;
        }
        return gone;
    }

    void load(const std::uint32_t* parents, const std::uint32_t* before,
              const std::uint8_t* classes) {
        nodes_.assign(end(), Node{});
        for (std::uint32_t node = 0; node < end(); ++node) {
            const std::uint32_t parent = parents[node], ahead = before[node];
            const auto is_node = [&](std::uint32_t id) { return id < end() && alive(id); };
            need(parent == NO_ID || (alive(node) && is_node(parent)), "taxonomy_parents",
                 "a parent is no node");
            need(ahead == NO_ID || (parent != NO_ID && is_node(ahead) && parents[ahead] == parent),
                 "taxonomy_before", "two siblings have different parents");
            need(classes[node] <= alive(node), "taxonomy_classes", "a free node is a class");
            nodes_[node].parent = parent;
            nodes_[node].before = ahead;
            nodes_[node].is_class = classes[node] != 0;
            if (parent == NO_ID) continue;
            std::uint32_t& link = ahead == NO_ID ? nodes_[parent].first : nodes_[ahead].next;
            need(link == NO_ID, "taxonomy_before", "two siblings follow the same one");
            link = node;
        }
        need(count() <= MOST_NODES && name_bytes() <= MOST_NAME_BYTES, "taxonomy_names",
             "more nodes than there may be");
        check_paths();
        std::uint32_t linked = 0, below = 0;
        for (std::uint32_t node = 0; node < end(); ++node) {
            below += nodes_[node].parent != NO_ID;
            for (std::uint32_t at = nodes_[node].first; at != NO_ID; at = nodes_[at].next) {
                ++linked;
                nodes_[node].last = at;
            }
            need(!alive(node) || is_class(node) || nodes_[node].first != NO_ID, "taxonomy_classes",
                 "a node is neither a class nor above one");
        }
        need(linked == below, "taxonomy_before", "siblings stand in a circle");
    }

    void check_paths() const {
        for (std::uint32_t node = 0; node < end(); ++node) {
            std::uint32_t at = node, edges = 0;
            for (; at != NO_ID && edges <= DEEPEST; at = parent(at)) ++edges;
            need(at == NO_ID, "taxonomy_parents", "a path is too long, or a circle");
        }
    }

    Vocabulary names_;
    std::vector<Node> nodes_;  // by id
};

}  // namespace manyclass
