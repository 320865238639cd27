// The interface of the algorithm inside an engine: how weights are scored and updated. The engine
// reads and preprocesses examples, counts, replays and evicts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "learners/explanation.hpp"
#include "learners/options.hpp"
#include "pipeline/example.hpp"
#include "pipeline/ranking.hpp"
#include "snapshot/visitor.hpp"
#include "storage/tables.hpp"

namespace manyclass {

using VisitExample = std::function<void(Example&)>;
using EachExample = std::function<void(const VisitExample&)>;  // visits each example of a sample

// Work done since the start, for metrics; not part of the state. Every ranking thread writes these
// counters, so they have a cache line of their own: nothing that rankings read shares it.
struct alignas(64) RetrievalWork {
    std::atomic<std::uint64_t> active_features{0}, edges{0}, nodes{0};

    void add(std::uint64_t more_features, std::uint64_t more_edges, std::uint64_t more_nodes = 0) {
        active_features.fetch_add(more_features, std::memory_order_relaxed);
        edges.fetch_add(more_edges, std::memory_order_relaxed);
        if (more_nodes > 0) nodes.fetch_add(more_nodes, std::memory_order_relaxed);
    }
};

// Ownership: the tables belong to the engine and outlive the algorithm. Examples are preprocessed;
// their ids are those of the tables.
// Threads: any number may call const functions at once; the engine's lock gives other functions one
// thread alone. Scratch memory is thread-local.
// Determinism: equal events give equal states, to the last bit.
class Algorithm {
public:
    Algorithm(Tables& tables, std::uint64_t seed) : tables_(tables), counts_{0, 0, seed, 0} {}
    virtual ~Algorithm() = default;
    Algorithm(const Algorithm&) = delete;
    Algorithm& operator=(const Algorithm&) = delete;

    // Replace the options. The state stays; the new options apply from now on.
    virtual void configure(const OptionValues& options) = 0;

    // --- ranking -------------------------------------------------------------------------------

    // Find the k best classes with a score above the threshold, best first.
    virtual void rank(const Example& example, std::uint32_t k, double threshold,
                      std::vector<Ranked>& best) const = 0;

    // Rank only the given classes (ids of known classes, each once); the scores are those of
    // `rank`.
    virtual void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                            std::uint32_t k, double threshold,
                            std::vector<Ranked>& best) const = 0;

    // Find what each feature of the example adds to the score of a class, in any order.
    virtual void explain(const Example&, std::uint32_t, Contributions&) const {}

    // Return the path to a class; empty without a hierarchy.
    virtual std::vector<PathNode> path(const Example&, std::uint32_t) const { return {}; }

    // Return the probabilities of classes; 0 if the algorithm has no probabilities.
    virtual std::vector<double> probabilities(const Example&,
                                              const std::vector<std::uint32_t>& classes) const {
        return std::vector<double>(classes.size(), 0.0);
    }

    // Return how many edges of a row a ranking reads at most: the number to prefetch.
    virtual std::uint32_t most_edges_read() const { return 0; }

    // True if the algorithm uses values below 0, or no values at all. To other algorithms such
    // values are absent: a mass cannot be negative.
    virtual bool takes_signs() const { return false; }

    const RetrievalWork& work() const { return work_; }
    // Nodes visited to forget features; not part of the state.
    virtual std::uint64_t nodes_visited() const { return 0; }

    // --- learning ------------------------------------------------------------------------------

    // Rank the example, then learn it. `is_counted`: `times_seen` of its features includes this
    // event.
    virtual Outcome learn(Example& example, bool is_counted) = 0;

    // Learn a past example again.
    virtual void learn_again(Example& example) { learn(example, false); }

    // True if the scores are the counts of classes: `learn` is then called before they increase.
    virtual bool learns_before_counting() const { return false; }

    virtual bool ignores_features() const { return false; }

    virtual void class_added(std::uint32_t) {}    // called after its record was made
    virtual void class_counted(std::uint32_t) {}  // called after its record counted one more event

    // --- hierarchy -----------------------------------------------------------------------------

