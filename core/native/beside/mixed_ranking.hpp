// The ranking of one instance by a learner, by descriptions and by vectors.
//
//   words:   the k best classes of the learner ──────────┐
//   names:   the k best classes by their descriptions ───┼─► candidates ─► weighted sums ─► ranked
//   vectors: the k best classes by the vector ───────────┘
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beside/mixed_candidate.hpp"
#include "beside/evidence.hpp"
#include "beside/mixture.hpp"
#include "beside/part_scale.hpp"
#include "learner.hpp"
#include "pipeline/top_k.hpp"
#include "pipeline/vector.hpp"
#include "pipeline/wire.hpp"

namespace manyclass {

// Ownership: owns its memory, which the next ranking of the thread uses again. Names are views into it
// and into the evidence, valid while the view of the evidence lives.
// Threads: each has its own.
class MixedRanking {
public:
    [[gnu::noinline]] static MixedRanking& of_thread() {
        static thread_local MixedRanking ranking;
        return ranking;
    }

    // Set `features` to those of an instance.
    void set_features(std::string_view instance) {
        const VectorView vector = vector_of(instance);
        if (vector.empty()) features_.assign(instance);
        else copy_features(instance, vector, features_);
    }

    // Rank the first `most_ranked` candidates: the k best classes of each part, or those of `among`
    // that a part knows.
    void rank(const Learner& learner, const Mixture& mixture, const Evidence::View& view,
              std::string_view instance, std::uint32_t k, const std::vector<std::string_view>* among,
              std::size_t most_ranked) {
        const VectorView vector = vector_of(instance);
        set_features(instance);
        k = std::max(k, BEST);
        score_words(learner, mixture, k, among);
        score_names(mixture, k, view);
        if (!names_scale_.is_silent()) {
            const Inspection::Sizes sizes = learner.inspection().sizes();
            learned_ = static_cast<double>(sizes.learned);
            classes_ = static_cast<double>(std::max<std::uint64_t>(1, sizes.classes));
        }
        vectors_scale_.set_silent();
        best_by_vector_.clear();
        if (view.can_score(vector)) score_vectors(mixture, k, vector, view);
        names_factor_ = mixture.factor(Part::names);
        vectors_factor_ = mixture.factor(Part::vectors);
        vectors_weight_ = vectors_scale_.is_silent()
                              ? 0
                              : Mixture::usual_weight(Part::vectors, view.events_of_class());
        gather(among, view);
        for (MixedCandidate& each : candidates_) add_up(each, view);
        order(most_ranked);
    }

    // The features of the instance, without its vector.
    const std::string& features() const { return features_; }
    // All candidates, in no order.
    const std::vector<MixedCandidate>& candidates() const { return candidates_; }
    // The first candidates, best first.
    const std::vector<const MixedCandidate*>& ranked() const { return ranked_; }
    // The number of classes that the learner ranked.
    std::size_t words_count() const { return words_.size(); }

    const PartScale& scale(Part part) const {
        return part == Part::words ? words_scale_
               : part == Part::names ? names_scale_ : vectors_scale_;
    }
    // The factor that outcomes chose for a part, on its usual weight.
    double factor(Part part) const {
        return part == Part::words ? 1 : part == Part::names ? names_factor_ : vectors_factor_;
    }
    double usual_weight(Part part, const MixedCandidate& each) const {
        return part == Part::words ? 1 : part == Part::names ? each.names_weight : vectors_weight_;
    }

    // Return the part that each part has in the score of a candidate.
    ScoreParts parts_of(const MixedCandidate& each) const {
        return {each.bounded.words, names_factor_ * each.names_weight * each.bounded.names,
                vectors_factor_ * vectors_weight_ * each.bounded.vectors};
    }

private:
    static constexpr std::uint32_t BEST = PartScale::BEST;
    static constexpr std::uint32_t NOT_THERE = 0xffffffffu;

