// Judging the factors of a mixture by the ranking of an event before it was learned: for each factor,
// how many of its true classes would have been ranked first.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "beside/mixed_candidate.hpp"
#include "beside/evidence.hpp"
#include "beside/mixed_ranking.hpp"
#include "beside/mixture.hpp"
#include "pipeline/name_list.hpp"
#include "pipeline/top_k.hpp"

namespace manyclass {

// Threads: one, that which learns.
class FactorJudging {
public:
    FactorJudging(const MixedRanking& ranking, const std::vector<std::string_view>& true_classes)
        : ranking_(ranking),
          true_classes_(true_classes),
          first_ranks_(std::min(true_classes.size(), MOST_FIRST_RANKS)) {
        first_.reserve(MOST_FIRST_RANKS);
    }

    // Note the spreads of the event, and compare the factors of each part, with the other part at its
    // present factor. It allocates nothing: the event was learned by then.
    void judge(Mixture& mixture, const Evidence::View& view) {
        if (true_classes_.empty()) return;
        for (const Part part : {Part::words, Part::names, Part::vectors})
            mixture.note_spread(part, ranking_.scale(part).spread());
        for (const Part part : {Part::names, Part::vectors}) {
            if (ranking_.scale(part).is_silent()) continue;
            // no vector ranks a class that had none before: the first event of each class would
            // speak against it
            if (part == Part::vectors && !any_has_weights(view)) continue;
            std::array<double, Mixture::FACTORS.size()> shares;
            for (std::size_t at = 0; at < shares.size(); ++at)
                shares[at] = share_right(part, Mixture::FACTORS[at]);
            mixture.judge(part, shares);
        }
    }

private:
    static constexpr std::size_t MOST_FIRST_RANKS = 5;

    bool any_has_weights(const Evidence::View& view) const {
        return std::any_of(true_classes_.begin(), true_classes_.end(), [&](std::string_view cls) {
            const std::uint32_t id = view.find(cls);
            return id != NO_ID && view.has_weights(id);
        });
    }

    // Return the share of the first ranks that true classes would have with this factor on a part.
    double share_right(Part part, double factor) {
        const double more = factor - ranking_.factor(part);
        first_.clear();
        for (const MixedCandidate& candidate : ranking_.candidates()) {
            MixedCandidate each = candidate;
            const double added = more * ranking_.usual_weight(part, each) * each.bounded[part];
            each.score += added;
            each.exact_score += added;
            insert_first(first_, first_ranks_, each,
                         [](const MixedCandidate& one, const MixedCandidate& other) {
                             return one.precedes(other);
                         });
        }
        double right = 0;
        for (const MixedCandidate& each : first_) right += contains(true_classes_, each.name);
        return right / static_cast<double>(first_ranks_);
    }

    const MixedRanking& ranking_;
    const std::vector<std::string_view>& true_classes_;
    const std::size_t first_ranks_;  // that are compared
    std::vector<MixedCandidate> first_;   // by the factor that is judged
};

}  // namespace manyclass
