// The algorithm of linear learners: scores of classes are sums of weights, which a rule updates
// (learners/rules/).
//
//   example -> LinearScorer -> k best classes
//                  |
//                  +-> LinearComparison -> context -> Rule::update -> EdgeBudget
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "learners/algorithm.hpp"
#include "learners/linear_comparison.hpp"
#include "learners/linear_scorer.hpp"
#include "learners/rules/edge_budget.hpp"
#include "learners/rules/rule.hpp"
#include "pipeline/top_k.hpp"
#include "storage/class_search.hpp"
#include "storage/score_table.hpp"

namespace manyclass {

// Scratch memory of a thread, reused by its calls. Not inlined: the address of a thread-local
// variable is costly to compute, and a compiler that can see it computes it again in every loop.
struct LinearScratch {
    ScoreTable scores;
    UpdateContext context;

    [[gnu::noinline]] static LinearScratch& of_thread() {
        static thread_local LinearScratch scratch;
        return scratch;
    }
};

template <class Rule>
class LinearAlgorithm final : public Algorithm {
public:
    LinearAlgorithm(Tables& tables, std::uint64_t seed, const OptionValues& options)
        : Algorithm(tables, seed), scorer_(tables) {
        if (Rule::HAS_VARIANCES) tables.postings.add_variances();
        scorer_.rule.visit_options(options);
    }

    static void visit_options(OptionNames& names) { Rule().visit_options(names); }
    void configure(const OptionValues& options) override {
        scorer_.rule.visit_options(options);
        if constexpr (Rule::SIGNED)
            if (scorer_.rule.budget == 0) budget_ = {};
        fit_biases();
    }

    // --- ranking -------------------------------------------------------------------------------

    void rank(const Example& example, std::uint32_t k, double threshold,
              std::vector<Ranked>& best) const override {
        ScoreTable& scores = LinearScratch::of_thread().scores;
        retrieve(example, scores);
        scorer_.add_votes(example, scores);
        select_best(scores, k, best, threshold);
        scores.undo();
    }

    void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best) const override {
        ScoreTable& scores = LinearScratch::of_thread().scores;
        retrieve(example, scores);
        scorer_.add_votes(example, scores);
        best.clear();
        for (const std::uint32_t cls : classes) {
            const double score = scorer_.score_of(cls, scores);
            if (scorer_.is_ranked(cls, score, scores) && score > threshold)
                best.push_back({score, cls});
        }
        scores.undo();
        keep_first(best, k, [this](const Ranked& one, const Ranked& other) {
            return tables_.precedes(one, other);
        });
    }

    void explain(const Example& example, std::uint32_t cls,
                 Contributions& contributions) const override {
        for (const ActiveFeature& each : example.active) {
            double votes = 0;
            scorer_.each_on_path(
                cls, [&](std::uint32_t id) { votes += scorer_.vote_of(each, id); });
            if (votes != 0) contributions.emplace_back(std::string(each.name), votes);
        }
    }

    // Return the families of a class from the top down, then the class itself.
    std::vector<PathNode> path(const Example& example, std::uint32_t cls) const override {
        std::vector<PathNode> nodes;
        if (!Rule::HAS_PATHS || cls == NO_ID) return nodes;
        scorer_.each_on_path(cls, [&](std::uint32_t id) {
            PathNode& node = nodes.emplace_back();
            node.name = tables_.classes.name(class_of(id));
            for (const ActiveFeature& each : example.active)
                if (const double vote = scorer_.vote_of(each, id); vote != 0) {
                    node.moved.emplace_back(std::string(each.name), vote);
                    node.score += vote;
                }
        });
        std::reverse(nodes.begin(), nodes.end());
        return nodes;
    }

    std::uint32_t most_edges_read() const override { return scorer_.rule.max_outdegree; }

    bool takes_signs() const override { return Rule::SIGNED; }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(Example& example, bool is_counted) override {
        return learn(example, is_counted, /*is_replayed=*/false);
    }
    void learn_again(Example& example) override {
        learn(example, /*is_counted=*/false, /*is_replayed=*/true);
    }

    void class_added(std::uint32_t) override { fit_biases(); }

    void class_counted(std::uint32_t cls) override {
        if constexpr (Rule::HAS_PATHS) scorer_.paths.note_class(cls);
    }

    // --- hierarchy -----------------------------------------------------------------------------

    bool has_nodes() const override { return Rule::HAS_PATHS; }
    void node_placed(std::uint32_t cls, bool is_before_learning) override {
        scorer_.paths.place(cls, is_before_learning);
    }
    bool is_above_others(std::uint32_t cls) const override {
        return scorer_.paths.has_children(cls);
    }
    std::vector<std::uint32_t> children(std::uint32_t cls) const override {
        return scorer_.paths.children(cls);
    }

    // --- forgetting ----------------------------------------------------------------------------

    void forget_class(std::uint32_t cls) override {
        if constexpr (Rule::HAS_PATHS) scorer_.paths.remove(cls);
        if (!scorer_.biases.empty()) scorer_.biases[cls] = 0;
    }

    bool has_edges() const override { return true; }

