// Compares the scores of the true classes of an example with those of other classes: the context of
// an update, and the outcome of the ranking.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "learners/linear_scorer.hpp"
#include "learners/rules/rule.hpp"
#include "pipeline/example.hpp"
#include "pipeline/top_k.hpp"
#include "storage/score_table.hpp"

namespace manyclass {

// Ownership: it refers to the scores of a learner and its tables, which outlive it.
template <class Rule>
class LinearComparison {
public:
    explicit LinearComparison(const LinearScorer<Rule>& scorer)
        : scorer_(scorer), tables_(scorer.tables()) {}

    // Compare the true classes with the wrong ones. `updated` of the outcome: some class is to be
    // updated. No caller reads the ranks of a replayed example: they are not computed. `first`
    // receives the class ranked first, unless classes rank that no edge leads to.
    Outcome compare(const Example& example, ScoreTable& scores, UpdateContext& context,
                    bool is_replayed, Ranked& first) const {
        context.positives.clear();
        for (const std::uint32_t cls : example.classes)
            if (cls != NO_ID) context.positives.push_back({scores.take(cls), cls});
        context.new_edges.unreached.clear();
        for (const Ranked& each : context.positives)
            if (each.score == 0) context.new_edges.unreached.push_back(each.cls);
        context.mean_classes = tables_.mean_classes();
        context.paths = Rule::HAS_PATHS ? &scorer_.paths : nullptr;
        const std::size_t most = scorer_.rule.most_negatives(context);
        find_negatives(scores, most, context.negatives);
        Outcome outcome{0, false, {}};
        for (const Ranked& negative : context.negatives) outcome.top_two.add(negative.score);
        first = context.negatives.empty() ? Ranked{0, NO_ID} : context.negatives[0];
        if (context.negatives.size() > most) context.negatives.resize(most);
        context.costs.start(cost(), tables_.class_nodes, context.positives);
        if constexpr (Rule::HAS_COSTS)
            if (context.costs.are_unequal() && scorer_.rule.compares_pairs(context))
                find_costly_negatives(scores, most, context);
        for (const Ranked& each : context.positives) scores.restore(each.cls, each.score);
        for (Ranked& each : context.positives) each.score = scorer_.score_of(each.cls, scores);
        for (const Ranked& each : context.positives)
            if (scorer_.is_retrieved(each.score) &&
                (first.cls == NO_ID || tables_.precedes(each, first)))
                first = each;
        if (!is_replayed || Rule::HAS_WINDOW) rank_positives(scores, context, outcome);
        if constexpr (Rule::HAS_CONSTRAINTS)
            find_others(example.constraints, scores, context.others);
        if constexpr (!Rule::ALWAYS_UPDATES) drop_well_ranked(context);
        outcome.updated = !context.positives.empty();
        if constexpr (Rule::HAS_CONSTRAINTS) {
            if (!outcome.updated) context.negatives.clear();  // their labels are unknown
            find_rejected(example.rejected, scores, context.rejected);
            outcome.updated |= !context.rejected.empty();
        }
        return outcome;
    }

    // Fill in the learner's own scores of the classes with a vote, and the best of the others.
    void take_own_scores(Example& example, ScoreTable& scores) const {
        std::vector<double> taken;
        for (const NeighborVote& each : example.votes) taken.push_back(scores.take(each.cls));
        select_top_k<Rule::SIGNED>(scores, tables_, example.ranks_compared(),
                                   -std::numeric_limits<double>::infinity(),
                                   example.best_without_vote);
        for (std::size_t at = 0; at < taken.size(); ++at)
            scores.restore(example.votes[at].cls, taken[at]);
        for (NeighborVote& each : example.votes) each.own = scorer_.score_of(each.cls, scores);
    }

    // Return the best rank of a true class; 0 if none is retrieved.
    std::uint32_t best_rank(const Example& example, const ScoreTable& scores) const {
        std::uint32_t best = 0;
        for (const std::uint32_t cls : example.classes) {
            if (cls == NO_ID) continue;
            const Ranked ranked{scorer_.score_of(cls, scores), cls};
            const std::uint32_t rank = rank_of(ranked, scores);
            if (rank > 0 && (best == 0 || rank < best)) best = rank;
        }
        return best;
    }

    // Return the two highest scores.
    TopTwoScores top_two_of(const ScoreTable& scores) const {
        TopTwoScores top_two;
        static constexpr double NONE = -std::numeric_limits<double>::infinity();
        scores.each_at_least(NONE, [&](std::uint32_t, double score) {
            top_two.add(score);
            return top_two.second == 0 ? NONE : top_two.second;
        });
        if constexpr (Rule::HAS_PATHS)
            scorer_.paths.each_unscored(
                scores, top_two.second,
                [&](std::uint32_t, double score) { top_two.add(score); });
        return top_two;
    }

private:
    // Find the best rank of a positive; ranks beyond the window count as not retrieved.
    void rank_positives(const ScoreTable& scores, UpdateContext& context, Outcome& outcome) const {
        if constexpr (!Rule::HAS_WINDOW && !Rule::HAS_PATHS) {
            const Ranked* best = nullptr;
            for (const Ranked& each : context.positives) {
                if (!scorer_.is_retrieved(each.score)) continue;
                outcome.top_two.add(each.score);
                if (best == nullptr || tables_.precedes(each, *best)) best = &each;
            }
            if (best != nullptr) outcome.rank = rank_of(*best, scores);
            return;
        }
        for (Ranked& each : context.positives) {
            const std::uint32_t rank = rank_of(each, scores);
            if (rank == 0) continue;
            if (outcome.rank == 0 || rank < outcome.rank) outcome.rank = rank;
            outcome.top_two.add(each.score);
            if (!is_within_window(rank)) each.score = 0;
        }
    }

