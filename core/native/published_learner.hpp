// The primary learner, as native code calls it: it ranks on any thread, and learns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

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
    double limit = -1;       // the least limit for the asked accuracy; above 1: none, below 0: not asked
    std::uint64_t seq = 0;   // the last event learned before the ranking
};

// Ownership: learner, calibration and counts are the caller's, and outlive their use here.
// Threads: any number may rank; `use` waits until none does. Other calls: one thread at a time.
// A thread that ranks or learns may take the locks of the learner and of the calibration.
class PublishedLearner {
public:
    // Publish a learner; nullptr: rankings fail until another is published.
    void use(Learner* learner, Calibration* calibration, RankCounts* ranks) {
        const Writing lock(lock_);
        learner_ = learner;
        calibration_ = calibration;
        ranks_ = ranks;
    }

    std::uint64_t seq() const { return seq_; }
    void set_seq(std::uint64_t seq) { seq_ = seq; }

    // Rank the k best classes, two at least, and find the limit of confidence for an accuracy from 0
    // on. False without a learner, and for an instance with values below 0 that are absent to it:
    // Python ranks that one, and adds the warning.
    bool rank(std::string_view instance, std::uint32_t k, double accuracy,
              Answered& answered) const {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        const Reading lock(lock_);
        auto& [ranked, names, confidence, limit, seq] = answered;
        ranked.clear();
        names.clear();
        seq = seq_;
        k = std::max(k, 2u);
        if (learner_ == nullptr || (is_signed(instance) && !learner_->takes_signs())) return false;
        learner_->rank(instance, k, ANY, ranked, names);
        TopTwoScores best;
        if (!ranked.empty()) best.first = ranked[0].score;
        if (ranked.size() > 1) best.second = ranked[1].score;
        confidence = calibration_->confidence(best);
        limit = accuracy < 0 ? -1 : calibration_->limit_for(accuracy);
        return true;
    }

    // Learn an instance as the next event, see Learner::learn. Count the outcome if the event has
    // true classes, with the source of the event, empty without one. A learner must be published.
    Outcome learn(std::string_view instance, const std::vector<std::string_view>& true_classes,
                  const std::vector<std::string_view>& rejected, double weight,
                  std::string_view source) {
        const Outcome outcome =
            learner_->learn(instance, true_classes, rejected, weight, true, &before_);
        if (!true_classes.empty()) {
            ranks_->add(outcome.rank);
            calibration_->add(outcome.top_two, outcome.rank == 1, before_.first, source);
        }
        ++seq_;
        return outcome;
    }

private:
    mutable ReaderSlots lock_;
    Learner* learner_ = nullptr;
    Calibration* calibration_ = nullptr;
    RankCounts* ranks_ = nullptr;
    RankingBefore before_;  // scratch memory of an event
    std::atomic<std::uint64_t> seq_{0};
};

}  // namespace manyclass