    // True if every class and inner node of the taxonomy has an id and weights, learned or not.
    virtual bool has_nodes() const { return false; }

    // Called after a node was added or moved in the taxonomy, or became a class.
    // `is_before_learning`: the event that changed the taxonomy will be learned next.
    virtual void node_placed(std::uint32_t, bool /*is_before_learning*/) {}

    // True if the class has children in the taxonomy.
    virtual bool is_above_others(std::uint32_t) const { return false; }
    virtual std::vector<std::uint32_t> children(std::uint32_t) const { return {}; }

    // Return the number of examples to collect before `build` is called; 0: none.
    virtual std::uint32_t sample_wanted() const { return 0; }

    // True if `build` may be called with rows of offline training.
    virtual bool can_be_built() const { return false; }

    // Build a new tree over all classes from a sample; learn the sample again if `learns`.
    virtual void build(const EachExample&, bool /*learns*/) {}

    // --- forgetting ----------------------------------------------------------------------------

    virtual void forget_feature(std::uint32_t) {}

    // Called before the record of the class is removed.
    virtual void forget_class(std::uint32_t) {}

    // True if the weights are edges in the postings.
    virtual bool has_edges() const { return false; }

    // Remove the edges of a row to retired classes.
    virtual void remove_retired(Row&) {}

    // True if `sparsify` is implemented: it keeps only this many edges, the heaviest.
    virtual bool can_sparsify() const { return false; }
    virtual void sparsify(std::uint64_t) {}

    // --- inspection ----------------------------------------------------------------------------

    virtual std::uint64_t weights() const { return tables_.postings.edges(); }
    virtual double rating(const Row&) const { return 1; }  // factor in [0, 1] on a feature's votes
    virtual double weight(std::uint32_t, std::uint32_t) const { return 0; }

    // Call the function with each class that has a weight for the feature, and with the weight.
    virtual void each_weight(std::uint32_t,
                             const std::function<void(std::uint32_t, double)>&) const {}

    // Return the number of features with 0, 1, ... weights; features without weights may be left
    // out.
    virtual const Outdegrees& outdegrees() const { return tables_.postings.outdegrees(); }

    // --- sizes and state -----------------------------------------------------------------------

    // Bytes beyond those of the tables, computed from counts, so that they are equal for equal
    // states, grown or loaded: `bytes` of everything but classes, `class_bytes` of classes.
    virtual std::uint64_t bytes() const { return 0; }
    virtual std::uint64_t class_bytes() const { return 0; }
    virtual std::size_t resident_bytes() const { return 0; }

    // Check a loaded row; throw std::invalid_argument("section: fault").
    virtual void check_row(const Row& row, const Postings::ConstEdges&) const {
        need(row.mass == 0, "feature_mass", "a feature mass is not a mass");
    }

    virtual bool has_constraints() const { return false; }  // kept with each replayed example

    // Return the least number of events that any class in the tables was learned with.
    virtual std::uint64_t least_learned() const { return 1; }

    // Size, dump or load the algorithm's own sections; the tables are loaded first. Only loading
    // changes the algorithm, so several threads may size or dump at once.
    virtual void visit(SnapshotVisitor& visitor) {
        visit_counts(visitor, counts_);
        if (visitor.is_loading())
            need(counts_[0] == 0 && counts_[3] == 0, "counts", OTHER_LEARNER);
    }

protected:
    // Four numbers with a meaning of the algorithm's own; [2] is the state of its random generator.
    using Counts = std::array<std::uint64_t, LEARNER_COUNTS>;

    void visit_counts(SnapshotVisitor& visitor, Counts& counts) const {
        visitor.word(Count::learner, counts[0], 0);
        visitor.count(Count::learner, counts[1], 1);
        visitor.word(Count::learner, counts[2], 2);
        visitor.word(Count::learner, counts[3], 3);
        if (!visitor.is_loading()) return;
        need(counts[1] <= tables_.classes_made, "counts", "not so many classes ever came");
        need(counts[3] <= 1, "counts", "a sample is over or is not");
    }

    Tables& tables_;
    mutable RetrievalWork work_;
    Counts counts_;
};

}  // namespace manyclass
