// A committee: engines that vote on each ranking and learn the same events.
//
//   event -> Ensemble: ranking, ranks of the true classes -> the table learns the classes
//         -> each member that takes the event: its engine, or its shuffle buffer
//            and then its engine
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "ensemble/committee_inspection.hpp"
#include "ensemble/ensemble.hpp"
#include "ensemble/learn_event.hpp"
#include "ensemble/member.hpp"
#include "ensemble/rows_of_parts.hpp"
#include "learner.hpp"
#include "pipeline/state_lock.hpp"
#include "row_outcomes.hpp"

namespace manyclass {

// Learner documents the functions.
//
// Every event reaches every member; `subsample` and `shuffle` decide whether and when it learns it.
// The table is an engine of its own, which learns the classes of all events and no features: a
// class evicted from it is not ranked, even if a member still has it.
//
// Threads: a change waits for other changes and for inspections, not for rankings, which may have
// votes of members that have learned an event and of others that have not. The lock of the
// committee is taken before those of the engines.
class Committee final : public Learner {
public:
    // The parts of the options are those of the members, then those of the table.
    Committee(const OptionValues& options, std::uint64_t hash_seed,
              const std::shared_ptr<Taxonomy>& taxonomy)
        : table_(engine_of(options.parts().back(), hash_seed, taxonomy)),
          members_(members_of(options, hash_seed, taxonomy)),
          ensemble_(table_.get(), engines_of(members_)) {
        take_options(options);
    }

    // The names of the options that the committee itself reads.
    static std::vector<std::string> option_names() {
        OptionNames known;
        Vote vote{};
        visit_options(known, vote);
        return known.names;
    }

    void configure(const OptionValues& options) override {
        StateLock::ChangeNow change(lock_);
        table_->configure(options.parts().back());
        for (std::size_t at = 0; at < members_.size(); ++at)
            members_[at].configure(options.parts()[at]);
        take_options(options);
        change.done();
    }

    // --- ranking -------------------------------------------------------------------------------

    void rank(std::string_view instance, std::uint32_t k, double threshold,
              std::vector<Ranked>& best, std::string& names) const override {
        ensemble_.rank(instance, vote_, k, threshold, best, names);
    }

    void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best,
                    std::string& names) const override {
        ensemble_.rank_among(instance, among, vote_, k, threshold, best, names);
    }

    void rank_block(const std::vector<std::string_view>& instances, std::size_t begin,
                    std::uint32_t k, std::chrono::duration<double> time,
                    RankedBlock& block) const override {
        ensemble_.rank_block(instances, begin, vote_, k, time, block);
    }

    void rank_csr(const CsrRows& rows, std::uint32_t k, std::int32_t* ids,
                  double* scores) const override {
        ensemble_.rank_csr(RowsOfParts(rows, 1 + members_.size()), vote_, k, ids, scores);
    }

    // For each class the part of each feature in the mean of shares: the explanations of the
    // members are divided by the spans of their scores; with the vote by probability they stay
    // log-odds. The parts add up to the score of the vote by score, unless a member has negative
    // scores: its shares are then measured from its lowest score.
    void explain(std::string_view instance, const std::vector<std::string_view>& classes,
                 std::size_t limit, std::vector<Contributions>& explained) const override {
        std::vector<double> spans(members_.size(), 1.0);
        if (vote_ != Vote::probability) {
            spans.clear();
            ensemble_.spans(instance, spans);
        }
        std::vector<WeightSums> sums(classes.size());
        const std::size_t features = FeatureReader(instance).left();
        for (std::size_t at = 0; at < members_.size(); ++at) {
            if (spans[at] == 0) continue;
            std::vector<Contributions> own;
            members_[at].engine().explain(instance, classes, features, own);
            for (std::size_t cls = 0; cls < classes.size(); ++cls)
                for (const auto& [feature, part] : own[cls])
                    sums[cls].add(feature, part / spans[at] / count());
        }
        for (WeightSums& each : sums) explained.push_back(std::move(each).heaviest(limit));
    }

    // None: each member has its own.
    void paths(std::string_view, const std::vector<std::string_view>& classes, std::size_t,
               std::vector<std::vector<PathNode>>& paths) const override {
        paths.resize(classes.size());
    }

