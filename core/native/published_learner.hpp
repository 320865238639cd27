// The learner that answers, as native code reaches it: it ranks on any thread, and learns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "calibration.hpp"
#include "model.hpp"
#include "pipeline/reader_slots.hpp"
#include "pipeline/wire.hpp"
#include "rank_counts.hpp"

namespace manyclass {

// A ranking of an instance, with memory that the next one uses again.
struct Answered {
    std::vector<Ranked> ranked;
    std::string names;       // size u32 and bytes of each ranked class
    double confidence = -1;  // that the first class is right; negative: unknown
    std::uint64_t seq = 0;   // the last event that the model had learned before the ranking
};

// Ownership: model, calibration and counts are the caller's, and outlive their use here.
// Threads: any number may rank; `use` waits until none does. One at a time the rest. A thread that
// ranks or learns may take the locks of the model and of the calibration.
class PublishedLearner {
public:
    // Let a model answer; nullptr: none does.
    void use(Model* model, Calibration* calibration, RankCounts* ranks) {
        const Writing lock(lock_);
        model_ = model;
        calibration_ = calibration;
        ranks_ = ranks;
    }

    std::uint64_t seq() const { return seq_; }
    void set_seq(std::uint64_t seq) { seq_ = seq; }

    // Rank the k best classes, two at least. False without a learner, and for an instance with values
    // below 0 that are absent to it: Python ranks that one, and adds the warning.
    bool rank(std::string_view instance, std::uint32_t k, Answered& answered) const {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        const Reading lock(lock_);
        auto& [ranked, names, confidence, seq] = answered;
        ranked.clear();
        names.clear();
        seq = seq_;
        k = std::max(k, 2u);
        if (model_ == nullptr || (is_signed(instance) && !model_->takes_signs())) return false;
        model_->rank(instance, k, ANY, ranked, names);
        TopTwoScores best;
        if (!ranked.empty()) best.first = ranked[0].score;
        if (ranked.size() > 1) best.second = ranked[1].score;
        confidence = calibration_->confidence(best);
        return true;
    }

    // Learn an instance as the next event, see Model::learn; count the outcome if it has true
    // classes. Only if a model answers.
    Outcome learn(std::string_view instance, const std::vector<std::string_view>& true_classes,
                  const std::vector<std::string_view>& rejected, double weight) {
        const Outcome outcome = model_->learn(instance, true_classes, rejected, weight, true);
        if (!true_classes.empty()) {
            ranks_->add(outcome.rank);
            calibration_->add(outcome.top_two, outcome.rank == 1);
        }
        ++seq_;
        return outcome;
    }

private:
    mutable ReaderSlots lock_;
    Model* model_ = nullptr;
    Calibration* calibration_ = nullptr;
    RankCounts* ranks_ = nullptr;
    std::atomic<std::uint64_t> seq_{0};
};

}  // namespace manyclass
