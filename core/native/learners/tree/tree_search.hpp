// Best-first search for the most probable classes of a label tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "learners/tree/tree_classifiers.hpp"

namespace manyclass {

class TreeSearch {
public:
    using Cost = TreeClassifiers::Cost;

    TreeSearch(const TreeClassifiers& tree, const std::vector<Input>& input, std::size_t wanted)
        : tree_(tree), input_(input), wanted_(wanted), work_(workspace()),
          classifiers_(TreeClassifiers::workspace()) {}

    // Visit the `wanted` classes of the highest probability, the most likely first, of equal ones
    // the one that came to the tree first, until `visit(class, probability)` returns false. The
    // search is exact if it opens at most `most_nodes`; see `finish`.
    template <class F>
    Cost run(std::uint64_t most_nodes, F&& visit) {
        if (tree_.root_ == NO_ID) return {0, 0};
        classifiers_.touched = 0;
        work_.best.clear();
        work_.reached.assign(1, {1, 0, tree_.root_, false});
        bool is_finished = false;
        while (!is_over()) {
            if (opened_ == most_nodes && !is_finished) {
                finish();
                is_finished = true;
                continue;
            }
            const Reached best = next();
            if (!best.is_class) open(best);
            else if (!visit(best.id, best.probability)) break;
        }
        return {opened_, classifiers_.touched};
    }

private:
    struct Reached {
        double probability;
        std::uint64_t order;
        std::uint32_t id;
        bool is_class;
    };
    struct Later {
        bool operator()(const Reached& one, const Reached& other) const {
            if (one.probability != other.probability) return one.probability < other.probability;
            if (one.is_class != other.is_class) return one.is_class;  // nodes first: they may hold
            return one.is_class ? one.order > other.order : one.id > other.id;  // an older class
        }
    };

    // Scratch memory of a thread.
    struct Work {
        std::vector<Reached> reached;  // a heap, the best in front
        std::vector<Reached> classes;  // of `reached`, while `finish` goes down
        std::vector<double> best;      // a heap of probabilities of classes, the least in front
    };

    [[gnu::noinline]] static Work& workspace() {
        static thread_local Work work;
        return work;
    }

    bool is_over() const { return work_.reached.empty(); }

    Reached next() {
        std::pop_heap(work_.reached.begin(), work_.reached.end(), Later());
        const Reached best = work_.reached.back();
        work_.reached.pop_back();
        return best;
    }

    void open(const Reached& node) {
        each_child(node, [this](const Reached& child) { push(child); });
    }

    // Go straight down from the best nodes, until enough classes are reached. A class that is
    // reached by then is met before one that is not, however probable that is.
    void finish() {
        constexpr int LEAST_DESCENTS = 32;
        const auto first_class =
            std::partition(work_.reached.begin(), work_.reached.end(),
                           [](const Reached& each) { return !each.is_class; });
        std::vector<Reached>& classes = work_.classes;
        classes.assign(first_class, work_.reached.end());
        work_.reached.erase(first_class, work_.reached.end());
        std::make_heap(work_.reached.begin(), work_.reached.end(), Later());
        for (int descents = 0; !is_over(); ++descents) {
            if (descents >= LEAST_DESCENTS && work_.best.size() == wanted_) break;
            descend(next(), classes);
        }
        work_.reached.swap(classes);
        std::make_heap(work_.reached.begin(), work_.reached.end(), Later());
    }

    // Add the classes of the pre-leaf that the best child of each node leads to.
    void descend(Reached at, std::vector<Reached>& classes) {
        while (!tree_.nodes_[at.id].is_preleaf) {
            Reached best{-1, 0, NO_ID, false};
            each_child(at, [&](Reached child) {
                if (Later()(best, child)) std::swap(best, child);
                if (child.id != NO_ID) push(child);
            });
            if (best.id == NO_ID) return;  // nothing below is wanted
            at = best;
        }
        each_child(at, [&classes](const Reached& child) { classes.push_back(child); });
    }

    void push(const Reached& reached) {
        work_.reached.push_back(reached);
        std::push_heap(work_.reached.begin(), work_.reached.end(), Later());
    }

    // Visit the children of a node that are, or lead to, wanted classes.
    template <class F>
    void each_child(const Reached& at, F&& visit) {
        const auto& node = tree_.nodes_[at.id];
        ++opened_;
        tree_.probabilities(node, input_, classifiers_);
        for (std::size_t index = 0; index < node.children.size(); ++index) {
            const double probability = at.probability * classifiers_.probabilities[index];
            if (work_.best.size() == wanted_ && probability < work_.best.front()) continue;
            const std::uint32_t child = node.children[index];
            if (node.is_preleaf) note_class(probability);
            visit({probability, node.is_preleaf ? tree_.positions_[child].order : 0, child,
                  node.is_preleaf});
        }
    }

    // Keep the `wanted` highest probabilities of classes.
    void note_class(double probability) {
        std::vector<double>& best = work_.best;
        if (best.size() == wanted_) {
            std::pop_heap(best.begin(), best.end(), std::greater<double>());
            best.pop_back();
        }
        best.push_back(probability);
        std::push_heap(best.begin(), best.end(), std::greater<double>());
    }

    const TreeClassifiers& tree_;
    const std::vector<Input>& input_;
    const std::size_t wanted_;
    std::uint64_t opened_ = 0;  // nodes
    Work& work_;
    TreeClassifiers::Work& classifiers_;
};

}  // namespace manyclass
