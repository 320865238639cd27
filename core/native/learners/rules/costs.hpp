// Costs of wrong classes: the margin that a true class has to keep grows with their distance in the
// taxonomy (Dekel, Keshet and Singer, ICML 2004).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "learners/options.hpp"
#include "taxonomy/class_nodes.hpp"

namespace manyclass {

enum class Cost { none, sqrt, linear };

constexpr std::initializer_list<Choice<Cost>> COSTS{
    {"none", Cost::none}, {"sqrt", Cost::sqrt}, {"linear", Cost::linear}};

// For one example. The cost of a wrong class instead of a true one is 1, the distance of the two or
// its root; their distance is half the edges of the path between them, 1 for siblings and for any
// two classes without a taxonomy.
//
// Ownership: the nodes are the engine's.
class Costs {
public:
    // Begin an example with these true classes.
    template <class Classes>
    void start(Cost cost, const ClassNodes& nodes, const Classes& positives) {
        for (const std::uint32_t node : marked_) edges_up_[node] = 0;
        marked_.clear();
        cost_ = cost;
        nodes_ = &nodes;
        if (!are_unequal()) return;
        const ClassTree& tree = nodes.tree();
        if (edges_up_.size() < tree.end()) edges_up_.resize(tree.end(), 0);
        edges_to_root_ = NEVER;
        deepest_ = 0;
        for (const auto& positive : positives) {
            const std::uint32_t own = nodes[positive.cls];
            std::uint32_t edges = own == NO_ID;
            for (std::uint32_t node = own; node != NO_ID; node = tree.parent(node), ++edges)
                mark(node, edges);
            edges_to_root_ = std::min(edges_to_root_, edges);
            deepest_ = std::max(deepest_, edges);
        }
    }

    // False if all wrong classes cost 1.
    bool are_unequal() const { return cost_ != Cost::none && !nodes_->empty(); }

    // Return the cost of a wrong class instead of a true one.
    double of(std::uint32_t positive, std::uint32_t negative) const {
        return are_unequal() ? of_edges(nodes_->distance(positive, negative)) : 1;
    }

    // Of a wrong class beside the nearest true one.
    double of_nearest(std::uint32_t negative) const {
        const std::uint32_t own = (*nodes_)[negative];
        std::uint32_t up = own == NO_ID, least = NEVER;
        for (std::uint32_t node = own; node != NO_ID; node = nodes_->tree().parent(node), ++up)
            if (edges_up_[node] > 0) least = std::min(least, up + edges_up_[node] - 1);
        return of_edges(std::min(least, up + edges_to_root_));
    }

    // No wrong class costs more, and none less than `least`.
    double most() const { return of_edges(deepest_ + ClassTree::DEEPEST); }
    double least() const { return of_edges(1); }

private:
    static constexpr std::uint32_t NEVER = 3 * ClassTree::DEEPEST;  // more than any distance

    double of_edges(std::uint32_t edges) const {
        const double distance = static_cast<double>(edges) / 2;
        return cost_ == Cost::sqrt ? std::sqrt(distance) : distance;
    }

    void mark(std::uint32_t node, std::uint32_t edges) {
        std::uint8_t& up = edges_up_[node];
        if (up == 0) marked_.push_back(node);
        if (up == 0 || edges + 1 < up) up = static_cast<std::uint8_t>(edges + 1);
    }

    Cost cost_ = Cost::none;
    const ClassNodes* nodes_ = nullptr;
    // Of the nodes above a true class: edges down to the nearest and 1; 0 for others.
    std::vector<std::uint8_t> edges_up_;
    std::vector<std::uint32_t> marked_;
    std::uint32_t edges_to_root_ = NEVER, deepest_ = 0;  // from true classes
};

}  // namespace manyclass
