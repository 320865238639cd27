// The engine: a learner that runs one algorithm on its own tables, behind a lock.
//
//   bytes or CSR row -> ExampleReader -> Preprocessing -> Algorithm::rank
//                                      -> Trainer -> Algorithm::learn, replay, eviction
//
// The parts are in storage/ (tables), pipeline/ (steps before and after the algorithm), learners/
// and snapshot/; only learners/registry.hpp knows the algorithms by name.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine_inspection.hpp"
#include "learners/registry.hpp"
#include "learner.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/eviction.hpp"
#include "pipeline/example_reader.hpp"
#include "pipeline/neighbors.hpp"
#include "pipeline/preprocessing.hpp"
#include "pipeline/replay.hpp"
#include "pipeline/state_lock.hpp"
#include "pipeline/trainer.hpp"
#include "row_outcomes.hpp"
#include "storage/tables.hpp"
#include "taxonomy/taxonomy.hpp"

namespace manyclass {

// Learner documents the functions. A change waits for the current readers and blocks later ones.
class Engine final : public Learner {
public:
    // Throw std::invalid_argument if the name of the learner is unknown or an option is missing.
    Engine(std::string_view learner, const OptionValues& options, std::uint64_t hash_seed,
           std::shared_ptr<Taxonomy> taxonomy)
        : tables_(hash_seed, std::move(taxonomy)),
          algorithm_(registered(learner).make(tables_, seed_of(options), options)),
          replay_(tables_, preprocessing_, seed_of(options)) {
        visit_options(options);
        neighbors_.configured(true);
        trainer_.limit_replay();
    }

    // Return the names of all options that an engine with this algorithm reads; empty for an
    // unknown name.
    static std::vector<std::string> option_names(std::string_view learner) {
        const LearnerType* type = learner_type_of(learner);
        if (type == nullptr) return {};
        OptionNames known;
        std::uint64_t seed;
        known("seed", seed);
        Limits().visit_options(known);
        Preprocessing().visit_options(known);
        Neighbors::visit_options(known);
        type->visit_options(known);
        return known.names;
    }

    void configure(const OptionValues& options) override {
        StateLock::ChangeNow change(lock_);
        const Preprocessing before = preprocessing_;
        visit_options(options);
        algorithm_->configure(options);
        trainer_.configured(scratch(), preprocessing_.damps_as(before));
        change.done();
    }

    // --- ranking -------------------------------------------------------------------------------

    void rank(std::string_view instance, std::uint32_t k, double threshold,
              std::vector<Ranked>& best, std::string& names) const override {
        const StateLock::Read lock(lock_);
        algorithm_->rank(read(instance), k, threshold, best);
        append_names(best, names);
    }

    void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best,
                    std::string& names) const override {
        const StateLock::Read lock(lock_);
        algorithm_->rank_among(read(instance), tables_.known_classes(among), k, threshold, best);
        append_names(best, names);
    }

    void rank_block(const std::vector<std::string_view>& instances, std::size_t begin,
                    std::uint32_t k, std::chrono::duration<double> time,
                    RankedBlock& block) const override {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        const StateLock::Read lock(lock_);
        block.fill(instances, begin, time, [&](std::string_view instance,
                                               std::vector<Ranked>& best, std::string& names) {
            algorithm_->rank(read(instance), k, ANY, best);
            append_names(best, names);
        });
    }

    void rank_csr(const CsrRows& rows, std::uint32_t k, std::int32_t* ids,
                  double* scores) const override {
        constexpr std::int64_t BLOCK = 256;  // a waiting change gets its turn between blocks
        for (std::int64_t begin = 0; begin < rows.count; begin += BLOCK) {
            const View view(*this);
            std::int64_t at = begin * k;
            view.rank_rows(rows, begin, std::min(rows.count, begin + BLOCK), k,
                           [&](const std::vector<Ranked>& best) {
                               for (std::uint32_t i = 0; i < k; ++i, ++at) {
                                   const bool there = i < best.size();
                                   ids[at] = there ? static_cast<std::int32_t>(best[i].cls) : -1;
                                   scores[at] = there ? best[i].score : 0.0;
                               }
                           });
        }
    }

    // The engine locked for reading, for several readings of one state.
    class View {
    public:
        explicit View(const Engine& engine) : engine_(engine), lock_(engine.lock_) {}

        const Tables& tables() const { return engine_.tables_; }

        // An instance, preprocessed; valid until this thread reads another, of any engine.
        const Example& read(std::string_view instance) const { return engine_.read(instance); }
        const Example& read(const CsrRows& rows, std::int64_t row) const {
            Example& example = scratch();
            const auto in_use = rows.columns->meet(2 * engine_.number_, tables().features);
            const ExampleReader reader = engine_.reader();
            reader.read_csr(example.active, rows, row);
            reader.prefetch_edges(example.active);
            engine_.prepare(example);
            return example;
        }

