// The scores of classes under a rule: ranked retrieval over postings (Madani, Connor and Greiner,
// JMLR 2009, section 3), along paths if the rule has a hierarchy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "learners/class_paths.hpp"
#include "learners/algorithm.hpp"
#include "learners/rules/rule.hpp"
#include "pipeline/top_k.hpp"
#include "storage/class_search.hpp"
#include "storage/score_table.hpp"

namespace manyclass {

// The rule is a template argument, so that no loop over edges has a branch on it.
// Ownership: the tables are the engine's. The algorithm changes the rule's options, paths and
// biases.
// Threads: as for Algorithm.
template <class Rule>
class LinearScorer {
public:
    explicit LinearScorer(Tables& tables) : paths(tables), tables_(tables) {}

    Rule rule;
    ClassPaths paths;           // empty but for a rule with paths
    std::vector<float> biases;  // of the classes, by id; empty without a bias

    const Tables& tables() const { return tables_; }

    // --- the vote of a feature -----------------------------------------------------------------

    double rating(const Row& row) const {
        if (row.times_seen >= rule.rating) return 1.0;
        return static_cast<double>(row.times_seen) / static_cast<double>(rule.rating);
    }

    static double weight_of(const Row& row, float mass) {
        return Rule::NORMALIZED ? static_cast<double>(mass) / row.mass : static_cast<double>(mass);
    }

    // Return what an active feature adds to the score of a class, or a family, by its id.
    double vote_of(const ActiveFeature& active, std::uint32_t id) const {
        if (active.feature == NO_ID) return 0;
        const Row& row = postings()[active.feature];
        const auto edge = postings().edges(row);
        const std::uint32_t voting = edges_scored(row);
        const std::uint32_t at = class_search(id, edge.classes, voting);
        if (at == voting) return 0;
        return coefficient(active, row) * static_cast<double>(edge.masses[at]);
    }

    // Return the score of one class; not for rules with which only the heaviest edges vote.
    double score_of(const Example& example, std::uint32_t cls) const {
        double score = 0;
        for (const ActiveFeature& each : example.active)
            each_on_path(cls, [&](std::uint32_t id) { score += vote_of(each, id); });
        return score;
    }

    // --- ranked retrieval ----------------------------------------------------------------------

    // The known features of an example, and the edges that vote.
    struct Touched {
        std::size_t features = 0, edges = 0;
    };

    // Set the scores of the classes that edges lead to. `is_before`: with the ratings before the
    // present event was counted.
    Touched retrieve(const Example& example, ScoreTable& scores, bool is_before = false) const {
        const std::vector<ActiveFeature>& active = example.active;
        Touched touched;
        for (const ActiveFeature& each : active) {
            if (each.feature == NO_ID) continue;
            touched.edges += edges_scored(postings()[each.feature]);
            ++touched.features;
        }
        scores.start(touched.edges + example.votes.size(), tables_.classes.end(), Rule::HAS_PATHS);
        for (const ActiveFeature& each : active) {
            if (each.feature == NO_ID) continue;
            const Row& row = postings()[each.feature];
            if (row.outdegree == 0) continue;
            const auto edge = postings().edges(row);
            scores.add<Rule::HAS_PATHS>(edge.classes, edge.masses, edges_scored(row),
                                        coefficient(each, is_before ? before_counted(row) : row));
        }
        if constexpr (Rule::HAS_BIAS)
            if (rule.bias > 0) {
                const double value = rule.bias_of(squared_norm(active), tables_.mean_classes());
                if (value > 0) scores.add_to_each(biases, value);
            }
        if constexpr (Rule::HAS_PATHS) paths.add_above(scores);
        return touched;
    }

    // Add the votes to the scores; false if there are none, or their weight is 0.
    bool add_votes(const Example& example, ScoreTable& scores) const {
        if (!(example.vote_scale > 0)) return false;
        for (const NeighborVote& each : example.votes) {
            const double above = scores.score(each.cls) == 0 ? score_of(each.cls, scores) : 0.0;
            scores.add(each.cls, above + example.vote_scale * each.share);
        }
        return !example.votes.empty();
    }

