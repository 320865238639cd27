// A learner: it ranks, learns, forgets, lists and dumps. The two kinds are an Engine (engine.hpp),
// which runs one algorithm on its own tables, and a Committee (ensemble/committee.hpp) of engines
// that vote. Other modules call only this interface, once for an instance or for many.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inspection.hpp"
#include "learners/explanation.hpp"
#include "learners/options.hpp"
#include "pipeline/ranking.hpp"
#include "rank_counts.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

class Learner;
class StateLock;
struct CsrRows;
struct RowOutcomes;

// A member of a committee: its learner, its progressive accuracy, and the number and counted bytes
// of the events in its shuffle buffer. The committee shares `progress`: learning changes it.
struct MemberView {
    std::shared_ptr<Learner> learner;
    std::shared_ptr<RankCounts> progress;
    std::uint64_t waiting, waiting_bytes;
};

// Ownership: a learner owns its state; results are copies.
// Threads: any number may call const functions at once. One thread at a time may change the
// learner; the others wait.
// Instances are passed in wire form, classes by name.
class Learner {
public:
    virtual ~Learner() = default;
    Learner(const Learner&) = delete;
    Learner& operator=(const Learner&) = delete;

    // Replace the options; the kind of learner must be the same. The state stays valid.
    virtual void configure(const OptionValues& options) = 0;

    // --- ranking -------------------------------------------------------------------------------

    // Find the k best classes of an instance with scores above the threshold, best first. `names`
    // receives their names, each as its size (u32) and bytes.
    virtual void rank(std::string_view instance, std::uint32_t k, double threshold,
                      std::vector<Ranked>& best, std::string& names) const = 0;

    // Rank only the classes `among`; unknown names are left out.
    virtual void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                            std::uint32_t k, double threshold, std::vector<Ranked>& best,
                            std::string& names) const = 0;

    // Rank a block of instances, see RankedBlock. The lock is released after each block, so a
    // change by another thread waits for one block at most.
    virtual void rank_block(const std::vector<std::string_view>& instances, std::size_t begin,
                            std::uint32_t k, std::chrono::duration<double> time,
                            RankedBlock& block) const = 0;

    // Rank all rows. `ids` and `scores` receive k entries for each row, padded with -1 and 0.
    virtual void rank_csr(const CsrRows& rows, std::uint32_t k, std::int32_t* ids,
                          double* scores) const = 0;

    // Find, for each class, what each active feature adds to its score: at most `limit` features,
    // largest absolute contribution first.
    virtual void explain(std::string_view instance, const std::vector<std::string_view>& classes,
                         std::size_t limit, std::vector<Contributions>& explained) const = 0;

    // Find the path to each class, with at most `limit` features a node; empty without a hierarchy.
    virtual void paths(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::size_t limit, std::vector<std::vector<PathNode>>& paths) const = 0;

    // Find the probability of each class; 0 if the learner has no probabilities.
    virtual void probabilities(std::string_view instance,
                               const std::vector<std::string_view>& classes,
                               std::vector<double>& found) const = 0;

    // --- learning ------------------------------------------------------------------------------

    // Learn an instance. `true_classes` and `rejected` are unique names, and no name is in both.
    // Unknown names in `rejected` are ignored: they create no classes. `before` receives the ranking
    // before learning; nullptr: it is not wanted.
    virtual Outcome learn(std::string_view instance,
                          const std::vector<std::string_view>& true_classes,
                          const std::vector<std::string_view>& rejected, double weight,
                          bool is_first_epoch, RankingBefore* before = nullptr) = 0;

    // Learn rows in order. `weights` has one weight for each row; nullptr: 1 for all. Another thread
    // may change the learner between two rows.
    virtual void learn_csr(const CsrRows& rows, const CsrRows& classes, const float* weights,
                           bool is_first_epoch, const RowOutcomes& outcomes) = 0;

    // Build a label tree from rows that will be learned next; see Trainer::build. False if the
    // learner is not built from rows, or has learned already.
    virtual bool build_csr(const CsrRows& rows, const CsrRows& classes) = 0;

    // Read the nodes of these classes from the taxonomy, which has changed.
    // `is_before_learning`: the event that changed it will be learned next.
    virtual void find_nodes(const std::vector<std::string_view>& names,
                            bool is_before_learning) = 0;

    // Read every node of the taxonomy; for a new learner.
    virtual void find_all_nodes() = 0;

    // --- forgetting ----------------------------------------------------------------------------

    virtual bool forget_class(std::string_view name) = 0;

    // Rename a class. Return false, and change nothing, if it is unknown or the new name is in use.
    // Neither name may be in the taxonomy.
    virtual bool rename_class(std::string_view name, std::string_view to) = 0;

    virtual bool forget_feature(std::string_view name) = 0;

    // Remove an instance with these true classes from the replay buffer and the shuffle buffers.
    // Return how many copies were removed.
    virtual std::size_t drop_example(std::string_view instance,
                                     const std::vector<std::string_view>& true_classes) = 0;

    // True if the learner uses values below 0; otherwise it treats them as absent.
    virtual bool takes_signs() const = 0;

    virtual bool can_sparsify() const = 0;

    // Keep only the `wanted` heaviest edges. Return how many were removed.
    virtual std::uint64_t sparsify(std::uint64_t wanted) = 0;

    // Sizes, counters, weights and listings.
    virtual const Inspection& inspection() const = 0;

    // The members of a committee; empty for an engine.
    virtual std::vector<MemberView> members() const = 0;

    // The lock of the state (of a committee's table of classes); for tests of waiting threads.
    virtual StateLock& lock() = 0;

    // --- state ---------------------------------------------------------------------------------

    // Return the sections of the state with their sizes. `changes` receives the number of changes
    // so far.
    virtual std::vector<Section> measure(std::uint64_t& changes) = 0;

    // Copy the state into sections of the measured sizes. Return false if the state has changed
    // since `measure` returned `changes`.
    virtual bool dump(const std::vector<Section>& sections, std::uint64_t changes) = 0;

    // Fill a new learner. Throw std::invalid_argument("section: fault") if the sections contradict
    // each other. Every check happens here: no later call fails because of a loaded state.
    virtual void load(const std::vector<Section>& sections) = 0;

protected:
    Learner() = default;
};

}  // namespace manyclass