    // The means of the members' probabilities.
    void probabilities(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::vector<double>& found) const override {
        found.assign(classes.size(), 0.0);
        for (const Member& each : members_) {
            std::vector<double> own;
            each.engine().probabilities(instance, classes, own);
            for (std::size_t at = 0; at < own.size(); ++at) found[at] += own[at];
        }
        for (double& each : found) each /= count();
    }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(std::string_view instance, const std::vector<std::string_view>& true_classes,
                  const std::vector<std::string_view>& rejected, double weight,
                  bool is_first_epoch, RankingBefore* before = nullptr) override {
        return learn_one(OfWire{{instance, true_classes, rejected, weight}}, is_first_epoch,
                         before);
    }

    void learn_csr(const CsrRows& rows, const CsrRows& classes, const float* weights,
                   bool is_first_epoch, const RowOutcomes& outcomes) override {
        const LabelledRows given(rows, classes, 1 + members_.size());
        learn_rows(rows, classes, outcomes, [&](std::int64_t row, RankingBefore* before) {
            const float weight = weights == nullptr ? 1 : weights[row];
            return learn_one(OfRow{given, row, weight}, is_first_epoch, before);
        });
    }

    // True if the tree of any member was built.
    bool build_csr(const CsrRows& rows, const CsrRows& classes) override {
        StateLock::ChangeNow change(lock_);
        bool is_built = false;
        if (table_->learned() == 0) {
            const LabelledRows given(rows, classes, 1 + members_.size());
            for (std::size_t at = 0; at < members_.size(); ++at)
                is_built |= members_[at].engine().build_csr(given.rows.of_member(at),
                                                            given.classes.of_member(at));
        }
        change.done();
        return is_built;
    }

    void find_nodes(const std::vector<std::string_view>& names, bool is_before_learning) override {
        change_each([&](Engine& each) { each.find_nodes(names, is_before_learning); });
    }

    void find_all_nodes() override {
        change_each([](Engine& each) { each.find_all_nodes(); });
    }

    // --- forgetting ----------------------------------------------------------------------------

    bool forget_class(std::string_view name) override {
        StateLock::ChangeNow change(lock_);
        bool is_known = table_->forget_class(name);
        for (Member& each : members_) is_known |= each.forget_class(name);
        change.done();
        return is_known;
    }

    bool rename_class(std::string_view name, std::string_view to) override {
        StateLock::ChangeNow change(lock_);
        bool is_known = table_->rename_class(name, to);
        for (Member& each : members_) is_known |= each.rename_class(name, to);
        change.done();
        return is_known;
    }

    bool forget_feature(std::string_view name) override {
        StateLock::ChangeNow change(lock_);
        bool is_known = false;
        for (Member& each : members_) is_known |= each.forget_feature(name);
        change.done();
        return is_known;
    }

    std::size_t drop_example(std::string_view instance,
                             const std::vector<std::string_view>& true_classes) override {
        StateLock::ChangeNow change(lock_);
        std::size_t dropped = 0;
        for (Member& each : members_) dropped += each.drop_example(instance, true_classes);
        change.done();
        return dropped;
    }

    // True if values below 0 count for every member.
    bool takes_signs() const override {
        return std::all_of(members_.begin(), members_.end(),
                           [](const Member& each) { return each.engine().takes_signs(); });
    }

    bool can_sparsify() const override { return false; }
    std::uint64_t sparsify(std::uint64_t) override { return 0; }

    const Inspection& inspection() const override { return inspection_; }

    std::vector<MemberView> members() const override {
        const StateLock::Read lock(lock_);
        std::vector<MemberView> views;
        for (const Member& each : members_) views.push_back(each.view());
        return views;
    }

    StateLock& lock() override { return table_->lock(); }

    // --- state ---------------------------------------------------------------------------------

    std::vector<Section> measure(std::uint64_t& changes) override {
        const StateLock::Read lock(lock_);
        std::vector<Section> sections;
        changes = lock_.changes();
        for (std::size_t at = 0; at < members_.size(); ++at) {
            measure_engine(members_[at].engine(), prefix_of(at), sections, changes);
            members_[at].waiting().measure(sections, prefix_of(at));
        }
        measure_engine(*table_, OF_TABLE, sections, changes);
        return sections;
    }