    // A class with its score by one part.
    struct Scored {
        Scored() = default;
        Scored(float by_part, std::uint32_t of) : score(by_part), id(of) {}
        float score;
        std::uint32_t id;  // of the evidence
    };

    void score_words(const Learner& learner, const Mixture& mixture, std::uint32_t k,
                     const std::vector<std::string_view>* among) {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        words_.clear();
        word_names_.clear();
        learner.rank(features_, k, ANY, words_, word_names_);
        best_scores_.clear();
        for (const Ranked& each : words_)
            if (best_scores_.size() < BEST) best_scores_.push_back(each.score);
        words_scale_.set(best_scores_, mixture.spread(Part::words));
        if (among == nullptr) return;
        words_.clear();
        word_names_.clear();
        learner.rank_among(features_, *among, static_cast<std::uint32_t>(among->size()), ANY, words_,
                           word_names_);
    }

    void score_names(const Mixture& mixture, std::uint32_t k, const Evidence::View& view) {
        for (const std::uint32_t id : named_) by_name_[id] = 0;
        named_.clear();
        if (by_name_.size() < view.end()) by_name_.resize(view.end());
        view.descriptions().score(features_, [&](std::uint32_t id, double score) {
            if (by_name_[id] == 0) named_.push_back(id);
            by_name_[id] += static_cast<float>(score);
        });
        scored_.clear();
        for (const std::uint32_t id : named_) scored_.emplace_back(by_name_[id], id);
        keep_best(k, view, best_by_name_);
        set_scale(best_by_name_, mixture.spread(Part::names), names_scale_);
    }

    void score_vectors(const Mixture& mixture, std::uint32_t k, VectorView vector,
                       const Evidence::View& view) {
        by_vector_of_none_ = view.score(vector, by_vector_);
        scored_.clear();
        for (std::uint32_t id = 0; id < by_vector_.size(); ++id)
            if (view.has_weights(id)) scored_.emplace_back(by_vector_[id], id);
        keep_best(k, view, best_by_vector_);
        set_scale(best_by_vector_, mixture.spread(Part::vectors), vectors_scale_);
    }

    // Set the scale of a part by its best classes.
    void set_scale(const std::vector<Scored>& best, double usual_spread, PartScale& scale) {
        best_scores_.clear();
        for (const Scored& each : best)
            if (best_scores_.size() < BEST) best_scores_.push_back(static_cast<double>(each.score));
        scale.set(best_scores_, usual_spread);
    }

    // Set `best` to the k best of the scored classes, best first.
    void keep_best(std::uint32_t k, const Evidence::View& view, std::vector<Scored>& best) {
        const auto is_before = [&](const Scored& one, const Scored& other) {
            if (one.score != other.score) return one.score > other.score;
            return view.name(one.id) < view.name(other.id);
        };
        best.clear();
        if (k <= SHORT_LIST) {
            for (const Scored& each : scored_) insert_first(best, k, each, is_before);
            return;
        }
        keep_first(scored_, k, is_before);
        best.swap(scored_);
    }

    // Collect the candidates with the scores of all parts.
    void gather(const std::vector<std::string_view>* among, const Evidence::View& view) {
        candidates_.clear();
        candidate_of_.assign(view.end(), NOT_THERE);
        const char* at = word_names_.data();
        for (const Ranked& each : words_) {
            std::uint32_t size;
            std::memcpy(&size, at, sizeof size);
            const std::string_view name(at + sizeof size, size);
            at += sizeof size + size;
            MixedCandidate& added = add(view.find(name), name, view);
            added.bounded.words = words_scale_.of(each.score);
            added.exact.words = each.score * words_scale_.per_score();
        }
        const bool has_vectors = !vectors_scale_.is_silent();
        if (among != nullptr) {
            for (const std::string_view name : *among)
                if (const std::uint32_t id = view.find(name);
                    id != NO_ID && candidate_of_[id] == NOT_THERE &&
                    (by_name_[id] != 0 || (has_vectors && view.has_weights(id))))
                    add(id, view.name(id), view);
            return;
        }
        for (const auto* best : {&best_by_name_, &best_by_vector_})
            for (const Scored& each : *best)
                if (candidate_of_[each.id] == NOT_THERE) add(each.id, view.name(each.id), view);
    }

