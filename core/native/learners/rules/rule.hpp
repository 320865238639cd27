// The parts of a rule of a linear learner. A rule is a struct with its options, its update and
// constants by which LinearAlgorithm is compiled; it derives from one of the structs below.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learners/rules/class_steps.hpp"
#include "learners/rules/costs.hpp"
#include "learners/rules/normalized_weights.hpp"
#include "learners/rules/signed_weights.hpp"
#include "pipeline/example.hpp"
#include "pipeline/ranking.hpp"
#include "storage/postings.hpp"

namespace manyclass {

// The scores from which an update is computed.
struct UpdateContext {
    std::vector<Ranked> positives;  // the true classes with their scores, 0 where not retrieved
    std::vector<Ranked> negatives;  // the wrong classes of the highest scores but 0, best first
    std::vector<Ranked> rejected;   // classes said to be wrong, if the rule has constraints
    std::vector<Ranked> others;     // the classes of the constraints that the example brought
    double mean_classes = 0;        // the true classes of an event so far, on average
    Costs costs;                    // of the negatives, 1 where the rule has no costs
    bool is_replayed = false;       // the example was learned before
    NewEdges new_edges;             // that the update makes
    const ClassPaths* paths = nullptr;  // of a hierarchy

    // Without costs.
    double best_negative() const {
        return negatives.empty() ? 0.0 : std::max(negatives[0].score, 0.0);
    }

    // The lead that a positive lacks over the negatives and over 0.
    double loss(const Ranked& positive, double margin) const {
        if (!costs.are_unequal()) return margin - positive.score + best_negative();
        double most = margin - positive.score;
        for (const Ranked& each : negatives)
            most = std::max(most, margin * costs.of(positive.cls, each.cls) - positive.score +
                                      each.score);
        return most;
    }

    // True if a positive leads the negatives and 0 by more than the margin.
    bool is_well_ranked(const Ranked& positive, double margin) const {
        if (!costs.are_unequal()) return positive.score - best_negative() > margin;
        return positive.score > margin &&
               std::all_of(negatives.begin(), negatives.end(), [&](const Ranked& each) {
                   return positive.score - each.score >
                          margin * costs.of(positive.cls, each.cls);
               });
    }
};

struct Rule {
    static constexpr bool NORMALIZED = false;       // a weight is the share of the row's mass
    static constexpr bool SIGNED = false;           // weights, and so scores, may be negative
    static constexpr bool HAS_WINDOW = false;       // a positive ranked far down scores 0
    static constexpr bool HAS_VARIANCES = false;    // of the edges
    static constexpr bool HAS_CONSTRAINTS = false;  // stored with examples
    static constexpr bool HAS_REJECTIONS = false;   // `reject` updates a class said to be wrong
    static constexpr bool HAS_BIAS = false;         // a weight of each class for all examples
    static constexpr bool HAS_COSTS = false;        // margins grow with the distance of classes
    static constexpr bool HAS_PATHS = false;        // a class scores the sum along its path
    static constexpr bool ALWAYS_UPDATES = false;   // also if the margin is large enough
    static constexpr bool DROPS_LIGHT_VOTES = false;
    static constexpr bool MASS_IS_SCALE = false;  // it does not shrink with the edges
    // Of a row: its largest mass, the sum of its edges as a multiple of the mass, and how much
    // rounding may add to that.
    static constexpr double MOST_MASS = 0, MOST_SUM = 1 + 1e-9, ROUNDING = 0;

    std::uint32_t max_outdegree = 0, rating = 0;

    template <class V>
    void visit_options(V&& option) {
        option("max_outdegree", max_outdegree);
        option("rating", rating);
    }
};

// Rows stand heaviest first; the best negative alone decides about an update.
struct NormalizedRule : Rule {
    static constexpr bool NORMALIZED = true;
    std::size_t most_negatives(const UpdateContext&) const { return 1; }
};

// Rows hold the weights as they are; the best `negatives` take part in an update.
struct SignedRule : Rule {
    static constexpr bool SIGNED = true;
    static constexpr double MOST_MASS = LONGEST_ROW;  // settled edges

    double margin = 0;
    double family_rate = 0;  // of a rule with paths
    std::uint32_t negatives = 1;
    double budget = 0;  // edges a feature; 0: no budget
    std::uint32_t budget_floor = 0;  // edges of an index that a budget allows at least
    bool tfidf = false;

    template <class V>
    void visit_options(V&& option) {
        Rule::visit_options(option);
        option("margin_threshold", margin);
        option("negatives", negatives);
        visit_budget(option);
    }

    template <class V>
    void visit_budget(V&& option) {
        option("budget", budget);
        option("budget_floor", budget_floor);
        option("tfidf", tfidf);
    }

    std::size_t most_negatives(const UpdateContext&) const { return negatives; }

    SignedWeights weights(Postings& postings, const UpdateContext& context) const {
        return {postings, max_outdegree, true, &context.new_edges};
    }
};

// --- updates -----------------------------------------------------------------------------------

// Shares of one step back: the negatives within the margin of a positive divide it by how much each
// violates the margin. 0 for the others; none for those behind the last.
inline std::vector<double> violation_shares(const UpdateContext& context, const Ranked& positive,
                                            double margin) {
    std::vector<double> shares;
    double sum = 0;
    std::size_t within = 0;
    for (const Ranked& negative : context.negatives) {
        const double demanded = margin * context.costs.of(positive.cls, negative.cls);
        const double violation = demanded - positive.score + negative.score;
        shares.push_back(violation > 0 ? violation : 0);
        if (!(violation > 0)) continue;
        sum += violation;
        within = shares.size();
    }
    shares.resize(within);
    for (double& share : shares) share /= sum;
    return shares;
}

// Call the function with each active feature that is in the vocabulary.
template <class F>
void each_known(const std::vector<ActiveFeature>& active, F&& visit) {
    for (const ActiveFeature& each : active)
        if (each.feature != NO_ID) visit(each);
}

inline double squared_norm(const std::vector<ActiveFeature>& active) {
    double squares = 0;
    each_known(active, [&](const ActiveFeature& each) { squares += each.value * each.value; });
    return squares;
}

inline void take_steps(SignedWeights&& weights, const std::vector<ActiveFeature>& active,
                       const std::vector<Step>& steps) {
    if (steps.size() < StepEdges::LEAST || steps.size() > StepEdges::MOST) {
        each_known(active, [&](const ActiveFeature& each) {
            for (const Step& step : steps)
                weights.add(each.feature, step.cls, step.gain * each.value);
        });
        return;
    }
    StepEdges step_edges(steps);
    each_known(active, [&](const ActiveFeature& each) {
        weights.add_each(each.feature, step_edges, each.value);
    });
}

}  // namespace manyclass