    bool dump(const std::vector<Section>& sections, std::uint64_t changes) override {
        const StateLock::Read lock(lock_);
        std::uint64_t present = lock_.changes() + table_->lock().changes();
        for (const Member& each : members_) present += each.engine().lock().changes();
        if (changes != present) return false;
        bool is_whole = true;
        for (std::size_t at = 0; at < members_.size(); ++at) {
            const std::vector<Section> own = sections_of(prefix_of(at), sections);
            Engine& engine = members_[at].engine();
            is_whole &= engine.dump(own, engine.lock().changes());
            members_[at].waiting().dump(&own[own.size() - ShuffleBuffer::SECTIONS]);
        }
        is_whole &= table_->dump(sections_of(OF_TABLE, sections), table_->lock().changes());
        return is_whole;
    }

    void load(const std::vector<Section>& sections) override {
        for (std::size_t at = 0; at < members_.size(); ++at) {
            const std::vector<Section> own = load_engine(members_[at].engine(), prefix_of(at),
                                                         sections);
            members_[at].waiting().load(&own[own.size() - ShuffleBuffer::SECTIONS]);
        }
        load_engine(*table_, OF_TABLE, sections);
    }

private:
    // --- parts ---------------------------------------------------------------------------------

    static std::shared_ptr<Engine> engine_of(const OptionValues& options, std::uint64_t hash_seed,
                                             const std::shared_ptr<Taxonomy>& taxonomy) {
        std::string learner;
        options("learner", learner);
        return std::make_shared<Engine>(learner, options, hash_seed, taxonomy);
    }

    static std::vector<Member> members_of(const OptionValues& options, std::uint64_t hash_seed,
                                          const std::shared_ptr<Taxonomy>& taxonomy) {
        std::vector<Member> members;
        for (std::size_t at = 0; at + 1 < options.parts().size(); ++at) {
            const OptionValues& own = options.parts()[at];
            members.emplace_back(engine_of(own, hash_seed, taxonomy), own);
        }
        return members;
    }

    static std::vector<Engine*> engines_of(const std::vector<Member>& members) {
        std::vector<Engine*> engines;
        for (const Member& each : members) engines.push_back(&each.engine());
        return engines;
    }

    template <class V>
    static void visit_options(V& visit, Vote& vote) {
        visit.choice("vote", vote,
                     {{"majority", Vote::majority},
                      {"rarest", Vote::rarest},
                      {"score", Vote::score},
                      {"probability", Vote::probability}});
    }

    // Each shuffle buffer may have as many bytes as the table.
    void take_options(const OptionValues& options) {
        Vote vote{};
        visit_options(options, vote);
        vote_ = vote;
        options.parts().back()("max_bytes", waiting_limit_);
    }

    double count() const { return static_cast<double>(members_.size()); }

    template <class F>
    void change_each(F&& change_one) {
        StateLock::ChangeNow change(lock_);
        change_one(*table_);
        for (const Member& each : members_) change_one(each.engine());
        change.done();
    }

    // --- learning ------------------------------------------------------------------------------

    // An event to learn, given as an instance and names.
    struct OfWire {
        LearnEvent event;

        bool has_true_classes() const { return !event.classes.empty(); }
        Outcome outcome_of(const Ensemble& ensemble, const Engine::View& table, Vote vote,
                           std::int32_t* ranks, RankingBefore* before) const {
            return ensemble.outcome_of(Ensemble::Wire{event.instance},
                                       table.tables().known_classes(event.classes), vote,
                                       DEEPEST, table, ranks, before);
        }
        void learn_classes(Engine& table) const {
            constexpr std::string_view NOTHING("\0\0\0\0", 4);
            table.learn(NOTHING, event.classes, {}, 1, true);
        }
        Outcome learn(Engine& engine, std::size_t, bool is_first_epoch) const {
            return engine.learn(event.instance, event.classes, event.rejected, event.weight,
                                is_first_epoch);
        }
        std::string bytes() const { return event.bytes(); }
    };

    // An event to learn, given as a row.
    struct OfRow {
        const LabelledRows& given;
        std::int64_t row;
        float weight;