    // Subtract what features below the full rating add because their times seen include this event
    // already. Return whether there are such features.
    bool subtract_counted(const Example& example, ScoreTable& scores) const {
        if (rule.rating == 0) return false;
        if constexpr (Rule::HAS_PATHS) {
            scores.undo();
            retrieve(example, scores, /*is_before=*/true);
            add_votes(example, scores);
            return true;
        }
        bool any = false;
        for (const ActiveFeature& each : example.active) {
            if (each.feature == NO_ID) continue;
            const Row& row = postings()[each.feature];
            if (row.times_seen > rule.rating || row.outdegree == 0) continue;
            const auto edge = postings().edges(row);
            const double more = coefficient(each, row) - coefficient(each, before_counted(row));
            scores.add<Rule::HAS_PATHS>(edge.classes, edge.masses, edges_scored(row), -more);
            any = true;
        }
        return any;
    }

    // --- along paths ---------------------------------------------------------------------------

    // Call the function with the class and each family above it.
    template <class F>
    void each_on_path(std::uint32_t cls, F&& visit) const {
        visit(cls);
        if constexpr (Rule::HAS_PATHS)
            for (std::uint32_t id = paths.above(cls); id != NO_ID; id = paths.above(id))
                visit(id);
    }

    // Return the score of a class, also if no edge leads to it.
    double score_of(std::uint32_t cls, const ScoreTable& scores) const {
        return Rule::HAS_PATHS ? paths.score(scores, cls) : scores.score(cls);
    }

    // True if a class with this score is ranked: one that no edge leads to ranks with
    // a class above it if that one's score is above 0.
    bool is_ranked(std::uint32_t cls, double score, const ScoreTable& scores) const {
        if (!is_retrieved(score)) return false;
        if constexpr (Rule::HAS_PATHS)
            return scores.score(cls) != 0 || (score > 0 && paths.is_class(cls));
        return true;
    }

    static bool is_retrieved(double score) { return score > 0 || (Rule::SIGNED && score < 0); }

    // Add the classes that rank with a class above them to the k best.
    void add_unscored(const ScoreTable& scores, std::uint32_t k, double threshold,
                      std::vector<Ranked>& best) const {
        const std::size_t scored = best.size();
        const double last = scored == k && k > 0 ? best.back().score : threshold;
        paths.each_unscored(scores, last, [&](std::uint32_t cls, double score) {
            if (score > threshold) best.push_back({score, cls});
        });
        if (best.size() == scored) return;
        keep_first(best, k, [this](const Ranked& one, const Ranked& other) {
            return tables_.precedes(one, other);
        });
    }

private:
    const Postings& postings() const { return tables_.postings; }

    // Return the number of edges of a row that vote: the heaviest ones of a sorted row.
    std::uint32_t edges_scored(const Row& row) const {
        if constexpr (!Rule::NORMALIZED) return row.outdegree;
        const std::uint32_t most = std::min<std::uint32_t>(row.outdegree, rule.max_outdegree);
        if constexpr (Rule::DROPS_LIGHT_VOTES) {
            const float* masses = postings().edges(row).masses;
            const auto is_heavy = [&](float mass) {
                return static_cast<double>(mass) / row.mass >= rule.min_weight;
            };
            return static_cast<std::uint32_t>(
                std::partition_point(masses, masses + most, is_heavy) - masses);
        }
        return most;
    }

    double coefficient(const ActiveFeature& active, const Row& row) const {
        const double vote = rating(row) * active.value;
        return Rule::NORMALIZED ? vote / row.mass : vote;
    }

    static Row before_counted(Row row) {
        --row.times_seen;
        return row;
    }

    const Tables& tables_;
};

}  // namespace manyclass