        // Set `ids` to those of the true classes of a row, NO_ID for an unknown one.
        void read_classes(const CsrRows& classes, std::int64_t row,
                          std::vector<std::uint32_t>& ids) const {
            const auto in_use = classes.columns->meet(2 * engine_.number_ + 1, tables().classes);
            engine_.read_classes(classes, row, ids);
        }

        void rank(const Example& example, std::uint32_t k, std::vector<Ranked>& best) const {
            engine_.algorithm_->rank(example, k, -std::numeric_limits<double>::infinity(), best);
        }

        // Of the given classes alone: ids, each once.
        void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                        std::vector<Ranked>& best) const {
            engine_.algorithm_->rank_among(example, classes, static_cast<std::uint32_t>(-1),
                                         -std::numeric_limits<double>::infinity(), best);
        }

        std::vector<double> probabilities(const Example& example,
                                          const std::vector<std::uint32_t>& classes) const {
            return engine_.algorithm_->probabilities(example, classes);
        }

        // Rank rows in order: `visit` is called with the k best classes of each. While one row is
        // scored the edges of the next and the counters of the one after it are on their way.
        template <class F>
        void rank_rows(const CsrRows& rows, std::int64_t begin, std::int64_t end, std::uint32_t k,
                       F&& visit) const {
            std::vector<Ranked> best;
            std::vector<ActiveFeature> coming[2];
            Example& example = scratch();
            const ExampleReader reader = engine_.reader();
            const auto in_use = rows.columns->meet(2 * engine_.number_, tables().features);
            const auto read_row = [&](std::int64_t row, std::vector<ActiveFeature>& active) {
                if (row < end) reader.read_csr(active, rows, row);
                else active.clear();
            };
            read_row(begin, coming[0]);
            read_row(begin + 1, coming[1]);
            reader.prefetch_edges(coming[0]);
            for (std::int64_t row = begin; row < end; ++row) {
                example.active.swap(coming[0]);
                coming[0].swap(coming[1]);
                reader.prefetch_edges(coming[0]);
                read_row(row + 2, coming[1]);
                engine_.prepare(example);
                rank(example, k, best);
                visit(best);
            }
        }

