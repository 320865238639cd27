// The primary learner, as native code calls it: it ranks on any thread, and learns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "beside/evidence.hpp"
#include "calibration.hpp"
#include "learner.hpp"
#include "pipeline/reader_slots.hpp"
#include "pipeline/wire.hpp"
#include "rank_counts.hpp"

namespace manyclass {

// A ranking of an instance; the memory is reused by the next ranking.
struct Answered {
    std::vector<Ranked> ranked;
    std::string names;       // size u32 and bytes of each ranked class
    double confidence = -1;  // the probability that the first class is right; negative: unknown
    std::vector<double> probabilities;  // of the ranked classes, if asked for; negative: unknown
    double limit = -1;  // the least limit for what was asked; above 1: none, below 0: not asked
    std::uint64_t seq = 0;  // the last event learned before the ranking
};

// The options of a ranking: k classes, and the limit of confidence for an accuracy, or the limit
// of probability for a precision, from 0 on; below 0: not asked.
struct RankingAsked {
    std::uint32_t k = 0;
    double accuracy = -1, precision = -1;
    bool probabilities = false;
};

// Find the limit that was asked for; above 1: none, below 0: not asked.
inline double asked_limit(const Calibration& calibration, const RankingAsked& asked) {
    if (asked.accuracy >= 0) return calibration.limit_for(asked.accuracy);
    return asked.precision >= 0 ? calibration.probability_limit_for(asked.precision) : -1;
}

// Ownership: learner, calibration, counts and evidence are the caller's, and outlive their use here.
// Threads: any number may rank; `use` waits until none does. Other calls: one thread at a time.
// A thread that ranks or learns may take the locks of the learner and of the calibration.
class PublishedLearner {
public:
    // Publish a learner, with the evidence of its model; nullptr: rankings fail until another is
    // published.
    void use(Learner* learner, Calibration* calibration, RankCounts* ranks, Evidence* evidence) {
        const Writing lock(lock_);
        learner_ = learner;
        calibration_ = calibration;
        ranks_ = ranks;
        evidence_ = evidence;
        if (evidence_ != nullptr) evidence_->set_seq(seq_);
    }

    // Learn vectors within these limits from now on.
    void limit(const EvidenceLimits& limits) { limits_ = limits; }

    std::uint64_t seq() const { return seq_; }
    void set_seq(std::uint64_t seq) {
        seq_ = seq;
        if (evidence_ != nullptr) evidence_->set_seq(seq);
    }

    // Rank the k best classes, two at least. False without a learner, for an instance with values
    // below 0 that are absent to it, and for a vector of another dimension: Python answers these.
    bool rank(std::string_view instance, const RankingAsked& asked, Answered& answered) const {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        const Reading lock(lock_);
        auto& [ranked, names, confidence, probabilities, limit, seq] = answered;
        ranked.clear();
        names.clear();
        seq = seq_;
        if (learner_ == nullptr || (is_signed(instance) && !learner_->takes_signs())) return false;
        if (has_vector(instance) && evidence_->mismatches(instance)) return false;
        learner_->rank(instance, std::max(asked.k, 2u), ANY, ranked, names);
        probabilities.clear();
        if (asked.probabilities)
            calibration_->probabilities(ranked.data(), ranked.size(), probabilities);
        // An outcome may be added between two calls: the first probability is the confidence.
        confidence = probabilities.empty()
                         ? calibration_->confidence(top_two_of(ranked.data(), ranked.size()))
                         : probabilities[0];
        limit = asked_limit(*calibration_, asked);
        return true;
    }

    // Learn an instance as the next event, see Learner::learn. Count the outcome if the event has
    // true classes, with the source of the event, empty without one. A learner must be published.
    Outcome learn(std::string_view instance, const std::vector<std::string_view>& true_classes,
                  const std::vector<std::string_view>& rejected, double weight,
                  std::string_view source) {
        before_.depth = calibration_->depth();
        const Outcome outcome =
            learner_->learn(instance, true_classes, rejected, weight, true, &before_);
        if (!true_classes.empty()) {
            ranks_->add(outcome.rank);
            calibration_->add(outcome.top_two, before_, true_classes.size(), source);
        }
        if (has_vector(instance))
            evidence_->learn(instance, true_classes, weight, seq_ + 1, seq_ + 1, limits_);
        set_seq(seq_ + 1);
        return outcome;
    }

private:
    mutable ReaderSlots lock_;
    Learner* learner_ = nullptr;
    Calibration* calibration_ = nullptr;
    RankCounts* ranks_ = nullptr;
    Evidence* evidence_ = nullptr;
    EvidenceLimits limits_;
    RankingBefore before_;  // scratch memory of an event
    std::atomic<std::uint64_t> seq_{0};
};

}  // namespace manyclass
