// A learner of a model together with the evidence of the model:
//
//   instance ─► learner, by its features ─────► the best classes by words ─┐
//           ├─► DescriptionIndex ─────────────► scores by descriptions ────┼─► Mixture ─► the k best
//           └─► weights of vectors ───────────► scores by the vector ──────┘
//
// Without descriptions, the learner ranks an instance without a vector as if it were not wrapped.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beside/mixed_candidate.hpp"
#include "beside/evidence.hpp"
#include "beside/factor_judging.hpp"
#include "beside/mixed_ranking.hpp"
#include "beside/mixture.hpp"
#include "learner.hpp"
#include "pipeline/name_list.hpp"
#include "pipeline/vector.hpp"
#include "pipeline/wire.hpp"

namespace manyclass {

// Ownership: the evidence is shared by all learners of a model, which changes it.
// Threads: as for Learner. A ranking holds the lock of the evidence, and that of the learner inside.
class MixedLearner final : public Learner {
public:
    // `needs_features`: without features, the learner would never rank a class.
    MixedLearner(std::shared_ptr<Learner> learner, std::shared_ptr<const Evidence> evidence,
                 bool needs_features)
        : learner_(std::move(learner)),
          evidence_(std::move(evidence)),
          needs_features_(needs_features) {}

    void configure(const OptionValues& options) override { learner_->configure(options); }

    // --- ranking -------------------------------------------------------------------------------

    void rank(std::string_view instance, std::uint32_t k, double threshold,
              std::vector<Ranked>& best, std::string& names) const override {
        if (!evidence_->concerns(instance))
            return learner_->rank(instance, k, threshold, best, names);
        MixedRanking& ranking = MixedRanking::of_thread();
        const Evidence::View view(*evidence_);
        ranking.rank(*learner_, mixture_, view, instance, k, nullptr, k);
        give(ranking, k, threshold, best, names);
    }

    void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best,
                    std::string& names) const override {
        if (!evidence_->concerns(instance))
            return learner_->rank_among(instance, among, k, threshold, best, names);
        MixedRanking& ranking = MixedRanking::of_thread();
        const Evidence::View view(*evidence_);
        ranking.rank(*learner_, mixture_, view, instance, k, &among, k);
        give(ranking, k, threshold, best, names);
    }

    void rank_block(const std::vector<std::string_view>& instances, std::size_t begin,
                    std::uint32_t k, std::chrono::duration<double> time,
                    RankedBlock& block) const override {
        if (!evidence_->concerns_any()) return learner_->rank_block(instances, begin, k, time, block);
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        block.fill(instances, begin, time, [&](std::string_view instance, std::vector<Ranked>& best,
                                               std::string& names) {
            std::string own;
            rank(instance, k, ANY, best, own);
            names.append(own);
        });
    }

    // Rows have no vectors, and no names of features.
    void rank_csr(const CsrRows& rows, std::uint32_t k, std::int32_t* ids,
                  double* scores) const override {
        learner_->rank_csr(rows, k, ids, scores);
    }

    // The contributions of words are scaled as their part of the score is.
    void explain(std::string_view instance, const std::vector<std::string_view>& classes,
                 std::size_t limit, std::vector<Contributions>& explained) const override {
        if (!evidence_->concerns(instance))
            return learner_->explain(instance, classes, limit, explained);
        MixedRanking& ranking = MixedRanking::of_thread();
        const Evidence::View view(*evidence_);
        ranking.rank(*learner_, mixture_, view, instance, 1, nullptr, 0);
        learner_->explain(ranking.features(), classes, limit, explained);
        for (Contributions& each : explained)
            for (auto& [name, part] : each) part *= ranking.scale(Part::words).per_score();
    }