    void remove_retired(Row& row) override {
        const auto is_retired = [this](std::uint32_t id) {
            return tables_.retired.has(Rule::HAS_PATHS ? class_of(id) : id);
        };
        const Postings::ConstEdges edge = postings().edges(row);
        if (std::none_of(edge.classes, edge.classes + row.outdegree, is_retired)) return;
        double without = row.mass, left = 0;
        tables_.postings.remove_edges(row, [&](std::uint32_t at) {
            const bool is_gone = is_retired(edge.classes[at]);
            const auto mass = static_cast<double>(edge.masses[at]);
            if (!is_gone) left += mass;
            else if (!Rule::SIGNED) without -= mass;
            else if (at < row.mass) without -= 1;  // one settled edge less
            return is_gone;
        });
        if (Rule::SIGNED) row.mass = without;
        else if (!Rule::MASS_IS_SCALE)  // no weight above 1
            row.mass = row.outdegree == 0 ? 0 : std::max(without, left);
    }

    bool can_sparsify() const override { return Rule::SIGNED; }

    // Among equal weights, those of the features that came first stay.
    void sparsify(std::uint64_t wanted) override {
        if (!Rule::SIGNED || wanted >= postings().edges()) return;
        std::vector<float> weights;
        for (std::uint32_t id = 0; id < postings().end(); ++id) {
            const Row& row = postings()[id];
            const float* of_row = postings().edges(row).masses;
            for (std::uint32_t at = 0; at < row.outdegree; ++at)
                weights.push_back(std::fabs(of_row[at]));
        }
        std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(wanted),
                         weights.end(), std::greater<float>());
        const float least = weights[wanted];
        std::uint64_t equals = wanted;
        for (std::uint64_t i = 0; i < wanted; ++i) equals -= weights[i] > least;
        SignedWeights rows(tables_.postings, scorer_.rule.max_outdegree);
        for (std::uint32_t id = 0; id < postings().end(); ++id)
            rows.keep_heaviest(tables_.postings[id], least, equals);
    }

    // --- looking inside ------------------------------------------------------------------------

    double rating(const Row& row) const override { return scorer_.rating(row); }

    double weight(std::uint32_t feature, std::uint32_t cls) const override {
        const Row& row = postings()[feature];
        const auto edge = postings().edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        return at < row.outdegree ? scorer_.weight_of(row, edge.masses[at]) : 0;
    }

    void each_weight(std::uint32_t feature,
                     const std::function<void(std::uint32_t, double)>& visit) const override {
        const Row& row = postings()[feature];
        const auto edge = postings().edges(row);
        for (std::uint32_t at = 0; at < row.outdegree; ++at)
            if ((!Rule::HAS_PATHS || !is_family(edge.classes[at])) &&
                tables_.classes.alive(edge.classes[at]))
                visit(edge.classes[at], scorer_.weight_of(row, edge.masses[at]));
    }

    // --- state ---------------------------------------------------------------------------------

    bool has_constraints() const override { return Rule::HAS_CONSTRAINTS; }

    std::uint64_t least_learned() const override { return Rule::HAS_PATHS ? 0 : 1; }

    void check_row(const Row& row, const Postings::ConstEdges& edges) const override {
        constexpr double LARGEST = static_cast<double>(static_cast<float>(LARGEST_WEIGHT));
        need(row.mass >= 0 && row.mass <= Rule::MOST_MASS &&
                 (!Rule::NORMALIZED || row.outdegree == 0 || row.mass > 0),
             "feature_mass", "a feature mass is not a mass");
        need(!Rule::SIGNED || (row.mass <= row.outdegree && row.mass == std::floor(row.mass)),
             "feature_mass", "a row has more settled edges than edges");
        double sum = 0;
        for (std::uint32_t at = 0; at < row.outdegree; ++at) {
            const float mass = edges.masses[at];
            const float size = Rule::SIGNED ? std::fabs(mass) : mass;
            need(size >= SMALLEST_MASS && static_cast<double>(size) <= LARGEST, "edge_masses",
                 "an edge has no weight");
            need(!Rule::NORMALIZED || at == 0 || mass <= edges.masses[at - 1], "edge_masses",
                 "the masses of a row are out of order");
            if (Rule::HAS_VARIANCES)
                need(edges.variances[at] >= SMALLEST_MASS && edges.variances[at] <= 1,
                     "edge_variances", "a variance is not above 0 and at most 1");
            sum += static_cast<double>(mass);
        }
        need(Rule::SIGNED || sum <= row.mass * Rule::MOST_SUM + Rule::ROUNDING, "feature_mass",
             "a row has more mass in its edges than in all");
    }

    void visit(SnapshotVisitor& visitor) override {
        Algorithm::visit(visitor);
        if (Rule::HAS_PATHS && visitor.is_loading()) scorer_.paths.load();
        if constexpr (Rule::SIGNED)
            if (scorer_.rule.budget > 0) budget_.visit(visitor);
        if constexpr (Rule::HAS_BIAS)
            if (scorer_.rule.bias > 0) visit_biases(visitor);
    }

    // --- sizes ---------------------------------------------------------------------------------

    std::uint64_t class_bytes() const override {
        return tables_.classes.count() * ((scorer_.biases.empty() ? 0 : sizeof(float)) +
                                          (Rule::HAS_PATHS ? ClassPaths::BYTES_PER_CLASS : 0));
    }
    std::size_t resident_bytes() const override {
        return scorer_.biases.capacity() * sizeof(float) + scorer_.paths.resident_bytes();
    }

