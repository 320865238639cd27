// The taxonomy of a model: its tree of classes, behind a lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/state_lock.hpp"
#include "snapshot/visitor.hpp"
#include "taxonomy/class_tree.hpp"

namespace manyclass {

// Classes are given by their names; one that the tree does not have stands right below the root.
//
// Ownership: shared by a model and its learners; results are copies.
// Threads: any number may read at once, a change waits for the readers under way. A thread that
// holds the lock of an engine may take this one, not the other way round. Events change engines and
// the taxonomy one after another, in one thread: it may read `tree()` without the lock.
class Taxonomy {
public:
    explicit Taxonomy(std::uint64_t hash_seed) : tree_(hash_seed) {}

    // The tree, locked for reading.
    class View {
    public:
        explicit View(const Taxonomy& taxonomy) : lock_(taxonomy.lock_), tree_(taxonomy.tree_) {}
        const ClassTree& operator*() const { return tree_; }
        const ClassTree* operator->() const { return &tree_; }

    private:
        const StateLock::Read lock_;
        const ClassTree& tree_;
    };

    const ClassTree& tree() const { return tree_; }

    // --- looking inside ------------------------------------------------------------------------

    std::uint32_t count() const { return View(*this)->count(); }

    bool has(std::string_view name) const { return View(*this)->find(name) != NO_ID; }

    bool is_class(std::string_view name) const {
        const View tree(*this);
        const std::uint32_t node = tree->find(name);
        return node != NO_ID && tree->is_class(node);
    }

    std::uint64_t name_bytes() const { return View(*this)->name_bytes(); }

    // The name of the parent of a class; empty for the root, and without a node.
    std::string parent(std::string_view name) const {
        const View tree(*this);
        const std::uint32_t node = tree->find(name);
        if (node == NO_ID || tree->parent(node) == NO_ID) return {};
        return std::string(tree->name(tree->parent(node)));
    }

    // The names of the nodes from below the root down to a class; none if it has no node.
    std::vector<std::string> path(std::string_view name) const {
        const View tree(*this);
        std::vector<std::string> names;
        for (std::uint32_t node = tree->find(name); node != NO_ID; node = tree->parent(node))
            names.emplace_back(tree->name(node));
        std::reverse(names.begin(), names.end());
        return names;
    }

    // At most `limit` children from behind one of them, or from the first for an empty name; an empty
    // parent stands for the root. False if one of the two is not a node, or they are not parent and
    // child.
    bool children(std::string_view name, std::string_view after, std::size_t limit,
                  std::vector<std::string>& names) const {
        const View tree(*this);
        if (name.empty()) return tops(*tree, after, limit, names);
        const std::uint32_t node = tree->find(name);
        if (node == NO_ID) return false;
        std::uint32_t child = tree->first_child(node);
        if (!after.empty()) {
            const std::uint32_t last = tree->find(after);
            if (last == NO_ID || tree->parent(last) != node) return false;
            child = tree->next_sibling(last);
        }
        for (; child != NO_ID && names.size() < limit; child = tree->next_sibling(child))
            names.emplace_back(tree->name(child));
        return true;
    }

    // Edges of the longest path from a class down.
    std::uint32_t height(std::string_view name) const {
        const View tree(*this);
        const std::uint32_t node = tree->find(name);
        return node == NO_ID ? 0 : tree->height(node);
    }

    // Edges of the path between two classes; an empty name stands for the root.
    std::uint32_t distance(std::string_view one, std::string_view other) const {
        if (one == other) return 0;
        const View tree(*this);
        const std::uint32_t first = tree->find(one), second = tree->find(other);
        const std::uint32_t unknown =
            (first == NO_ID && !one.empty()) + (second == NO_ID && !other.empty());
        return tree->distance(first, second) + unknown;
    }

    std::size_t resident_bytes() const { return View(*this)->resident_bytes(); }

    // --- changes -------------------------------------------------------------------------------

    // See ClassTree::place.
    std::vector<std::string> place(std::string_view name, std::string_view parent, bool moves) {
        StateLock::Change change(lock_);
        std::vector<std::string> gone = tree_.place(name, parent, moves);
        change.done();
        return gone;
    }

    // Note that these names are of classes, if they have nodes. Returns the names of nodes that were
    // no classes before.
    std::vector<std::string> note_classes(const std::vector<std::string_view>& names) {
        std::vector<std::string> noted;
        if (tree_.count() == 0) return noted;
        StateLock::Change change(lock_);
        for (const std::string_view name : names) {
            const std::uint32_t node = tree_.find(name);
            if (node != NO_ID && tree_.note_class(node)) noted.emplace_back(name);
        }
        change.done();
        return noted;
    }

    // Give a node another name. False, and nothing changes, without the node, if a node has the name,
    // and where the names would be longer together than they may be.
    bool rename(std::string_view name, std::string_view to) {
        StateLock::Change change(lock_);
        const std::uint32_t node = tree_.find(name);
        const bool can = node != NO_ID && tree_.find(to) == NO_ID &&
                         tree_.name_bytes() - name.size() + to.size() <= ClassTree::MOST_NAME_BYTES;
        if (can) tree_.rename(node, to);
        change.done();
        return can;
    }

    // Forget a class. Returns the names of the nodes that are gone.
    std::vector<std::string> forget(std::string_view name) {
        StateLock::Change change(lock_);
        const std::uint32_t node = tree_.find(name);
        std::vector<std::string> gone;
        if (node != NO_ID) gone = tree_.forget(node);
        change.done();
        return gone;
    }

    // --- state ---------------------------------------------------------------------------------

    // The sections of the state with their sizes.
    std::vector<Section> measure() {
        const StateLock::Read lock(lock_);
        SnapshotVisitor visitor;
        tree_.visit(visitor);
        return visitor.sections();
    }

    // Copy the state into sections of the measured sizes; by the thread that changes it.
    void dump(const std::vector<Section>& sections) {
        const StateLock::Read lock(lock_);
        SnapshotVisitor visitor(SnapshotVisitor::Pass::dump, sections);
        tree_.visit(visitor);
    }

    // Fill a new taxonomy; std::invalid_argument "section: fault" when the sections contradict
    // themselves.
    void load(const std::vector<Section>& sections) {
        SnapshotVisitor visitor(SnapshotVisitor::Pass::load, sections);
        tree_.visit(visitor);
    }

private:
    // The children of the root in the order of their ids: the tree does not list them.
    static bool tops(const ClassTree& tree, std::string_view after, std::size_t limit,
                     std::vector<std::string>& names) {
        std::uint32_t node = 0;
        if (!after.empty()) {
            const std::uint32_t last = tree.find(after);
            if (last == NO_ID || tree.parent(last) != NO_ID) return false;
            node = last + 1;
        }
        for (; node < tree.end() && names.size() < limit; ++node)
            if (tree.alive(node) && tree.parent(node) == NO_ID) names.emplace_back(tree.name(node));
        return true;
    }

    StateLock lock_;
    ClassTree tree_;
};

}  // namespace manyclass