    // Find what each part gives to the score of each class, and what the features give through the
    // descriptions: at most `limit`, largest first. False if the learner alone ranks the instance.
    bool explain_parts(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::size_t limit, std::vector<ScoreParts>& parts,
                       std::vector<Contributions>& descriptions) const {
        if (!evidence_->concerns(instance)) return false;
        MixedRanking& ranking = MixedRanking::of_thread();
        const Evidence::View view(*evidence_);
        ranking.rank(*learner_, mixture_, view, instance, 1, &classes, 0);
        const double per_score = ranking.scale(Part::names).per_score();
        for (const std::string_view cls : classes) {
            ScoreParts& found = parts.emplace_back();
            Contributions& by_name = descriptions.emplace_back();
            const std::vector<MixedCandidate>& candidates = ranking.candidates();
            const auto candidate =
                std::find_if(candidates.begin(), candidates.end(),
                             [cls](const MixedCandidate& each) { return each.name == cls; });
            if (candidate == candidates.end()) continue;
            found = ranking.parts_of(*candidate);
            if (candidate->id == NO_ID) continue;
            view.descriptions().explain(ranking.features(), candidate->id, by_name);
            for (auto& [name, part] : by_name)
                part *= per_score * ranking.factor(Part::names) * candidate->names_weight;
            keep_heaviest(by_name, limit);
        }
        return true;
    }

    void paths(std::string_view instance, const std::vector<std::string_view>& classes,
               std::size_t limit, std::vector<std::vector<PathNode>>& paths) const override {
        learner_->paths(instance, classes, limit, paths);
    }

    void probabilities(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::vector<double>& found) const override {
        learner_->probabilities(instance, classes, found);
    }

    // --- learning ------------------------------------------------------------------------------

    // The evidence learns the event afterwards, once for all learners of the model.
    Outcome learn(std::string_view instance, const std::vector<std::string_view>& true_classes,
                  const std::vector<std::string_view>& rejected, double weight,
                  bool is_first_epoch, RankingBefore* before = nullptr) override {
        if (!evidence_->concerns_any() && !has_vector(instance))
            return learner_->learn(instance, true_classes, rejected, weight, is_first_epoch, before);
        MixedRanking& ranking = MixedRanking::of_thread();
        Outcome outcome{};
        const bool is_mixed = before != nullptr && evidence_->concerns(instance);
        if (is_mixed) {
            const Evidence::View view(*evidence_);
            ranking.rank(*learner_, mixture_, view, instance, before->depth, nullptr, ALL);
            note(ranking, true_classes, outcome, *before);
        } else ranking.set_features(instance);
        FactorJudging judging(ranking, true_classes);
        const Outcome learned = learn_features(ranking.features(), true_classes, rejected, weight,
                                               is_first_epoch, is_mixed ? nullptr : before);
        if (!is_mixed) return learned;
        // only now: the learner may have refused the event for want of memory
        judging.judge(mixture_, Evidence::View(*evidence_));
        outcome.updated = learned.updated;
        if (outcome.rank == 0 && learned.rank > ranking.words_count()) outcome.rank = learned.rank;
        return outcome;
    }

    void learn_csr(const CsrRows& rows, const CsrRows& classes, const float* weights,
                   bool is_first_epoch, const RowOutcomes& outcomes) override {
        learner_->learn_csr(rows, classes, weights, is_first_epoch, outcomes);
    }
    bool build_csr(const CsrRows& rows, const CsrRows& classes) override {
        return learner_->build_csr(rows, classes);
    }
    void find_nodes(const std::vector<std::string_view>& names, bool is_before_learning) override {
        learner_->find_nodes(names, is_before_learning);
    }
    void find_all_nodes() override { learner_->find_all_nodes(); }

    // --- forgetting ----------------------------------------------------------------------------

    bool forget_class(std::string_view name) override { return learner_->forget_class(name); }
    bool rename_class(std::string_view name, std::string_view to) override {
        return learner_->rename_class(name, to);
    }
    bool forget_feature(std::string_view name) override { return learner_->forget_feature(name); }

    std::size_t drop_example(std::string_view instance,
                             const std::vector<std::string_view>& true_classes) override {
        MixedRanking& ranking = MixedRanking::of_thread();
        ranking.set_features(instance);
        return learner_->drop_example(ranking.features(), true_classes);
    }

    bool takes_signs() const override { return learner_->takes_signs(); }
    bool can_sparsify() const override { return learner_->can_sparsify(); }
    std::uint64_t sparsify(std::uint64_t wanted) override { return learner_->sparsify(wanted); }
    const Inspection& inspection() const override { return learner_->inspection(); }
    std::vector<MemberView> members() const override { return learner_->members(); }
    StateLock& lock() override { return learner_->lock(); }

    // --- state ---------------------------------------------------------------------------------