private:
    // The weight of the bias for each class id; empty without a bias.
    void fit_biases() {
        if constexpr (Rule::HAS_BIAS)
            scorer_.biases.resize(scorer_.rule.bias > 0 ? tables_.classes.end() : 0);
    }

    void visit_biases(SnapshotVisitor& visitor) {
        const auto biases = visitor.matching<float>("class_bias", tables_.classes.end());
        std::vector<float>& own = scorer_.biases;
        if (visitor.is_dumping()) std::copy(own.begin(), own.end(), biases.data);
        if (!visitor.is_loading()) return;
        fit_biases();
        for (std::uint32_t cls = 0; cls < tables_.classes.end(); ++cls) {
            const float bias = biases.data[cls];
            need(std::fabs(bias) <= static_cast<float>(LARGEST_WEIGHT) &&
                     (bias == 0 || SignedWeights::is_something(bias)),
                 "class_bias", "it is not a weight");
            need(bias == 0 || tables_.classes.alive(cls), "class_bias", "a free class has a bias");
            own[cls] = bias;
        }
    }

    const Postings& postings() const { return tables_.postings; }

    void select_best(const ScoreTable& scores, std::uint32_t k, std::vector<Ranked>& best,
                     double threshold = -std::numeric_limits<double>::infinity()) const {
        select_top_k<Rule::SIGNED>(scores, tables_, k, threshold, best);
        if constexpr (Rule::HAS_PATHS) scorer_.add_unscored(scores, k, threshold, best);
    }

    void retrieve(const Example& example, ScoreTable& scores) const {
        const auto touched = scorer_.retrieve(example, scores);
        work_.add(touched.features, touched.edges);
    }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(Example& example, bool is_counted, bool is_replayed) {
        LinearScratch& scratch = LinearScratch::of_thread();
        ScoreTable& scores = scratch.scores;
        if (!tables_.retired.empty())
            for (const ActiveFeature& each : example.active)
                if (each.feature != NO_ID) remove_retired(tables_.postings[each.feature]);
        retrieve(example, scores);
        const LinearComparison<Rule> comparison(scorer_);
        Ranked first;
        Outcome outcome = comparison.compare(example, scores, scratch.context, is_replayed, first);
        if (!example.votes.empty()) comparison.take_own_scores(example, scores);
        const bool is_mixed = scorer_.add_votes(example, scores);
        const bool was_counted = is_counted && scorer_.subtract_counted(example, scores);
        if (is_mixed || was_counted) outcome.rank = comparison.best_rank(example, scores);
        const bool has_changed = was_counted || is_mixed || Rule::HAS_PATHS;
        if (RankingBefore* const before = example.before;
            before != nullptr && (has_changed || before->depth > 1)) {
            select_best(scores, std::max(before->depth, 2u), before->best);
            outcome.top_two = top_two_of(before->best.data(), before->best.size());
        } else {
            if (before != nullptr && first.cls != NO_ID) before->best.push_back(first);
            if (has_changed) outcome.top_two = comparison.top_two_of(scores);
        }
        scores.undo();
        scratch.context.is_replayed = is_replayed;
        limit_new_edges(scratch.context.new_edges);
        const std::uint64_t made_before = postings().appended();
        if (outcome.updated) outcome.updated = update(example, scratch.context);
        if constexpr (Rule::HAS_REJECTIONS)
            for (const std::uint32_t cls : example.rejected) {
                const Ranked rejected{scorer_.score_of(example, cls), cls};
                if (!(rejected.score > 0)) continue;
                scorer_.rule.reject(tables_.postings, example, scratch.context, rejected);
                outcome.updated = true;
            }
        if constexpr (Rule::SIGNED)
            if (const Rule& rule = scorer_.rule; rule.budget > 0)
                budget_.sweep(tables_, rule.budget, rule.budget_floor, rule.tfidf,
                              postings().appended() - made_before);
        if constexpr (Rule::HAS_PATHS) scorer_.paths.admit();
        return outcome;
    }

    void limit_new_edges(NewEdges& edges) {
        if constexpr (Rule::SIGNED) {
            const Rule& rule = scorer_.rule;
            if (rule.budget > 0)
                budget_.limit(edges, tables_, rule.budget, rule.budget_floor, rule.tfidf);
            else edges.refuse_below(0, nullptr);
        }
    }

    bool update(Example& example, const UpdateContext& context) {
        if constexpr (Rule::HAS_BIAS)
            return scorer_.rule.update(tables_.postings, scorer_.biases, example, context);
        else return scorer_.rule.update(tables_.postings, example, context);
    }

    LinearScorer<Rule> scorer_;
    EdgeBudget budget_;  // of signed weights
};

}  // namespace manyclass