    // Add a class by its id, with the scores that the evidence gives it.
    MixedCandidate& add(std::uint32_t id, std::string_view name, const Evidence::View& view) {
        MixedCandidate& added = candidates_.emplace_back();
        added.name = name;
        added.id = id;
        added.bounded.words = added.exact.words = words_scale_.of_unscored();
        added.bounded.names = added.exact.names = names_scale_.of_unscored();
        if (id != NO_ID) {
            candidate_of_[id] = static_cast<std::uint32_t>(candidates_.size() - 1);
            if (by_name_[id] != 0) {
                const auto score = static_cast<double>(by_name_[id]);
                added.bounded.names = names_scale_.of(score);
                added.exact.names = score * names_scale_.per_score();
            }
        }
        if (!vectors_scale_.is_silent()) {
            const bool has_weights = id != NO_ID && view.has_weights(id);
            const auto score =
                static_cast<double>(has_weights ? by_vector_[id] : by_vector_of_none_);
            added.bounded.vectors = vectors_scale_.of(score);
            added.exact.vectors = score * vectors_scale_.per_score();
        }
        return added;
    }

    // Set the scores of a candidate: the weighted sums of its parts.
    void add_up(MixedCandidate& each, const Evidence::View& view) const {
        each.names_weight = 0;
        if (!names_scale_.is_silent()) {
            double labels = learned_;
            if (each.id != NO_ID)
                labels =
                    std::min(labels, static_cast<double>(view.events_since_described(each.id)));
            each.names_weight = Mixture::usual_weight(Part::names, labels / classes_);
        }
        const double of_names = names_factor_ * each.names_weight;
        const double of_vectors = vectors_factor_ * vectors_weight_;
        const auto sum = [&](const ScoreParts& parts) {
            return parts.words + of_names * parts.names + of_vectors * parts.vectors;
        };
        each.score = sum(each.bounded);
        each.exact_score = sum(each.exact);
    }

    // Set `ranked` to the first candidates.
    void order(std::size_t most_ranked) {
        const auto is_before = [](const MixedCandidate* one, const MixedCandidate* other) {
            return one->precedes(*other);
        };
        ranked_.clear();
        if (most_ranked <= SHORT_LIST) {
            for (const MixedCandidate& each : candidates_)
                insert_first(ranked_, most_ranked, &each, is_before);
            return;
        }
        for (const MixedCandidate& each : candidates_) ranked_.push_back(&each);
        std::sort(ranked_.begin(), ranked_.end(), is_before);
    }

    std::string features_;
    std::vector<Ranked> words_;  // by the learner
    std::string word_names_;     // of `words_`: the size and bytes of each
    std::vector<float> by_name_, by_vector_;  // scores by id of the evidence
    float by_vector_of_none_ = 0;             // the score of a class without weights
    std::vector<std::uint32_t> named_;        // the ids with a score in `by_name_`
    std::vector<Scored> scored_;              // by the present part
    std::vector<Scored> best_by_name_, best_by_vector_;  // best first
    std::vector<double> best_scores_;         // of the present part, at most BEST
    std::vector<MixedCandidate> candidates_;
    std::vector<std::uint32_t> candidate_of_;  // by id: the position of its candidate
    std::vector<const MixedCandidate*> ranked_;
    PartScale words_scale_, names_scale_, vectors_scale_;
    double names_factor_ = 1, vectors_factor_ = 1;
    double vectors_weight_ = 0;           // usual weight
    double learned_ = 0, classes_ = 1;    // events and classes of the learner
};

}  // namespace manyclass
