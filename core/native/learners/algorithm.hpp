// The interface of a learner.
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
using EachExample = std::function<void(const VisitExample&)>;  // calls it for each of a sample

// Work done since start, to be compared with the number of calls. No state. Every ranking thread
// writes it: nothing that they read shares its cache line.
struct alignas(64) RetrievalWork {
    std::atomic<std::uint64_t> active_features{0}, edges{0}, nodes{0};

    void add(std::uint64_t more_features, std::uint64_t more_edges, std::uint64_t more_nodes = 0) {
        active_features.fetch_add(more_features, std::memory_order_relaxed);
        edges.fetch_add(more_edges, std::memory_order_relaxed);
        if (more_nodes > 0) nodes.fetch_add(more_nodes, std::memory_order_relaxed);
    }
};

// Ownership: the tables are the engine's and outlive the learner. Examples that are given were
// preprocessed; their ids are those of the tables.
// Threads: const functions from any number at once, others from one alone, by the engine's lock.
// Scratch memory is a thread's own.
// Determinism: what a learner holds follows from the events, to the last bit.
class Learner {
public:
    Learner(Tables& tables, std::uint64_t seed) : tables_(tables), counts_{0, 0, seed, 0} {}
    virtual ~Learner() = default;
    Learner(const Learner&) = delete;
    Learner& operator=(const Learner&) = delete;

    // Take other options; the state stays and is read by them from now on.
    virtual void configure(const OptionValues& options) = 0;

    // --- ranking -------------------------------------------------------------------------------

    // The k best classes with a score above the threshold, best first.
    virtual void rank(const Example& example, std::uint32_t k, double threshold,
                      std::vector<Ranked>& best) const = 0;

    // The same of the given classes alone (ids of known classes, each once), with the same scores.
    virtual void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                            std::uint32_t k, double threshold,
                            std::vector<Ranked>& best) const = 0;

    // The contributions of the features of the example to the score of a class, in any order.
    virtual void explain(const Example&, std::uint32_t, Contributions&) const {}

    // The path to a class; empty without a hierarchy.
    virtual std::vector<PathNode> path(const Example&, std::uint32_t) const { return {}; }

    // The probabilities of classes; 0 where the learner has none.
    virtual std::vector<double> probabilities(const Example&,
                                              const std::vector<std::uint32_t>& classes) const {
        return std::vector<double>(classes.size(), 0.0);
    }

    // Edges of a row that a ranking reads at most, so that they are fetched from memory early.
    virtual std::uint32_t most_edges_read() const { return 0; }

    // True if values below 0 count, or no value does. They are absent to others: a learner of masses
    // has no use for them.
    virtual bool takes_signs() const { return false; }

    const RetrievalWork& work() const { return work_; }
    virtual std::uint64_t nodes_visited() const { return 0; }  // to forget features; no state

    // --- learning ------------------------------------------------------------------------------

    // Rank the example, then learn it. `is_counted`: the times seen of its features include this
    // event.
    virtual Outcome learn(Example& example, bool is_counted) = 0;

    // Learn a past example again.
    virtual void learn_again(Example& example) { learn(example, false); }

    // True if counts of classes are the scores: `learn` is then called before they are raised.
    virtual bool learns_before_counting() const { return false; }

    virtual bool ignores_features() const { return false; }

    virtual void class_added(std::uint32_t) {}    // its record was made
    virtual void class_counted(std::uint32_t) {}  // its record counts one more event

    // --- hierarchy -----------------------------------------------------------------------------

    // True if the classes of the taxonomy and the nodes above them have ids and weights, learned or
    // not.
    virtual bool has_nodes() const { return false; }

    // A class or a node was added or moved in the taxonomy, or became a class there, maybe by an event
    // that will be learned next.
    virtual void node_placed(std::uint32_t, bool /*is_before_learning*/) {}

    // True if others stand below the class in the taxonomy.
    virtual bool is_above_others(std::uint32_t) const { return false; }
    virtual std::vector<std::uint32_t> children(std::uint32_t) const { return {}; }

    // First examples that the learner still waits for, to be built from them; 0: none.
    virtual std::uint32_t sample_wanted() const { return 0; }

    // True if `build` may be called with examples from outside.
    virtual bool can_be_built() const { return false; }

    // Begin anew over all classes, from a sample; learn it again if `learns`.
    virtual void build(const EachExample&, bool /*learns*/) {}

    // --- forgetting ----------------------------------------------------------------------------

    virtual void forget_feature(std::uint32_t) {}

    // Called while the record of the class is still there.
    virtual void forget_class(std::uint32_t) {}

    // True if the postings hold edges of this learner.
    virtual bool has_edges() const { return false; }

    // Remove the edges of a row to retired classes.
    virtual void remove_retired(Row&) {}

    // True if `sparsify` works, which keeps so many of the heaviest edges.
    virtual bool can_sparsify() const { return false; }
    virtual void sparsify(std::uint64_t) {}

    // --- looking inside ------------------------------------------------------------------------

    virtual std::uint64_t weights() const { return tables_.postings.edges(); }
    virtual double rating(const Row&) const { return 1; }  // share of its vote that a feature has
    virtual double weight(std::uint32_t, std::uint32_t) const { return 0; }

    // Call the function with each class that has a weight for the feature, and the weight.
    virtual void each_weight(std::uint32_t,
                             const std::function<void(std::uint32_t, double)>&) const {}

    // The numbers of features with 0, 1, ... weights; those with 0 need not be counted.
    virtual const Outdegrees& outdegrees() const { return tables_.postings.outdegrees(); }

    // --- sizes and state -----------------------------------------------------------------------

    // Bytes by count, beyond those of the tables: of all but classes, and of classes alone. The
    // same for a learner that grew and one that was loaded.
    virtual std::uint64_t bytes() const { return 0; }
    virtual std::uint64_t class_bytes() const { return 0; }
    virtual std::size_t resident_bytes() const { return 0; }

    // Check a row that was loaded; std::invalid_argument "section: fault".
    virtual void check_row(const Row& row, const Postings::ConstEdges&) const {
        need(row.mass == 0, "feature_mass", "a feature mass is not a mass");
    }

    virtual bool has_constraints() const { return false; }  // stored examples keep them

    // The least number of events that named a class.
    virtual std::uint64_t least_learned() const { return 1; }

    // Size, dump or load the learner's own sections; when loading, after the tables. Other threads
    // may do so too: only loading changes the learner.
    virtual void visit(SnapshotVisitor& visitor) {
        visit_counts(visitor, counts_);
        if (visitor.is_loading())
            need(counts_[0] == 0 && counts_[3] == 0, "counts", OTHER_LEARNER);
    }

protected:
    // Four numbers of the learner's own; the third is the state of its random generator.
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