        bool has_true_classes() const { return true; }
        Outcome outcome_of(const Ensemble& ensemble, const Engine::View& table, Vote vote,
                           std::int32_t* ranks, RankingBefore* before) const {
            std::vector<std::uint32_t> ids;
            table.read_classes(given.classes.of_table(), row, ids);
            ids.erase(std::remove(ids.begin(), ids.end(), NO_ID), ids.end());
            return ensemble.outcome_of(Ensemble::Block{given.rows, row, row + 1}, ids, vote,
                                       DEEPEST, table, ranks, before);
        }
        void learn_classes(Engine& table) const {
            table.learn_csr(given.without_features, given.classes.of_table(), row, 1, true);
        }
        Outcome learn(Engine& engine, std::size_t member, bool is_first_epoch) const {
            return engine.learn_csr(given.rows.of_member(member), given.classes.of_member(member),
                                    row, weight, is_first_epoch);
        }
        std::string bytes() const {
            const CsrRows& classes = given.classes.of_table();
            Names names;
            for (std::int64_t at = classes.indptr[row]; at < classes.indptr[row + 1]; ++at)
                names.push_back(classes.columns->name(static_cast<std::size_t>(classes.indices[at])));
            const std::string instance = given.rows.instance(row);
            return LearnEvent(instance, std::move(names), {}, static_cast<double>(weight)).bytes();
        }
    };

    template <class Given>
    Outcome learn_one(const Given& given, bool is_first_epoch, RankingBefore* before) {
        StateLock::Change change(lock_);
        ranks_.resize(members_.size());
        std::uint64_t number;
        Outcome outcome{};
        {
            const Engine::View table(*table_);
            number = table.tables().learned;
            outcome = given.outcome_of(ensemble_, table, vote_, ranks_.data(), before);
        }
        change.begin();
        given.learn_classes(*table_);
        for (std::size_t at = 0; at < members_.size(); ++at) {
            Member& member = members_[at];
            if (is_first_epoch && given.has_true_classes())
                member.progress().add(static_cast<std::uint32_t>(ranks_[at]));
            if (!member.takes(number)) continue;
            outcome.updated |=
                member.is_shuffled()
                    ? member.shuffle(given.bytes(), is_first_epoch, waiting_limit_)
                    : given.learn(member.engine(), at, is_first_epoch).updated;
        }
        change.done();
        return outcome;
    }

    // --- state ---------------------------------------------------------------------------------

    static constexpr const char* OF_TABLE = "table_";
    static std::string prefix_of(std::size_t member) {
        return "member_" + std::to_string(member) + "_";
    }

    static void measure_engine(Engine& engine, const std::string& prefix,
                               std::vector<Section>& sections, std::uint64_t& changes) {
        std::uint64_t own_changes;
        for (Section& each : engine.measure(own_changes)) {
            each.name.insert(0, prefix);
            sections.push_back(std::move(each));
        }
        changes += own_changes;
    }

    // The sections with this prefix, without it.
    static std::vector<Section> sections_of(const std::string& prefix,
                                            const std::vector<Section>& sections) {
        std::vector<Section> own;
        for (const Section& each : sections)
            if (each.name.compare(0, prefix.size(), prefix) == 0)
                own.push_back({each.name.substr(prefix.size()), each.type, each.size, each.data});
        return own;
    }

    static std::vector<Section> load_engine(Engine& engine, const std::string& prefix,
                                            const std::vector<Section>& sections) {
        std::vector<Section> own = sections_of(prefix, sections);
        try {
            engine.load(own);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(prefix + error.what());
        }
        return own;
    }

    // The ranks that learning looks at in a ranking by probabilities.
    static constexpr std::uint32_t DEEPEST = RankCounts::HITS_AT.back();

    StateLock lock_;  // of the buffers, the counts and the options, and of all changes
    std::shared_ptr<Engine> table_;
    std::vector<Member> members_;
    Ensemble ensemble_;
    std::atomic<Vote> vote_{Vote::majority};
    std::uint64_t waiting_limit_ = 0;   // bytes of a shuffle buffer
    std::vector<std::int32_t> ranks_;  // scratch memory of an event
    CommitteeInspection inspection_{lock_, *table_, members_};
};

}  // namespace manyclass
