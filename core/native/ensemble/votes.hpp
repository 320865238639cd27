// Rank aggregation: one ranking of classes made of those of several members, by vote.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pipeline/ranking.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// The rule by which nominations make the score of a class; docs/learners.md, "Committees".
enum class Vote { majority, rarest, score, probability };

// The classes that a member nominates for an instance, by ids of the table, best first.
struct Nominations {
    const Ranked* first;
    const Ranked* last;

    bool empty() const { return first == last; }
    const Ranked* begin() const { return first; }
    const Ranked* end() const { return last; }
};

// Turns the scores of a member into shares of its best, from 0 to 1. `lowest` is 0 unless a score
// is negative. Both are 0 for scores that are all the same and not above 0, and without any.
struct Scale {
    explicit Scale(const Nominations& nominated) {
        if (nominated.empty()) return;
        lowest = std::min(0.0, nominated.last[-1].score);
        span = nominated.first->score - lowest;
    }

    double share(double score) const { return span == 0 ? 1.0 : (score - lowest) / span; }

    double lowest = 0, span = 0;
};

// A class that a member nominated.
struct Candidate {
    double score;
    std::uint32_t cls;
    std::uint32_t firsts;  // members that rank it first
    std::uint32_t order;   // in the order of nominations, which decides between equal scores

    bool precedes(const Candidate& other) const {
        return score != other.score ? score > other.score : order < other.order;
    }
};

// The votes on one instance. Scratch memory, for one instance after another.
class Votes {
public:
    // Before the first nominations, with the end of the table's class ids.
    void start(std::uint32_t classes) {
        for (const Candidate& each : candidates_) candidate_of_[each.cls] = 0;
        candidates_.clear();
        members_ = 0;
        if (candidate_of_.size() < classes) candidate_of_.resize(classes, 0);
    }

    // Add the shares of the next member's scores.
    void add_shares(const Nominations& nominated) {
        const Scale scale(nominated);
        ++members_;
        for (const Ranked& each : nominated) candidate(each.cls).score += scale.share(each.score);
        if (!nominated.empty()) ++candidate(nominated.first->cls).firsts;
    }

    // Add the scores of the next member as they are.
    void add_scores(const Nominations& nominated) {
        ++members_;
        for (const Ranked& each : nominated) candidate(each.cls).score += each.score;
    }

    // Count, after the last nominations; `records` are those of the table's classes.
    void count(Vote vote, const std::vector<ClassRecord>& records) {
        for (Candidate& each : candidates_) each.score /= static_cast<double>(members_);
        if (vote == Vote::score || vote == Vote::probability) return;
        if (vote == Vote::rarest) elect_rarest(records);
        for (Candidate& each : candidates_) each.score += static_cast<double>(each.firsts);
    }

    // Every class that a member nominated; in the order of nominations unless they were sorted.
    const std::vector<Candidate>& candidates() const { return candidates_; }

    // Sort the k best to the front, best first; return how many these are.
    std::size_t sort_best(std::size_t k) {
        const std::size_t kept = std::min(k, candidates_.size());
        std::partial_sort(
            candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept),
            candidates_.end(),
            [](const Candidate& one, const Candidate& other) { return one.precedes(other); });
        return kept;
    }

private:
    // The candidate of a class, a new one if there is none. Not after sorting.
    Candidate& candidate(std::uint32_t cls) {
        std::uint32_t& candidate_plus_1 = candidate_of_[cls];
        if (candidate_plus_1 == 0) {
            const auto order = static_cast<std::uint32_t>(candidates_.size());
            candidates_.push_back({0.0, cls, 0, order});
            candidate_plus_1 = order + 1;
        }
        return candidates_[candidate_plus_1 - 1];
    }

    // Give all first ranks of the members to one class: of the classes ranked first by a member,
    // the class learned least often; of equally rare ones, the class with the higher score.
    void elect_rarest(const std::vector<ClassRecord>& records) {
        Candidate* rarest = nullptr;
        for (Candidate& each : candidates_) {
            if (each.firsts == 0) continue;
            if (rarest == nullptr || is_rarer(each, *rarest, records)) rarest = &each;
        }
        if (rarest != nullptr) rarest->firsts = members_;
    }

    static bool is_rarer(const Candidate& one, const Candidate& other,
                         const std::vector<ClassRecord>& records) {
        const std::uint64_t times = records[one.cls].learned;
        const std::uint64_t other_times = records[other.cls].learned;
        if (times != other_times) return times < other_times;
        return static_cast<double>(one.firsts) + one.score >
               static_cast<double>(other.firsts) + other.score;
    }

    std::vector<Candidate> candidates_;
    std::vector<std::uint32_t> candidate_of_;  // by class id: its candidate + 1; 0: none
    std::uint32_t members_ = 0;
};

}  // namespace manyclass