    private:
        const Engine& engine_;
        const StateLock::Read lock_;
    };

    void explain(std::string_view instance, const std::vector<std::string_view>& classes,
                 std::size_t limit, std::vector<Contributions>& explained) const override {
        const StateLock::Read lock(lock_);
        const Example& example = read(instance);
        std::vector<std::uint32_t> ids;
        for (const std::string_view name : classes) {
            ids.push_back(tables_.classes.find(name));
            algorithm_->explain(example, ids.back(), explained.emplace_back());
        }
        neighbors_.explain(example, ids, explained);
        for (Contributions& each : explained) keep_heaviest(each, limit);
    }

    void paths(std::string_view instance, const std::vector<std::string_view>& classes,
               std::size_t limit, std::vector<std::vector<PathNode>>& paths) const override {
        const StateLock::Read lock(lock_);
        const Example& example = read(instance);
        for (const std::string_view name : classes) {
            paths.push_back(algorithm_->path(example, tables_.classes.find(name)));
            for (PathNode& node : paths.back()) keep_heaviest(node.moved, limit);
        }
    }

    void probabilities(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::vector<double>& found) const override {
        const StateLock::Read lock(lock_);
        const Example& example = read(instance);
        std::vector<std::uint32_t> ids;
        for (const std::string_view name : classes) ids.push_back(tables_.classes.find(name));
        found = algorithm_->probabilities(example, ids);
    }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(std::string_view instance, const std::vector<std::string_view>& true_classes,
                  const std::vector<std::string_view>& rejected, double weight,
                  bool is_first_epoch, RankingBefore* before = nullptr) override {
        StateLock::Change change(lock_);
        Example& example = scratch();
        reader().read_wire(example.active, instance);
        example.classes.clear();
        for (const std::string_view cls : true_classes)
            example.classes.push_back(tables_.classes.find(cls));
        example.rejected.clear();
        for (const std::string_view cls : rejected)
            if (const std::uint32_t id = tables_.classes.find(cls); id != NO_ID)
                example.rejected.push_back(id);
        example.weight = static_cast<double>(static_cast<float>(weight));  // as rows have it
        example.before = before;
        trainer_.prepare(example);
        change.begin();
        const Outcome outcome = trainer_.learn(
            example, is_first_epoch, [&](std::size_t at) { return true_classes[at]; },
            [](const ActiveFeature&) {}, [](std::size_t, std::uint32_t) {});
        change.done();
        return outcome;
    }

    void learn_csr(const CsrRows& rows, const CsrRows& classes, const float* weights,
                   bool is_first_epoch, const RowOutcomes& outcomes) override {
        learn_rows(rows, classes, outcomes, [&](std::int64_t row, RankingBefore* before) {
            const float weight = weights == nullptr ? 1 : weights[row];
            return learn_csr(rows, classes, row, weight, is_first_epoch, before);
        });
    }

    // Learn one row.
    Outcome learn_csr(const CsrRows& rows, const CsrRows& classes, std::int64_t row, float weight,
                      bool is_first_epoch, RankingBefore* before = nullptr) {
        StateLock::ChangeNow change(lock_);
        Example& example = scratch();
        const ExampleReader reader = this->reader();
        const auto in_use = rows.columns->meet(2 * number_, tables_.features);
        const auto classes_in_use = classes.columns->meet(2 * number_ + 1, tables_.classes);
        reader.read_csr(example.active, rows, row);
        reader.prefetch_edges(example.active);
        reader.prefetch_rows(rows, row + 1);
        reader.prefetch_ids(rows, row + 2);
        example.rejected.clear();
        read_classes(classes, row, example.classes);
        example.weight = static_cast<double>(weight);
        example.before = before;
        trainer_.prepare(example);
        const Outcome outcome = trainer_.learn(
            example, is_first_epoch,
            [&](std::size_t at) { return classes.columns->name(column(classes, row, at)); },
            [&](const ActiveFeature& each) {
                rows.columns->set(each.column, each.feature, tables_.features);
            },
            [&](std::size_t at, std::uint32_t id) {
                classes.columns->set(column(classes, row, at), id, tables_.classes);
            });
        change.done();
        return outcome;
    }

    bool build_csr(const CsrRows& rows, const CsrRows& classes) override {
        StateLock::ChangeNow change(lock_);
        Example& example = scratch();
        const ExampleReader reader = this->reader();
        const auto in_use = rows.columns->meet(2 * number_, tables_.features);
        const auto classes_in_use = classes.columns->meet(2 * number_ + 1, tables_.classes);
        const auto read_row = [&](std::int64_t row) {
            reader.read_csr(example.active, rows, row);
            example.rejected.clear();
            read_classes(classes, row, example.classes);
        };
        const auto class_name = [&](std::int64_t row, std::size_t at) {
            return classes.columns->name(column(classes, row, at));
        };
        const bool is_built = trainer_.build(example, rows.count, read_row, class_name);
        change.done();
        return is_built;
    }

    void find_nodes(const std::vector<std::string_view>& names, bool is_before_learning) override {
        StateLock::ChangeNow change(lock_);
        trainer_.place(names, is_before_learning);
        change.done();
    }

    void find_all_nodes() override {
        const ClassTree& tree = tables_.class_nodes.tree();
        std::vector<std::string_view> names;
        for (std::uint32_t node = 0; node < tree.end(); ++node)
            if (tree.alive(node)) names.push_back(tree.name(node));
        find_nodes(names, false);
    }

    // --- forgetting ----------------------------------------------------------------------------

    bool forget_class(std::string_view name) override {
        StateLock::ChangeNow change(lock_);
        const std::uint32_t id = tables_.classes.find(name);
        if (id != NO_ID) {
            trainer_.forget_class(id);
            eviction_.sweep();
        }
        change.done();
        return id != NO_ID;
    }

    bool rename_class(std::string_view name, std::string_view to) override {
        StateLock::ChangeNow change(lock_);
        const std::uint32_t id = tables_.classes.find(name);
        const bool can = id != NO_ID && tables_.classes.find(to) == NO_ID;
        if (can) tables_.rename_class(id, to);
        change.done();
        return can;
    }

    bool forget_feature(std::string_view name) override {
        StateLock::ChangeNow change(lock_);
        const std::uint32_t id = tables_.features.find(name);
        if (id != NO_ID) eviction_.remove_feature(id);
        change.done();
        return id != NO_ID;
    }

    std::size_t drop_example(std::string_view instance,
                             const std::vector<std::string_view>& true_classes) override {
        StateLock::ChangeNow change(lock_);
        Example& example = scratch();
        reader().read_wire(example.active, instance);
        example.classes.clear();
        for (const std::string_view cls : true_classes)
            example.classes.push_back(tables_.classes.find(cls));
        const std::size_t dropped = replay_.drop(example);
        change.done();
        return dropped;
    }

    bool takes_signs() const override { return algorithm_->takes_signs(); }

    bool can_sparsify() const override { return algorithm_->can_sparsify(); }

    std::uint64_t sparsify(std::uint64_t wanted) override {
        StateLock::ChangeNow change(lock_);
        while (!tables_.retired.empty()) eviction_.sweep();
        const std::uint64_t before = tables_.postings.edges();
        algorithm_->sparsify(wanted);
        change.done();
        return before - tables_.postings.edges();
    }

    const Inspection& inspection() const override { return inspection_; }

    // Instances learned so far.
    std::uint64_t learned() const {
        const StateLock::Read lock(lock_);
        return tables_.learned;
    }

    std::vector<MemberView> members() const override { return {}; }

    StateLock& lock() override { return lock_; }

    // --- state ---------------------------------------------------------------------------------

    std::vector<Section> measure(std::uint64_t& changes) override {
        const StateLock::Read lock(lock_);
        changes = lock_.changes();
        SnapshotVisitor visitor;
        visit(visitor);
        return visitor.sections();
    }

    bool dump(const std::vector<Section>& sections, std::uint64_t changes) override {
        const StateLock::Read lock(lock_);
        if (changes != lock_.changes()) return false;
        SnapshotVisitor visitor(SnapshotVisitor::Pass::dump, sections);
        visit(visitor);
        return true;
    }

    void load(const std::vector<Section>& sections) override {
        SnapshotVisitor visitor(SnapshotVisitor::Pass::load, sections);
        visit(visitor);
    }

