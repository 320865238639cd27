// Builds the shape of a label tree over known classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "learners/tree/tree_options.hpp"
#include "math/random.hpp"

namespace manyclass {

constexpr double MOST_INPUT = 1e15;  // keeps steps and scores within single precision

// A feature of an instance, as input of the classifiers. Subnormal values become 0, because the
// processor's mode may drop them.
struct Input {
    Input(std::uint32_t id, double given)
        : feature(id),
          value(given < static_cast<double>(std::numeric_limits<float>::min())
                    ? 0.0f
                    : static_cast<float>(std::min(given, MOST_INPUT))) {}

    std::uint32_t feature;
    float value;
};

// A node and its children: nodes or classes.
struct Branch {
    std::vector<Branch> branches;
    std::vector<std::uint32_t> classes;
};

// A class of the new tree: the number of times it was learned, and the sum of its instances, in any
// number of parts in any order.
struct Leaf {
    std::uint32_t cls;
    std::uint64_t learned;
    std::vector<Input> sum;
    std::size_t added_up = 0;  // parts after the last call of add_up

    void add(std::uint32_t feature, double value) {
        sum.emplace_back(feature, value);
        if (sum.size() < 2 * added_up + 256) return;
        add_up();
        added_up = sum.size();
    }

    // One part for each feature.
    void add_up() {
        std::stable_sort(sum.begin(), sum.end(), [](const Input& one, const Input& other) {
            return one.feature < other.feature;
        });
        std::size_t kept = 0;
        for (std::size_t at = 0; at < sum.size(); ++at) {
            if (kept > 0 && sum[kept - 1].feature == sum[at].feature)
                sum[kept - 1].value += sum[at].value;
            else
                sum[kept++] = sum[at];
        }
        sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(kept), sum.end());
    }
};

class TreeBuilder {
public:
    // The leaves are in the order in which the classes were added. The builder advances `random`.
    TreeBuilder(std::vector<Leaf> leaves, const TreeOptions& options, std::uint64_t& random)
        : leaves_(std::move(leaves)), options_(options), random_(random) {}

    Branch shape() {
        std::vector<std::uint32_t> order(leaves_.size());
        std::iota(order.begin(), order.end(), 0u);
        switch (options_.shape) {
            case Shape::huffman:
                return by_frequency();
            case Shape::random:
                for (std::size_t left = order.size(); left > 1; --left)
                    std::swap(order[left - 1], order[random_below(random_, left)]);
                break;
            case Shape::kmeans:
                scale_to_unit_length();
                break;
            case Shape::complete:
                break;
        }
        return part(order);
    }

private:
    using Order = std::vector<std::uint32_t>;  // positions of leaves

    Branch preleaf(const Order& order) const {
        Branch branch;
        for (const std::uint32_t position : order) branch.classes.push_back(leaves_[position].cls);
        return branch;
    }

    // Divide into `arity` parts of the same size, except one, until each fits into a pre-leaf.
    Branch part(const Order& order) {
        if (order.size() <= options_.max_leaves) return preleaf(order);
        Branch branch;
        std::vector<Order> parts;
        divide(order, options_.arity, parts);
        for (const Order& each : parts) branch.branches.push_back(part(each));
        return branch;
    }