    // The mixture is not among the sections of a learner: it has none without outcomes.
    std::vector<Section> measure(std::uint64_t& changes) override {
        return learner_->measure(changes);
    }
    bool dump(const std::vector<Section>& sections, std::uint64_t changes) override {
        return learner_->dump(sections, changes);
    }
    void load(const std::vector<Section>& sections) override { learner_->load(sections); }

    // Read and changed by the thread that changes the learner, and read by rankings.
    const Mixture& mixture() const { return mixture_; }
    Mixture& mixture() { return mixture_; }

    // The weights of the parts now, for a class that was described before all events.
    ScoreParts weights() const {
        const Evidence::View view(*evidence_);
        const Inspection::Sizes sizes = learner_->inspection().sizes();
        const double labels = static_cast<double>(sizes.learned) /
                              static_cast<double>(std::max<std::uint64_t>(1, sizes.classes));
        const double of_names = Mixture::usual_weight(Part::names, labels);
        const double of_vectors = Mixture::usual_weight(Part::vectors, view.events_of_class());
        return {1, mixture_.factor(Part::names) * of_names,
                mixture_.factor(Part::vectors) * of_vectors};
    }

    // --- the classes that a ranking can have -----------------------------------------------------

    // The classes of the learner, and those of the evidence.
    std::uint64_t ranked_classes() const {
        return learner_->inspection().sizes().classes +
               evidence_->count_classes([this](std::string_view cls) { return !has(cls); });
    }

    // The next classes that the evidence alone has, and the number of their events.
    void unlearned_page(std::string_view prefix, std::string_view after, std::size_t limit,
                        NamePage& page) const {
        evidence_->class_page(prefix, after, limit, page,
                              [this](std::string_view cls) { return !has(cls); });
    }

private:
    static constexpr std::size_t ALL = static_cast<std::size_t>(-1);

    static void give(const MixedRanking& ranking, std::uint32_t k, double threshold,
                     std::vector<Ranked>& best, std::string& names) {
        best.clear();
        for (const MixedCandidate* each : ranking.ranked()) {
            if (best.size() == k || !(each->score > threshold)) break;
            best.push_back({each->score, each->id});
            put(names, static_cast<std::uint32_t>(each->name.size()));
            names.append(each->name);
        }
    }

    // Note the outcome for an event that has not been learned.
    static void note(const MixedRanking& ranking, const std::vector<std::string_view>& true_classes,
                     Outcome& outcome, RankingBefore& before) {
        before.best.clear();
        before.are_true.clear();
        before.first.clear();
        std::uint32_t rank = 0;
        for (const MixedCandidate* each : ranking.ranked()) {
            const bool is_true = contains(true_classes, each->name);
            ++rank;
            if (is_true && outcome.rank == 0) outcome.rank = rank;
            if (before.best.size() < std::max(before.depth, 2u)) {
                before.best.push_back({each->score, each->id});
                before.are_true.push_back(is_true);
            } else if (outcome.rank != 0) break;
        }
        if (!ranking.ranked().empty()) before.first.assign(ranking.ranked()[0]->name);
        outcome.top_two = top_two_of(before.best.data(), before.best.size());
    }

    // Let the learner learn the features. Without features, it learns known classes alone: a new one
    // would never be ranked by it.
    Outcome learn_features(std::string_view features,
                           const std::vector<std::string_view>& true_classes,
                           const std::vector<std::string_view>& rejected, double weight,
                           bool is_first_epoch, RankingBefore* before) {
        if (!needs_features_ || has_usable_features(features))
            return learner_->learn(features, true_classes, rejected, weight, is_first_epoch, before);
        std::vector<std::string_view> known;
        for (const std::string_view cls : true_classes)
            if (has(cls)) known.push_back(cls);
        if (known.empty()) {
            if (before != nullptr) *before = {before->depth, {}, {}, {}};
            return {};
        }
        return learner_->learn(features, known, rejected, weight, is_first_epoch, before);
    }

    bool has(std::string_view cls) const { return learner_->inspection().has_class(cls); }

    bool has_usable_features(std::string_view features) const {
        if (!is_signed(features) || learner_->takes_signs()) return feature_count(features) > 0;
        FeatureReader reader(features);
        while (reader.next())
            if (reader.value() > 0) return true;
        return false;
    }

    const std::shared_ptr<Learner> learner_;
    const std::shared_ptr<const Evidence> evidence_;
    const bool needs_features_;
    Mixture mixture_;
};

}  // namespace manyclass
