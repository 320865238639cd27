// A learner of a model together with what the model knows of its classes beside it:
//
//   instance ─► learner, by its features ─────► the best classes by words ─┐
//           ├─► DescriptionIndex ─────────────► scores by descriptions ────┼─► Mixture ─► the k best
//           └─► weights of vectors ───────────► scores by the vector ──────┘
//
// Without descriptions, an instance without a vector is the learner's alone, as is all else.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beside/evidence.hpp"
#include "beside/mixture.hpp"
#include "beside/part_scale.hpp"
#include "learner.hpp"
#include "pipeline/top_k.hpp"
#include "pipeline/vector.hpp"
#include "pipeline/wire.hpp"

namespace manyclass {

// The part of words, of the description and of the vector in the score of a class, their sum.
struct ScoreParts {
    double words = 0, names = 0, vectors = 0;
};

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
        Mixed& mixed = Mixed::of_thread();
        const Evidence::View view(*evidence_);
        mix(instance, k, nullptr, view, mixed, k);
        give(mixed, k, threshold, best, names);
    }

    void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best,
                    std::string& names) const override {
        if (!evidence_->concerns(instance))
            return learner_->rank_among(instance, among, k, threshold, best, names);
        Mixed& mixed = Mixed::of_thread();
        const Evidence::View view(*evidence_);
        mix(instance, k, &among, view, mixed, k);
        give(mixed, k, threshold, best, names);
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
        Mixed& mixed = Mixed::of_thread();
        const Evidence::View view(*evidence_);
        mix(instance, 1, nullptr, view, mixed, 0);
        learner_->explain(mixed.features, classes, limit, explained);
        for (Contributions& each : explained)
            for (auto& [name, part] : each) part *= mixed.words_scale.per_score();
    }

    // Find what each part gives to the score of each class, and what the features give through the
    // descriptions: at most `limit`, largest first. False if the learner alone ranks the instance.
    bool explain_parts(std::string_view instance, const std::vector<std::string_view>& classes,
                       std::size_t limit, std::vector<ScoreParts>& parts,
                       std::vector<Contributions>& descriptions) const {
        if (!evidence_->concerns(instance)) return false;
        Mixed& mixed = Mixed::of_thread();
        const Evidence::View view(*evidence_);
        mix(instance, 1, &classes, view, mixed, 0);
        for (const std::string_view cls : classes) {
            ScoreParts& found = parts.emplace_back();
            Contributions& by_name = descriptions.emplace_back();
            const auto candidate =
                std::find_if(mixed.candidates.begin(), mixed.candidates.end(),
                             [cls](const Candidate& each) { return each.name == cls; });
            if (candidate == mixed.candidates.end()) continue;
            found = parts_of(*candidate, mixed);
            if (candidate->id == NO_ID) continue;
            view.descriptions().explain(mixed.features, candidate->id, by_name);
            for (auto& [name, part] : by_name)
                part *= mixed.names_scale.per_score() * mixed.names_factor *
                        candidate->names_weight;
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
        Mixed& mixed = Mixed::of_thread();
        Outcome outcome{};
        const bool is_mixed = before != nullptr && evidence_->concerns(instance);
        if (is_mixed) {
            const Evidence::View view(*evidence_);
            mix(instance, before->depth, nullptr, view, mixed, ALL);
            note(mixed, true_classes, outcome, *before);
            judge(mixed, true_classes, view);
        } else set_features(instance, mixed);
        const Outcome learned = learn_features(mixed.features, true_classes, rejected, weight,
                                               is_first_epoch, is_mixed ? nullptr : before);
        if (!is_mixed) return learned;
        outcome.updated = learned.updated;
        if (outcome.rank == 0 && learned.rank > mixed.words.size()) outcome.rank = learned.rank;
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
        Mixed& mixed = Mixed::of_thread();
        set_features(instance, mixed);
        return learner_->drop_example(mixed.features, true_classes);
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
    static constexpr std::uint32_t BEST = PartScale::BEST;
    static constexpr std::size_t ALL = static_cast<std::size_t>(-1);
    static constexpr std::uint32_t NOT_THERE = 0xffffffffu;

    // A class that a part has among its best, with its scores in usual spreads. `finer` is the score
    // without the bound below which a part finds all classes equal: it orders those.
    struct Candidate {
        std::string_view name;
        std::uint32_t id;  // of the evidence; NO_ID if it does not know the class
        double words, names, vectors;
        double names_weight;
        double score, finer;
        double raw_words, raw_names, raw_vectors;
    };

    // A class with its score by one part.
    struct Scored {
        Scored() = default;
        Scored(float by_part, std::uint32_t of) : score(by_part), id(of) {}
        float score;
        std::uint32_t id;  // of the evidence
    };

    // Memory of a thread.
    struct Mixed {
        std::string features;  // of the instance, without its vector
        std::vector<Ranked> words;
        std::string word_names;
        std::vector<float> by_vector, by_name;    // by id of the evidence
        float by_vector_of_none = 0;              // the score of a class without weights
        std::vector<std::uint32_t> named;         // the ids with a score by name
        std::vector<Scored> scored, best_by_name, best_by_vector;  // the k best of a part, in order
        std::vector<std::uint32_t> candidate_of;  // by id
        std::vector<Candidate> candidates;
        std::vector<const Candidate*> ranked;  // the first of them by their scores
        std::vector<Candidate> changed;        // the first of them by other weights
        PartScale words_scale, names_scale, vectors_scale;
        double vectors_usual = 0;  // weight before any outcome
        double names_factor = 1, vectors_factor = 1;
        double learned = 0, classes = 1;  // events and classes of the learner
        std::vector<double> best;

        [[gnu::noinline]] static Mixed& of_thread() {
            static thread_local Mixed mixed;
            return mixed;
        }
    };

    static void set_features(std::string_view instance, Mixed& mixed) {
        const VectorView vector = vector_of(instance);
        if (vector.empty()) mixed.features.assign(instance);
        else copy_features(instance, vector, mixed.features);
    }

    // Score the classes: the best of each part, or those of `among` that a part knows. Sets the
    // candidates, and ranks the first so many of them.
    void mix(std::string_view instance, std::uint32_t k,
             const std::vector<std::string_view>* among, const Evidence::View& view, Mixed& mixed,
             std::size_t most_ranked) const {
        const VectorView vector = vector_of(instance);
        set_features(instance, mixed);
        k = std::max(k, BEST);
        rank_words(k, among, mixed);
        score_names(k, view, mixed);
        if (!mixed.names_scale.is_silent()) {
            const Inspection::Sizes sizes = learner_->inspection().sizes();
            mixed.learned = static_cast<double>(sizes.learned);
            mixed.classes = static_cast<double>(std::max<std::uint64_t>(1, sizes.classes));
        }
        mixed.vectors_scale.set_silent();
        mixed.best_by_vector.clear();
        if (view.can_score(vector)) score_vectors(k, vector, view, mixed);
        mixed.names_factor = mixture_.factor(Part::names);
        mixed.vectors_factor = mixture_.factor(Part::vectors);
        mixed.vectors_usual = mixed.vectors_scale.is_silent()
                                  ? 0
                                  : Mixture::usual_weight(Part::vectors, view.events_of_class());
        gather(among, view, mixed);
        for (Candidate& each : mixed.candidates) weigh(each, view, mixed);
        mixed.ranked.clear();
        if (most_ranked <= SHORT_LIST) {
            for (const Candidate& each : mixed.candidates)
                insert_first(mixed.ranked, most_ranked, &each, precedes);
            return;
        }
        for (const Candidate& each : mixed.candidates) mixed.ranked.push_back(&each);
        std::sort(mixed.ranked.begin(), mixed.ranked.end(), precedes);
    }

    static bool precedes(const Candidate* one, const Candidate* other) {
        if (one->score != other->score) return one->score > other->score;
        return one->finer != other->finer ? one->finer > other->finer : one->name < other->name;
    }

    void rank_words(std::uint32_t k, const std::vector<std::string_view>* among,
                    Mixed& mixed) const {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        mixed.words.clear();
        mixed.word_names.clear();
        learner_->rank(mixed.features, k, ANY, mixed.words, mixed.word_names);
        mixed.best.clear();
        for (const Ranked& each : mixed.words)
            if (mixed.best.size() < BEST) mixed.best.push_back(each.score);
        mixed.words_scale.set(mixed.best, mixture_.spread(Part::words));
        if (among == nullptr) return;
        mixed.words.clear();
        mixed.word_names.clear();
        learner_->rank_among(mixed.features, *among, static_cast<std::uint32_t>(among->size()), ANY,
                             mixed.words, mixed.word_names);
    }

    // Score the described classes by the words of their descriptions.
    void score_names(std::uint32_t k, const Evidence::View& view, Mixed& mixed) const {
        for (const std::uint32_t id : mixed.named) mixed.by_name[id] = 0;
        mixed.named.clear();
        if (mixed.by_name.size() < view.end()) mixed.by_name.resize(view.end());
        view.descriptions().score(mixed.features, [&](std::uint32_t id, double score) {
            if (mixed.by_name[id] == 0) mixed.named.push_back(id);
            mixed.by_name[id] += static_cast<float>(score);
        });
        mixed.scored.clear();
        for (const std::uint32_t id : mixed.named) mixed.scored.emplace_back(mixed.by_name[id], id);
        keep_best(mixed.scored, k, view, mixed.best_by_name);
        set_scale(mixed.best_by_name, Part::names, mixed.best, mixed.names_scale);
    }

    void score_vectors(std::uint32_t k, VectorView vector, const Evidence::View& view,
                       Mixed& mixed) const {
        mixed.by_vector_of_none = view.score(vector, mixed.by_vector);
        mixed.scored.clear();
        for (std::uint32_t id = 0; id < mixed.by_vector.size(); ++id)
            if (view.has_weights(id)) mixed.scored.emplace_back(mixed.by_vector[id], id);
        keep_best(mixed.scored, k, view, mixed.best_by_vector);
        set_scale(mixed.best_by_vector, Part::vectors, mixed.best, mixed.vectors_scale);
    }

    // Set the scale of a part by its best classes; `best` is memory for their scores.
    void set_scale(const std::vector<Scored>& classes, Part part, std::vector<double>& best,
                   PartScale& scale) const {
        best.clear();
        for (const Scored& each : classes)
            if (best.size() < BEST) best.push_back(static_cast<double>(each.score));
        scale.set(best, mixture_.spread(part));
    }

    // Set `best` to those of the classes that have the k best scores, best first.
    static void keep_best(std::vector<Scored>& scored, std::uint32_t k, const Evidence::View& view,
                          std::vector<Scored>& best) {
        const auto precedes = [&](const Scored& one, const Scored& other) {
            if (one.score != other.score) return one.score > other.score;
            return view.name(one.id) < view.name(other.id);
        };
        best.clear();
        if (k <= SHORT_LIST) {
            for (const Scored& each : scored) insert_first(best, k, each, precedes);
            return;
        }
        keep_first(scored, k, precedes);
        best.swap(scored);
    }

    // Collect the candidates with the scores of all parts.
    static void gather(const std::vector<std::string_view>* among, const Evidence::View& view,
                       Mixed& mixed) {
        mixed.candidates.clear();
        mixed.candidate_of.assign(view.end(), NOT_THERE);
        const char* at = mixed.word_names.data();
        for (const Ranked& each : mixed.words) {
            std::uint32_t size;
            std::memcpy(&size, at, sizeof size);
            const std::string_view name(at + sizeof size, size);
            at += sizeof size + size;
            Candidate& added = add(view.find(name), name, view, mixed);
            added.words = mixed.words_scale.of(each.score);
            added.raw_words = each.score * mixed.words_scale.per_score();
        }
        const bool has_vectors = !mixed.vectors_scale.is_silent();
        if (among != nullptr) {
            for (const std::string_view name : *among)
                if (const std::uint32_t id = view.find(name);
                    id != NO_ID && mixed.candidate_of[id] == NOT_THERE &&
                    (mixed.by_name[id] != 0 || (has_vectors && view.has_weights(id))))
                    add(id, view.name(id), view, mixed);
            return;
        }
        for (const auto* best : {&mixed.best_by_name, &mixed.best_by_vector})
            for (const Scored& each : *best)
                if (mixed.candidate_of[each.id] == NOT_THERE)
                    add(each.id, view.name(each.id), view, mixed);
    }

    // Add a class by its id, with the scores that the evidence gives it.
    static Candidate& add(std::uint32_t id, std::string_view name, const Evidence::View& view,
                          Mixed& mixed) {
        Candidate& added = mixed.candidates.emplace_back();
        added.name = name;
        added.id = id;
        added.words = added.raw_words = mixed.words_scale.of_unscored();
        added.names = added.raw_names = mixed.names_scale.of_unscored();
        added.vectors = added.raw_vectors = 0;
        if (id != NO_ID) {
            mixed.candidate_of[id] = static_cast<std::uint32_t>(mixed.candidates.size() - 1);
            if (mixed.by_name[id] != 0) {
                const auto score = static_cast<double>(mixed.by_name[id]);
                added.names = mixed.names_scale.of(score);
                added.raw_names = score * mixed.names_scale.per_score();
            }
        }
        if (!mixed.vectors_scale.is_silent()) {
            const bool has_weights = id != NO_ID && view.has_weights(id);
            const auto score = static_cast<double>(has_weights ? mixed.by_vector[id]
                                                               : mixed.by_vector_of_none);
            added.vectors = mixed.vectors_scale.of(score);
            added.raw_vectors = score * mixed.vectors_scale.per_score();
        }
        return added;
    }

    // Set the score of a candidate.
    static void weigh(Candidate& each, const Evidence::View& view, const Mixed& mixed) {
        each.names_weight = 0;
        if (!mixed.names_scale.is_silent()) {
            double labels = mixed.learned;
            if (each.id != NO_ID)
                labels =
                    std::min(labels, static_cast<double>(view.events_since_described(each.id)));
            each.names_weight = Mixture::usual_weight(Part::names, labels / mixed.classes);
        }
        const double of_names = mixed.names_factor * each.names_weight;
        const double of_vectors = mixed.vectors_factor * mixed.vectors_usual;
        each.score = each.words + of_names * each.names + of_vectors * each.vectors;
        each.finer = each.raw_words + of_names * each.raw_names + of_vectors * each.raw_vectors;
    }

    static ScoreParts parts_of(const Candidate& each, const Mixed& mixed) {
        return {each.words, mixed.names_factor * each.names_weight * each.names,
                mixed.vectors_factor * mixed.vectors_usual * each.vectors};
    }

    static void give(const Mixed& mixed, std::uint32_t k, double threshold,
                     std::vector<Ranked>& best, std::string& names) {
        best.clear();
        for (const Candidate* each : mixed.ranked) {
            if (best.size() == k || !(each->score > threshold)) break;
            best.push_back({each->score, each->id});
            put(names, static_cast<std::uint32_t>(each->name.size()));
            names.append(each->name);
        }
    }

    // Note the outcome for an event that has not been learned.
    static void note(const Mixed& mixed, const std::vector<std::string_view>& true_classes,
                     Outcome& outcome, RankingBefore& before) {
        before.best.clear();
        before.are_true.clear();
        before.first.clear();
        std::uint32_t rank = 0;
        for (const Candidate* each : mixed.ranked) {
            const bool is_true = contains(true_classes, each->name);
            ++rank;
            if (is_true && outcome.rank == 0) outcome.rank = rank;
            if (before.best.size() < std::max(before.depth, 2u)) {
                before.best.push_back({each->score, each->id});
                before.are_true.push_back(is_true);
            } else if (outcome.rank != 0) break;
        }
        if (!mixed.ranked.empty()) before.first.assign(mixed.ranked[0]->name);
        outcome.top_two = top_two_of(before.best.data(), before.best.size());
    }

    static bool contains(const std::vector<std::string_view>& names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    // Take in the spreads of an event, and compare the weights of each part by it, the other one at its
    // present weight.
    void judge(Mixed& mixed, const std::vector<std::string_view>& true_classes,
               const Evidence::View& view) {
        constexpr std::size_t MOST_COMPARED = 5;
        if (true_classes.empty()) return;
        mixture_.note_spread(Part::words, mixed.words_scale.spread());
        mixture_.note_spread(Part::names, mixed.names_scale.spread());
        mixture_.note_spread(Part::vectors, mixed.vectors_scale.spread());
        const std::size_t compared = std::min(true_classes.size(), MOST_COMPARED);
        for (const Part part : {Part::names, Part::vectors}) {
            const bool of_names = part == Part::names;
            if ((of_names ? mixed.names_scale : mixed.vectors_scale).is_silent()) continue;
            // no vector ranks a class that had none before: the first event of each class would
            // speak against it
            if (!of_names && std::none_of(true_classes.begin(), true_classes.end(),
                                          [&](std::string_view cls) {
                                              const std::uint32_t id = view.find(cls);
                                              return id != NO_ID && view.has_weights(id);
                                          }))
                continue;
            const double now = of_names ? mixed.names_factor : mixed.vectors_factor;
            std::array<double, Mixture::FACTORS.size()> shares;
            for (std::size_t at = 0; at < shares.size(); ++at)
                shares[at] = share_right(mixed, true_classes, compared, part,
                                         Mixture::FACTORS[at] - now);
            mixture_.judge(part, shares);
        }
    }

    // Return the share of the first ranks that true classes would have, with so much more of the usual
    // weight of a part.
    static double share_right(Mixed& mixed, const std::vector<std::string_view>& true_classes,
                              std::size_t compared, Part part, double more) {
        mixed.changed.clear();
        for (const Candidate& candidate : mixed.candidates) {
            Candidate each = candidate;
            const double added = part == Part::names ? more * each.names_weight * each.names
                                                     : more * mixed.vectors_usual * each.vectors;
            each.score += added;
            each.finer += added;
            insert_first(mixed.changed, compared, each,
                         [](const Candidate& one, const Candidate& other) {
                             return precedes(&one, &other);
                         });
        }
        double right = 0;
        for (const Candidate& each : mixed.changed) right += contains(true_classes, each.name);
        return right / static_cast<double>(compared);
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