private:
    static const LearnerType& registered(std::string_view name) {
        const LearnerType* type = learner_type_of(name);
        if (type == nullptr) throw std::invalid_argument("learner: it is unknown");
        return *type;
    }

    static std::uint64_t seed_of(const OptionValues& options) {
        std::uint64_t seed = 0;
        options("seed", seed);
        return seed;
    }

    void visit_options(const OptionValues& options) {
        limits_.visit_options(options);
        preprocessing_.visit_options(options);
        neighbors_.visit_options(options);
    }

    // Scratch memory of a thread. Not inlined, see LinearScratch.
    [[gnu::noinline]] static Example& scratch() {
        static thread_local Example example;
        return example;
    }

    ExampleReader reader() const {
        return {tables_, algorithm_->most_edges_read(), algorithm_->takes_signs()};
    }

    // An instance, preprocessed, with the votes of its neighbors.
    const Example& read(std::string_view instance) const {
        Example& example = scratch();
        reader().read_wire(example.active, instance);
        prepare(example);
        return example;
    }

    // Preprocess an instance that was read, and give it the votes of its neighbors.
    void prepare(Example& example) const {
        preprocessing_.apply(example.active, tables_);
        neighbors_.vote(example);
    }

    void append_names(const std::vector<Ranked>& ranked, std::string& names) const {
        for (const Ranked& each : ranked) {
            const std::string_view name = tables_.classes.name(each.cls);
            put(names, static_cast<std::uint32_t>(name.size()));
            names.append(name);
        }
    }

    // The column of a row's entry.
    static std::size_t column(const CsrRows& rows, std::int64_t row, std::size_t at) {
        const std::int64_t begin = rows.indptr[row];
        return static_cast<std::size_t>(rows.indices[begin + static_cast<std::int64_t>(at)]);
    }

    void read_classes(const CsrRows& classes, std::int64_t row,
                      std::vector<std::uint32_t>& ids) const {
        ids.clear();
        for (std::int64_t at = classes.indptr[row]; at < classes.indptr[row + 1]; ++at)
            ids.push_back(classes.columns->id(static_cast<std::size_t>(classes.indices[at]),
                                              tables_.classes));
    }

    void visit(SnapshotVisitor& visitor) {
        tables_.visit(visitor, algorithm_->has_edges(), algorithm_->has_nodes(),
                      algorithm_->least_learned(),
                      [this](const Row& row, const Postings::ConstEdges& edges) {
                          algorithm_->check_row(row, edges);
                      });
        eviction_.visit(visitor);
        neighbors_.visit(visitor);
        algorithm_->visit(visitor);
        if (visitor.is_loading()) trainer_.limit_replay();
        replay_.visit(visitor, algorithm_->has_constraints(), algorithm_->takes_signs());
    }

    // Tells this engine from every other of the process, also from one that lived at its address.
    static std::uint64_t next_number() {
        static std::atomic<std::uint64_t> made{0};
        return ++made;
    }

    StateLock lock_;
    const std::uint64_t number_ = next_number();
    Limits limits_;
    Preprocessing preprocessing_;
    Tables tables_;
    std::unique_ptr<Algorithm> algorithm_;
    Replay replay_;
    Neighbors neighbors_{tables_, replay_};
    Eviction eviction_{tables_, *algorithm_, replay_, limits_};
    Trainer trainer_{tables_, *algorithm_, replay_, neighbors_,
                     eviction_, limits_, preprocessing_};
    EngineInspection inspection_{lock_, tables_, *algorithm_, replay_, eviction_, neighbors_};
};

}  // namespace manyclass