    void divide(const Order& order, std::uint32_t wanted, std::vector<Order>& parts) {
        wanted = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, order.size()));
        if (wanted <= 1) {
            parts.push_back(order);
            return;
        }
        const std::uint32_t left = wanted / 2;
        const std::size_t size = (order.size() * left + wanted - 1) / wanted;
        Order sorted = options_.shape == Shape::kmeans ? bisected(order, size) : order;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(size);
        divide(Order(sorted.begin(), middle), left, parts);
        divide(Order(middle, sorted.end()), wanted - left, parts);
    }

    // --- hierarchical k-means ------------------------------------------------------------------

    void scale_to_unit_length() {
        std::uint32_t features = 0;
        for (Leaf& leaf : leaves_) {
            leaf.add_up();
            double squares = 0;
            for (const Input& each : leaf.sum) {
                squares += static_cast<double>(each.value) * static_cast<double>(each.value);
                features = std::max(features, each.feature + 1);
            }
            if (squares == 0) continue;
            const auto scale = static_cast<float>(1 / std::sqrt(squares));
            for (Input& each : leaf.sum) each.value *= scale;
        }
        difference_.assign(features, 0.0);
        mean_.assign(features, 0.0);
    }

    // Balanced spherical 2-means: the leaves nearest to the first of two means come first; each
    // mean is that of its side. The rounds end when no leaf changes sides.
    Order bisected(const Order& order, std::size_t size) {
        constexpr int MOST_ROUNDS = 20;
        const std::size_t one = random_below(random_, order.size());
        std::size_t other = random_below(random_, order.size() - 1);
        other += other >= one;
        Order near{order[one]}, far{order[other]}, sorted = order;
        for (int round = 0; round < MOST_ROUNDS; ++round) {
            const std::vector<std::pair<double, std::uint32_t>> ranked = by_nearness(order, near, far);
            for (std::size_t at = 0; at < ranked.size(); ++at) sorted[at] = ranked[at].second;
            const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(size);
            std::sort(sorted.begin(), middle);
            std::sort(middle, sorted.end());
            const Order nearer(sorted.begin(), middle), farther(middle, sorted.end());
            if (nearer == near) break;
            near = nearer;
            far = farther;
        }
        return sorted;
    }

    std::vector<std::pair<double, std::uint32_t>> by_nearness(const Order& order, const Order& near,
                                                              const Order& far) {
        add_mean(near, 1);
        add_mean(far, -1);
        std::vector<std::pair<double, std::uint32_t>> ranked;
        for (const std::uint32_t position : order) {
            double product = 0;
            for (const Input& each : leaves_[position].sum)
                product += static_cast<double>(each.value) * difference_[each.feature];
            ranked.emplace_back(-product, position);
        }
        std::sort(ranked.begin(), ranked.end());
        for (const Order* side : {&near, &far})
            for (const std::uint32_t position : *side)
                for (const Input& each : leaves_[position].sum) difference_[each.feature] = 0;
        return ranked;
    }

    // Add the mean direction of these leaves, of unit length, to the difference.
    void add_mean(const Order& order, double sign) {
        std::vector<std::uint32_t> features;
        for (const std::uint32_t position : order)
            for (const Input& each : leaves_[position].sum) {
                if (mean_[each.feature] == 0 && each.value > 0) features.push_back(each.feature);
                mean_[each.feature] += static_cast<double>(each.value);
            }
        std::sort(features.begin(), features.end());
        double squares = 0;
        for (const std::uint32_t each : features) squares += mean_[each] * mean_[each];
        const double scale = squares == 0 ? 0 : sign / std::sqrt(squares);
        for (const std::uint32_t each : features) {
            difference_[each] += mean_[each] * scale;
            mean_[each] = 0;
        }
    }

    // --- Huffman -------------------------------------------------------------------------------

    // Join the parts learned least often, repeatedly; the classes of a pre-leaf are joined at once.
    Branch by_frequency() {
        struct Joined {
            std::uint64_t learned;
            std::uint32_t made;
            Branch branch;
        };
        const auto later = [](const Joined& one, const Joined& other) {
            return one.learned != other.learned ? one.learned > other.learned
                                                : one.made > other.made;
        };
        std::vector<Joined> heap;
        for (std::uint32_t position = 0; position < leaves_.size(); ++position)
            heap.push_back({leaves_[position].learned, position, preleaf({position})});
        std::make_heap(heap.begin(), heap.end(), later);
        auto made = static_cast<std::uint32_t>(heap.size());
        const auto take = [&] {
            std::pop_heap(heap.begin(), heap.end(), later);
            Joined least = std::move(heap.back());
            heap.pop_back();
            return least;
        };
        while (heap.size() > 1) {
            Joined joined{0, made++, {}};
            std::vector<Branch> below;
            for (std::uint32_t i = 0; i < options_.arity && !heap.empty(); ++i) {
                Joined least = take();
                joined.learned += least.learned;
                below.push_back(std::move(least.branch));
            }
            joined.branch = joined_branch(std::move(below));
            heap.push_back(std::move(joined));
            std::push_heap(heap.begin(), heap.end(), later);
        }
        return heap.empty() ? Branch{} : std::move(heap.front().branch);
    }

    // Make one pre-leaf if it can hold all classes, else a node above the branches.
    Branch joined_branch(std::vector<Branch> below) const {
        std::size_t classes = 0;
        bool all_preleaves = true;
        for (const Branch& each : below) {
            classes += each.classes.size();
            all_preleaves &= each.branches.empty();
        }
        Branch branch;
        if (!all_preleaves || classes > options_.max_leaves) {
            branch.branches = std::move(below);
            return branch;
        }
        for (const Branch& each : below)
            branch.classes.insert(branch.classes.end(), each.classes.begin(), each.classes.end());
        return branch;
    }

    std::vector<Leaf> leaves_;
    const TreeOptions& options_;
    std::uint64_t& random_;
    std::vector<double> mean_;        // zeros between computations
    std::vector<double> difference_;  // of the two means
};

}  // namespace manyclass