    bool is_within_window(std::uint32_t rank) const {
        if constexpr (Rule::HAS_WINDOW) return rank <= scorer_.rule.retrieval_window;
        else return true;
    }

    // Find the wrong classes of the highest scores, best first: `most`, but at least two.
    void find_negatives(const ScoreTable& scores, std::size_t most,
                        std::vector<Ranked>& negatives) const {
        if constexpr (!Rule::NORMALIZED) {
            select_top_k<Rule::SIGNED>(
                scores, tables_, static_cast<std::uint32_t>(std::max<std::size_t>(most, 2)),
                -std::numeric_limits<double>::infinity(), negatives);
            return;
        }
        Ranked best{0, NO_ID}, second{0, NO_ID};
        const auto precedes = [this](const Ranked& one, const Ranked& other) {
            if (other.cls == NO_ID) return one.cls != NO_ID;
            return one.cls != NO_ID && tables_.precedes(one, other);
        };
        scores.each_at_least(0, [&](std::uint32_t cls, double score) {
            const Ranked each{score, cls};
            if (precedes(each, second)) second = each;
            if (precedes(second, best)) std::swap(best, second);
            return second.score;
        });
        negatives.clear();
        for (const Ranked& each : {best, second})
            if (each.cls != NO_ID) negatives.push_back(each);
    }

    Cost cost() const {
        if constexpr (Rule::HAS_COSTS) return scorer_.rule.cost;
        else return Cost::none;
    }

    // The wrong classes that come nearest to the margin, or violate it most, beside the nearest
    // true class: those of the highest score and margin together, best first.
    void find_costly_negatives(const ScoreTable& scores, std::size_t most,
                               UpdateContext& context) const {
        struct Rival {
            double reach;  // score and margin
            Ranked ranked;
        };
        const auto precedes = [this](const Rival& one, const Rival& other) {
            if (one.reach != other.reach) return one.reach > other.reach;
            return tables_.precedes(one.ranked, other.ranked);
        };
        constexpr double ROUNDING = 1e-12;
        const Costs& costs = context.costs;
        const double margin = scorer_.rule.margin;
        const double widest = std::max(margin * costs.most(), margin * costs.least());
        std::vector<Rival> rivals;
        double least = -std::numeric_limits<double>::infinity();  // score that may be among them
        scores.each_at_least(least, [&](std::uint32_t cls, double score) {
            if (tables_.retired.has(cls)) return least;
            rivals.push_back({score + margin * costs.of_nearest(cls), {score, cls}});
            for (std::size_t at = rivals.size() - 1; at > 0 && precedes(rivals[at], rivals[at - 1]);
                 --at)
                std::swap(rivals[at], rivals[at - 1]);
            if (rivals.size() > most) rivals.pop_back();
            const double last = rivals.back().reach;
            if (rivals.size() == most)
                least = last - widest - ROUNDING * (std::fabs(last) + std::fabs(widest));
            return least;
        });
        context.negatives.clear();
        for (const Rival& each : rivals) context.negatives.push_back(each.ranked);
    }

    // Return the rank of a class with this score; 0 if it is not ranked.
    std::uint32_t rank_of(const Ranked& wanted, const ScoreTable& scores) const {
        if (!scorer_.is_ranked(wanted.cls, wanted.score, scores)) return 0;
        std::uint32_t rank = 1;
        scores.each_at_least(wanted.score, [&](std::uint32_t cls, double score) {
            rank += tables_.precedes({score, cls}, wanted);
            return wanted.score;
        });
        if constexpr (Rule::HAS_PATHS) {
            bool is_there = scores.score(wanted.cls) != 0;
            scorer_.paths.each_unscored(scores, wanted.score, [&](std::uint32_t cls, double score) {
                is_there |= cls == wanted.cls;
                rank += cls != wanted.cls && tables_.precedes({score, cls}, wanted);
            });
            if (!is_there) return 0;
        }
        return rank;
    }

    // The scores of the classes of constraints.
    void find_others(const std::vector<Constraint>& constraints, const ScoreTable& scores,
                     std::vector<Ranked>& others) const {
        others.clear();
        for (const Constraint& constraint : constraints)
            for (const std::uint32_t cls : {constraint.ahead, constraint.behind}) {
                if (cls == NO_ID) continue;
                others.push_back({scorer_.score_of(cls, scores), cls});
            }
    }

    void find_rejected(const std::vector<std::uint32_t>& classes, const ScoreTable& scores,
                       std::vector<Ranked>& rejected) const {
        rejected.clear();
        for (const std::uint32_t cls : classes)
            rejected.push_back({scorer_.score_of(cls, scores), cls});
    }

    // Remove the positives that lead all negatives by more than the margin.
    void drop_well_ranked(UpdateContext& context) const {
        std::vector<Ranked>& positives = context.positives;
        positives.erase(std::remove_if(positives.begin(), positives.end(),
                                       [&](const Ranked& each) {
                                           return context.is_well_ranked(each, scorer_.rule.margin);
                                       }),
                        positives.end());
    }

    const LinearScorer<Rule>& scorer_;
    const Tables& tables_;
};

}  // namespace manyclass
