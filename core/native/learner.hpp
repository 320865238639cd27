// A model: it ranks, learns, forgets, lists and dumps. The two kinds are an Engine (engine.hpp),
// which is one learner on its tables, and a Committee (ensemble/committee.hpp) of engines that
// vote. Other modules know neither: they call this interface, once for an instance or for many.
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

class Model;
class StateLock;
struct CsrRows;

// A member of a committee by itself: its model, its progressive accuracy, and the events in its
// shuffle buffer with their bytes as counted. The counts are the member's own, which learning
// changes.
struct MemberView {
    std::shared_ptr<Model> model;
    std::shared_ptr<RankCounts> progress;
    std::uint64_t waiting, waiting_bytes;
};

// Ownership: the model owns its state; results are copies.
// Threads: any number may read at once; one at a time may change, others wait for it.
// An instance is given in wire form, classes by their names.
class Model {
public:
    virtual ~Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    // Take other options of the same learner: the state keeps its meaning.
    virtual void configure(const OptionValues& options) = 0;

    // --- ranking -------------------------------------------------------------------------------

    // The k best classes of an instance, best first, with their names appended.
    virtual void rank(std::string_view instance, std::uint32_t k, double threshold,
                      std::vector<Ranked>& best, std::string& names) const = 0;

    // The same of the classes of these names alone; unknown names have no place.
    virtual void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                            std::uint32_t k, double threshold, std::vector<Ranked>& best,
                            std::string& names) const = 0;

    // Rank a block of instances, see RankedBlock. A change of another thread waits for this block
    // at most, not for all instances.
    virtual void rank_block(const std::vector<std::string_view>& instances, std::size_t begin,
                            std::uint32_t k, std::chrono::duration<double> time,
                            RankedBlock& block) const = 0;

    // Rank all rows; class ids and scores are written k to a row, padded with -1 and 0.
    virtual void rank_csr(const CsrRows& rows, std::uint32_t k, std::int32_t* ids,
                          double* scores) const = 0;

    // For each class what each active feature adds to its score, heaviest first, at most `limit`.
    virtual void explain(std::string_view instance, const std::vector<std::string_view>& classes,
                         std::size_t limit, std::vector<Contributions>& explained) const = 0;

    // For each class its path, with at most `limit` features a node; none without a hierarchy.
    virtual void paths(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::size_t limit, std::vector<std::vector<PathNode>>& paths) const = 0;

    // The probability of each class, 0 where the learner has none.
    virtual void probabilities(std::string_view instance,
                               const std::vector<std::string_view>& classes,
                               std::vector<double>& found) const = 0;

    // --- learning ------------------------------------------------------------------------------

    // Learn an instance; `true_classes` and `rejected` are unique names, no name is in both. Names
    // of `rejected` that are not known stay so.
    virtual Outcome learn(std::string_view instance,
                          const std::vector<std::string_view>& true_classes,
                          const std::vector<std::string_view>& rejected, double weight,
                          bool is_first_epoch) = 0;

    // Learn rows in order, with a weight each; nullptr: all of 1. `ranks` and, unless it is
    // nullptr, `top_two` receive their outcomes. Another thread may change the model between two
    // rows.
    virtual void learn_csr(const CsrRows& rows, const CsrRows& classes, const float* weights,
                           bool is_first_epoch, std::int32_t* ranks, TopTwoScores* top_two) = 0;

    // Build the learner from rows that are about to be learned; see Trainer::build.
    virtual bool build_csr(const CsrRows& rows, const CsrRows& classes) = 0;

    // Look for the nodes of these classes in the taxonomy, which has changed, maybe by an event
    // that will be learned next.
    virtual void find_nodes(const std::vector<std::string_view>& names,
                            bool is_before_learning) = 0;

    // The same of every node of the taxonomy, for a new model.
    virtual void find_all_nodes() = 0;

    // --- forgetting ----------------------------------------------------------------------------

    virtual bool forget_class(std::string_view name) = 0;

    // Give a class a name that none has; false, with nothing changed, if it cannot be. Neither may
    // be in the taxonomy.
    virtual bool rename_class(std::string_view name, std::string_view to) = 0;

    virtual bool forget_feature(std::string_view name) = 0;

    // Keep an instance with these true classes no longer, to replay it or to learn it later. How
    // often it was kept.
    virtual std::size_t drop_example(std::string_view instance,
                                     const std::vector<std::string_view>& true_classes) = 0;

    // True if values below 0 count; else they are absent.
    virtual bool takes_signs() const = 0;

    virtual bool can_sparsify() const = 0;

    // Keep so many edges, the heaviest. How many went.
    virtual std::uint64_t sparsify(std::uint64_t wanted) = 0;

    // Sizes, counters, weights and listings.
    virtual const Inspection& inspection() const = 0;

    // The members of a committee; none of another model.
    virtual std::vector<MemberView> members() const = 0;

    // The lock of the state, of a committee that of its table; for tests of waiting threads.
    virtual StateLock& lock() = 0;

    // --- state ---------------------------------------------------------------------------------

    // The sections of the state with their sizes; `changes` differs once the state has changed.
    virtual std::vector<Section> measure(std::uint64_t& changes) = 0;

    // Copy the state into sections of the measured sizes; false when it has changed since.
    virtual bool dump(const std::vector<Section>& sections, std::uint64_t changes) = 0;

    // Fill a new model; std::invalid_argument "section: fault" when the sections contradict
    // themselves. A state that is loaded was reachable by events, or behaves as one that was: no
    // later call can fail because of it.
    virtual void load(const std::vector<Section>& sections) = 0;

protected:
    Model() = default;
};

}  // namespace manyclass
