// The nodes in the taxonomy of an engine's classes, by class id.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/vocabulary.hpp"
#include "taxonomy/taxonomy.hpp"

namespace manyclass {

// NO_ID for a class without a node, which stands right below the root. No state: it follows from
// the names.
//
// Threads: as the engine that owns it. The tree is read without its lock, by the thread that applies
// events or while another waits for it.
class ClassNodes {
public:
    explicit ClassNodes(std::shared_ptr<const Taxonomy> taxonomy) : taxonomy_(std::move(taxonomy)) {}

    const ClassTree& tree() const { return taxonomy_->tree(); }

    // True if no class has a node.
    bool empty() const { return placed_ == 0; }

    std::uint32_t operator[](std::uint32_t cls) const {
        return cls < nodes_.size() ? nodes_[cls] : NO_ID;
    }

    // The class of a node; NO_ID if the engine has none.
    std::uint32_t class_of(std::uint32_t node) const {
        return node < classes_.size() ? classes_[node] : NO_ID;
    }

    // Look for the node of a class by its name.
    void find(std::uint32_t cls, std::string_view name) { set(cls, tree().find(name)); }

    void remove(std::uint32_t cls) { set(cls, NO_ID); }

    // Edges from the root down to a class.
    std::uint32_t depth(std::uint32_t cls) const {
        const std::uint32_t node = (*this)[cls];
        return node == NO_ID ? 1 : tree().depth(node);
    }

    // Edges of the path between two different classes.
    std::uint32_t distance(std::uint32_t one, std::uint32_t other) const {
        const std::uint32_t first = (*this)[one], second = (*this)[other];
        return tree().distance(first, second) + (first == NO_ID) + (second == NO_ID);
    }

    std::size_t resident_bytes() const {
        return (nodes_.capacity() + classes_.capacity()) * sizeof(std::uint32_t);
    }

private:
    void set(std::uint32_t cls, std::uint32_t node) {
        const std::uint32_t before = (*this)[cls];
        if (before == node) return;
        if (cls >= nodes_.size()) nodes_.resize(cls + std::size_t{1}, NO_ID);
        placed_ += (node != NO_ID);
        placed_ -= (before != NO_ID);
        nodes_[cls] = node;
        if (class_of(before) == cls) classes_[before] = NO_ID;
        if (node == NO_ID) return;
        if (node >= classes_.size()) classes_.resize(node + std::size_t{1}, NO_ID);
        classes_[node] = cls;
    }

    std::shared_ptr<const Taxonomy> taxonomy_;
    std::vector<std::uint32_t> nodes_;    // by class id, up to the last class with a node
    std::vector<std::uint32_t> classes_;  // by node
    std::uint32_t placed_ = 0;          // classes with a node
};

}  // namespace manyclass
