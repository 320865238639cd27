// A linear learner: ranked retrieval over postings (Madani, Connor and Greiner, JMLR 2009, section
// 3), with the update of a rule (learners/rules/). All that rules differ in is known when a learner
// is compiled, so that no loop over edges has a branch on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "learners/class_paths.hpp"
#include "learners/learner.hpp"
#include "learners/rules/edge_budget.hpp"
#include "learners/rules/rule.hpp"
#include "pipeline/top_k.hpp"
#include "storage/class_search.hpp"
#include "storage/score_table.hpp"

namespace manyclass {

// Scratch memory of a thread, which keeps its room from call to call. Not inlined: the address of a
// thread's own variable is costly to find, and a compiler that sees where it comes from finds it
// anew in every loop.
struct LinearScratch {
    ScoreTable scores;
    UpdateContext context;

    [[gnu::noinline]] static LinearScratch& of_thread() {
        static thread_local LinearScratch scratch;
        return scratch;
    }
};

template <class Rule>
class LinearLearner final : public Learner {
public:
    LinearLearner(Tables& tables, std::uint64_t seed, const OptionValues& options)
        : Learner(tables, seed), paths_(tables) {
        if (Rule::HAS_VARIANCES) tables.postings.add_variances();
        rule_.visit_options(options);
    }

    static void visit_options(OptionNames& names) { Rule().visit_options(names); }
    void configure(const OptionValues& options) override {
        rule_.visit_options(options);
        if constexpr (Rule::SIGNED)
            if (rule_.budget == 0) budget_ = {};
        fit_biases();
    }

    // --- ranking -------------------------------------------------------------------------------

    void rank(const Example& example, std::uint32_t k, double threshold,
              std::vector<Ranked>& best) const override {
        ScoreTable& scores = LinearScratch::of_thread().scores;
        retrieve(example, scores);
        add_votes(example, scores);
        select_top_k<Rule::SIGNED>(scores, tables_, k, threshold, best);
        if constexpr (Rule::HAS_PATHS) add_unscored(scores, k, threshold, best);
        scores.undo();
    }

    void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best) const override {
        ScoreTable& scores = LinearScratch::of_thread().scores;
        retrieve(example, scores);
        add_votes(example, scores);
        best.clear();
        for (const std::uint32_t cls : classes) {
            const double score = score_of(cls, scores);
            if (is_ranked(cls, score, scores) && score > threshold) best.push_back({score, cls});
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
            each_on_path(cls, [&](std::uint32_t id) { votes += vote_of(each, id); });
            if (votes != 0) contributions.emplace_back(std::string(each.name), votes);
        }
    }

    // The families of a class, from the top down, and at last the class itself.
    std::vector<PathNode> path(const Example& example, std::uint32_t cls) const override {
        std::vector<PathNode> nodes;
        if (!Rule::HAS_PATHS || cls == NO_ID) return nodes;
        each_on_path(cls, [&](std::uint32_t id) {
            PathNode& node = nodes.emplace_back();
            node.name = tables_.classes.name(class_of(id));
            for (const ActiveFeature& each : example.active)
                if (const double vote = vote_of(each, id); vote != 0) {
                    node.moved.emplace_back(std::string(each.name), vote);
                    node.score += vote;
                }
        });
        std::reverse(nodes.begin(), nodes.end());
        return nodes;
    }

    std::uint32_t most_edges_read() const override { return rule_.max_outdegree; }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(Example& example, bool is_counted) override {
        return learn(example, is_counted, /*is_replayed=*/false);
    }
    void learn_again(Example& example) override {
        learn(example, /*is_counted=*/false, /*is_replayed=*/true);
    }

    void class_added(std::uint32_t) override { fit_biases(); }

    void class_counted(std::uint32_t cls) override {
        if constexpr (Rule::HAS_PATHS) paths_.note_class(cls);
    }

    // --- hierarchy -----------------------------------------------------------------------------

    bool has_nodes() const override { return Rule::HAS_PATHS; }
    void node_placed(std::uint32_t cls, bool is_before_learning) override {
        paths_.place(cls, is_before_learning);
    }
    bool is_above_others(std::uint32_t cls) const override { return paths_.has_children(cls); }
    std::vector<std::uint32_t> children(std::uint32_t cls) const override {
        return paths_.children(cls);
    }

    // --- forgetting ----------------------------------------------------------------------------

    void forget_class(std::uint32_t cls) override {
        if constexpr (Rule::HAS_PATHS) paths_.remove(cls);
        if (!biases_.empty()) biases_[cls] = 0;
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

    // Of equal weights those of the features that came first stay.
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
        SignedWeights rows(tables_.postings, rule_.max_outdegree);
        for (std::uint32_t id = 0; id < postings().end(); ++id)
            rows.keep_heaviest(tables_.postings[id], least, equals);
    }

    // --- looking inside ------------------------------------------------------------------------

    double rating(const Row& row) const override {
        if (row.times_seen >= rule_.rating) return 1.0;
        return static_cast<double>(row.times_seen) / static_cast<double>(rule_.rating);
    }

    double weight(std::uint32_t feature, std::uint32_t cls) const override {
        const Row& row = postings()[feature];
        const auto edge = postings().edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        return at < row.outdegree ? weight_of(row, edge.masses[at]) : 0;
    }

    void each_weight(std::uint32_t feature,
                     const std::function<void(std::uint32_t, double)>& visit) const override {
        const Row& row = postings()[feature];
        const auto edge = postings().edges(row);
        for (std::uint32_t at = 0; at < row.outdegree; ++at)
            if ((!Rule::HAS_PATHS || !is_family(edge.classes[at])) &&
                tables_.classes.alive(edge.classes[at]))
                visit(edge.classes[at], weight_of(row, edge.masses[at]));
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
        Learner::visit(visitor);
        if (Rule::HAS_PATHS && visitor.is_loading()) paths_.load();
        if constexpr (Rule::SIGNED)
            if (rule_.budget > 0) budget_.visit(visitor);
        if constexpr (Rule::HAS_BIAS)
            if (rule_.bias > 0) visit_biases(visitor);
    }

    // --- sizes ---------------------------------------------------------------------------------

    std::uint64_t class_bytes() const override {
        return tables_.classes.count() * ((biases_.empty() ? 0 : sizeof(float)) +
                                          (Rule::HAS_PATHS ? ClassPaths::BYTES_PER_CLASS : 0));
    }
    std::size_t resident_bytes() const override {
        return biases_.capacity() * sizeof(float) + paths_.resident_bytes();
    }

private:
    // A weight for each class id, or none without a bias.
    void fit_biases() {
        if constexpr (Rule::HAS_BIAS) biases_.resize(rule_.bias > 0 ? tables_.classes.end() : 0);
    }

    void visit_biases(SnapshotVisitor& visitor) {
        const auto biases = visitor.matching<float>("class_bias", tables_.classes.end());
        if (visitor.is_dumping()) std::copy(biases_.begin(), biases_.end(), biases.data);
        if (!visitor.is_loading()) return;
        fit_biases();
        for (std::uint32_t cls = 0; cls < tables_.classes.end(); ++cls) {
            const float bias = biases.data[cls];
            need(std::fabs(bias) <= static_cast<float>(LARGEST_WEIGHT) &&
                     (bias == 0 || SignedWeights::is_something(bias)),
                 "class_bias", "it is not a weight");
            need(bias == 0 || tables_.classes.alive(cls), "class_bias", "a free class has a bias");
            biases_[cls] = bias;
        }
    }

    const Postings& postings() const { return tables_.postings; }

    static double weight_of(const Row& row, float mass) {
        return Rule::NORMALIZED ? static_cast<double>(mass) / row.mass : static_cast<double>(mass);
    }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(Example& example, bool is_counted, bool is_replayed) {
        LinearScratch& scratch = LinearScratch::of_thread();
        ScoreTable& scores = scratch.scores;
        if (!tables_.retired.empty())
            for (const ActiveFeature& each : example.active)
                if (each.feature != NO_ID) remove_retired(tables_.postings[each.feature]);
        retrieve(example, scores);
        Outcome outcome = compare(example, scores, scratch.context, is_replayed);
        if (!example.votes.empty()) take_own_scores(example, scores);
        const bool is_mixed = add_votes(example, scores);
        if (is_mixed) outcome.rank = best_rank(example, scores);
        if ((is_counted && subtract_counted(example, scores)) || is_mixed || Rule::HAS_PATHS)
            outcome.top_two = top_two_of(scores);
        scores.undo();
        scratch.context.is_replayed = is_replayed;
        limit_new_edges(scratch.context.new_edges);
        const std::uint64_t made_before = postings().appended();
        if (outcome.updated)
            outcome.updated = update(example, scratch.context);
        if constexpr (Rule::HAS_REJECTIONS)
            for (const std::uint32_t cls : example.rejected) {
                const Ranked rejected{score_of(example, cls), cls};
                if (!(rejected.score > 0)) continue;
                rule_.reject(tables_.postings, example, scratch.context, rejected);
                outcome.updated = true;
            }
        if constexpr (Rule::SIGNED)
            if (rule_.budget > 0)
                budget_.sweep(tables_, rule_.budget, rule_.budget_floor, rule_.tfidf,
                              postings().appended() - made_before);
        if constexpr (Rule::HAS_PATHS) paths_.admit();
        return outcome;
    }

    void limit_new_edges(NewEdges& edges) {
        if constexpr (Rule::SIGNED) {
            if (rule_.budget > 0)
                budget_.limit(edges, tables_, rule_.budget, rule_.budget_floor, rule_.tfidf);
            else edges.refuse_below(0, nullptr);
        }
    }

    // --- ranked retrieval ----------------------------------------------------------------------

    // The number of edges of a row that vote: the heaviest of a row that stands in order.
    std::uint32_t edges_scored(const Row& row) const {
        if constexpr (!Rule::NORMALIZED) return row.outdegree;
        const std::uint32_t most = std::min<std::uint32_t>(row.outdegree, rule_.max_outdegree);
        if constexpr (Rule::DROPS_LIGHT_VOTES) {
            const float* masses = postings().edges(row).masses;
            const auto is_heavy = [&](float mass) {
                return static_cast<double>(mass) / row.mass >= rule_.min_weight;
            };
            return static_cast<std::uint32_t>(
                std::partition_point(masses, masses + most, is_heavy) - masses);
        }
        return most;
    }

    // The part of the score of a class, or a family, by its id, that an active feature adds.
    double vote_of(const ActiveFeature& active, std::uint32_t id) const {
        if (active.feature == NO_ID) return 0;
        const Row& row = postings()[active.feature];
        const auto edge = postings().edges(row);
        const std::uint32_t voting = edges_scored(row);
        const std::uint32_t at = class_search(id, edge.classes, voting);
        if (at == voting) return 0;
        return coefficient(active, row) * static_cast<double>(edge.masses[at]);
    }

    double coefficient(const ActiveFeature& active, const Row& row) const {
        const double vote = rating_of(row) * active.value;
        return Rule::NORMALIZED ? vote / row.mass : vote;
    }

    double rating_of(const Row& row) const { return LinearLearner::rating(row); }

    // `is_before`: as the features voted before the event that is learned was counted.
    void retrieve(const Example& example, ScoreTable& scores, bool is_before = false) const {
        const std::vector<ActiveFeature>& active = example.active;
        std::size_t edges = 0, known = 0;
        for (const ActiveFeature& each : active) {
            if (each.feature == NO_ID) continue;
            edges += edges_scored(postings()[each.feature]);
            ++known;
        }
        scores.start(edges + example.votes.size(), tables_.classes.end(), Rule::HAS_PATHS);
        for (const ActiveFeature& each : active) {
            if (each.feature == NO_ID) continue;
            const Row& row = postings()[each.feature];
            if (row.outdegree == 0) continue;
            const auto edge = postings().edges(row);
            scores.add<Rule::HAS_PATHS>(edge.classes, edge.masses, edges_scored(row),
                       coefficient(each, is_before ? before_counted(row) : row));
        }
        if constexpr (Rule::HAS_BIAS)
            if (rule_.bias > 0) {
                const double value = rule_.bias_of(squared_norm(active), tables_.mean_classes());
                if (value > 0) scores.add_to_each(biases_, value);
            }
        if constexpr (Rule::HAS_PATHS) paths_.add_above(scores);
        if (!is_before) work_.add(known, edges);
    }

    // Add the votes to the scores; false if there are none, or they do not count.
    bool add_votes(const Example& example, ScoreTable& scores) const {
        if (!(example.vote_scale > 0)) return false;
        for (const NeighborVote& each : example.votes) {
            const double above =
                scores.score(each.cls) == 0 ? score_of(each.cls, scores) : 0.0;
            scores.add(each.cls, above + example.vote_scale * each.share);
        }
        return !example.votes.empty();
    }

    // --- along paths ---------------------------------------------------------------------------

    // Call the function with the class and the families above it.
    template <class F>
    void each_on_path(std::uint32_t cls, F&& visit) const {
        visit(cls);
        if constexpr (Rule::HAS_PATHS)
            for (std::uint32_t id = paths_.above(cls); id != NO_ID; id = paths_.above(id))
                visit(id);
    }

    // The score of a class, which edges may not lead to.
    double score_of(std::uint32_t cls, const ScoreTable& scores) const {
        return Rule::HAS_PATHS ? paths_.score(scores, cls) : scores.score(cls);
    }

    // True if a class with this score has a place in a ranking: one that no edge leads to ranks with
    // a class above it if that one's score is above 0.
    bool is_ranked(std::uint32_t cls, double score, const ScoreTable& scores) const {
        if (!is_retrieved(score)) return false;
        if constexpr (Rule::HAS_PATHS)
            return scores.score(cls) != 0 || (score > 0 && paths_.is_class(cls));
        return true;
    }

    // Add the classes that rank with a class above them to the k best.
    void add_unscored(const ScoreTable& scores, std::uint32_t k, double threshold,
                      std::vector<Ranked>& best) const {
        const std::size_t scored = best.size();
        const double last = scored == k && k > 0 ? best.back().score : threshold;
        paths_.each_unscored(scores, last, [&](std::uint32_t cls, double score) {
            if (score > threshold) best.push_back({score, cls});
        });
        if (best.size() == scored) return;
        keep_first(best, k, [this](const Ranked& one, const Ranked& other) {
            return tables_.precedes(one, other);
        });
    }

    // Fill in the learner's own scores of the classes with a vote, and the best of the others.
    void take_own_scores(Example& example, ScoreTable& scores) const {
        std::vector<double> taken;
        for (const NeighborVote& each : example.votes) taken.push_back(scores.take(each.cls));
        select_top_k<Rule::SIGNED>(scores, tables_, example.places_compared(),
                                   -std::numeric_limits<double>::infinity(),
                                   example.best_without_vote);
        for (std::size_t at = 0; at < taken.size(); ++at)
            scores.restore(example.votes[at].cls, taken[at]);
        for (NeighborVote& each : example.votes) each.own = score_of(each.cls, scores);
    }

    // The best rank of a true class; 0 if none is retrieved.
    std::uint32_t best_rank(const Example& example, const ScoreTable& scores) const {
        std::uint32_t best = 0;
        for (const std::uint32_t cls : example.classes) {
            if (cls == NO_ID) continue;
            const Ranked ranked{score_of(cls, scores), cls};
            const std::uint32_t rank = rank_of(ranked, scores);
            if (rank > 0 && (best == 0 || rank < best)) best = rank;
        }
        return best;
    }

    // --- the context of an update --------------------------------------------------------------

    // Compare the true classes with the wrong ones. `updated` of the outcome: some class is to be
    // updated. No caller reads the ranks of a replayed example: they are not computed.
    Outcome compare(const Example& example, ScoreTable& scores, UpdateContext& context,
                    bool is_replayed) const {
        context.positives.clear();
        for (const std::uint32_t cls : example.classes)
            if (cls != NO_ID) context.positives.push_back({scores.take(cls), cls});
        context.new_edges.unreached.clear();
        for (const Ranked& each : context.positives)
            if (each.score == 0) context.new_edges.unreached.push_back(each.cls);
        context.mean_classes = tables_.mean_classes();
        context.paths = Rule::HAS_PATHS ? &paths_ : nullptr;
        const std::size_t most = rule_.most_negatives(context);
        find_negatives(scores, most, context.negatives);
        Outcome outcome{0, false, {}};
        for (const Ranked& negative : context.negatives) outcome.top_two.add(negative.score);
        if (context.negatives.size() > most) context.negatives.resize(most);
        context.costs.start(cost(), tables_.class_nodes, context.positives);
        if constexpr (Rule::HAS_COSTS)
            if (context.costs.are_unequal() && rule_.compares_pairs(context))
                find_costly_negatives(scores, most, context);
        for (const Ranked& each : context.positives) scores.restore(each.cls, each.score);
        for (Ranked& each : context.positives) each.score = score_of(each.cls, scores);
        if (!is_replayed || Rule::HAS_WINDOW) rank_positives(scores, context, outcome);
        if constexpr (Rule::HAS_CONSTRAINTS)
            find_others(example.constraints, scores, context.others);
        if constexpr (!Rule::ALWAYS_UPDATES) drop_well_ranked(context);
        outcome.updated = !context.positives.empty();
        if constexpr (Rule::HAS_CONSTRAINTS) {
            if (!outcome.updated) context.negatives.clear();  // nothing is said of them
            find_rejected(example.rejected, scores, context.rejected);
            outcome.updated |= !context.rejected.empty();
        }
        return outcome;
    }

    // Find the best rank of a positive. One that is not within the window counts as not retrieved.
    void rank_positives(const ScoreTable& scores, UpdateContext& context, Outcome& outcome) const {
        if constexpr (!Rule::HAS_WINDOW && !Rule::HAS_PATHS) {
            const Ranked* best = nullptr;
            for (const Ranked& each : context.positives) {
                if (!is_retrieved(each.score)) continue;
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

    static bool is_retrieved(double score) { return score > 0 || (Rule::SIGNED && score < 0); }

    bool is_within_window(std::uint32_t rank) const {
        if constexpr (Rule::HAS_WINDOW) return rank <= rule_.retrieval_window;
        else return true;
    }

    // The wrong classes of the highest scores, best first: `most` of them, and two at least.
    void find_negatives(const ScoreTable& scores, std::size_t most,
                        std::vector<Ranked>& negatives) const {
        if constexpr (!Rule::NORMALIZED) {
            select_top_k<Rule::SIGNED>(
                scores, tables_, static_cast<std::uint32_t>(std::max<std::size_t>(most, 2)),
                -std::numeric_limits<double>::infinity(), negatives);
            return;
        }
        Ranked best{0, NO_ID}, second{0, NO_ID};
        scores.each_at_least(0, [&](std::uint32_t cls, double score) {
            if (score > second.score) second = {score, cls};
            if (second.score > best.score) std::swap(best, second);
            return second.score;
        });
        negatives.clear();
        for (const Ranked& each : {best, second})
            if (each.cls != NO_ID) negatives.push_back(each);
    }

    Cost cost() const {
        if constexpr (Rule::HAS_COSTS) return rule_.cost;
        else return Cost::none;
    }

    // The wrong classes that come nearest to the margin, or violate it most, beside the nearest true
    // class: those of the highest score and margin together, best first.
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
        const double widest = std::max(rule_.margin * costs.most(), rule_.margin * costs.least());
        std::vector<Rival> rivals;
        double least = -std::numeric_limits<double>::infinity();  // score that may be among them
        scores.each_at_least(least, [&](std::uint32_t cls, double score) {
            if (tables_.retired.has(cls)) return least;
            rivals.push_back({score + rule_.margin * costs.of_nearest(cls), {score, cls}});
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

    // The rank of a class with this score; 0 if it has no place in the ranking.
    std::uint32_t rank_of(const Ranked& wanted, const ScoreTable& scores) const {
        if (!is_ranked(wanted.cls, wanted.score, scores)) return 0;
        std::uint32_t rank = 1;
        scores.each_at_least(wanted.score, [&](std::uint32_t cls, double score) {
            rank += tables_.precedes({score, cls}, wanted);
            return wanted.score;
        });
        if constexpr (Rule::HAS_PATHS) {
            bool is_there = scores.score(wanted.cls) != 0;
            paths_.each_unscored(scores, wanted.score, [&](std::uint32_t cls, double score) {
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
                others.push_back({score_of(cls, scores), cls});
            }
    }

    void find_rejected(const std::vector<std::uint32_t>& classes, const ScoreTable& scores,
                       std::vector<Ranked>& rejected) const {
        rejected.clear();
        for (const std::uint32_t cls : classes) rejected.push_back({score_of(cls, scores), cls});
    }

    // The score of one class; not for rules that let the heaviest edges alone vote.
    double score_of(const Example& example, std::uint32_t cls) const {
        double score = 0;
        for (const ActiveFeature& each : example.active)
            each_on_path(cls, [&](std::uint32_t id) { score += vote_of(each, id); });
        return score;
    }

    bool update(Example& example, const UpdateContext& context) {
        if constexpr (Rule::HAS_BIAS)
            return rule_.update(tables_.postings, biases_, example, context);
        else return rule_.update(tables_.postings, example, context);
    }

    // Drop the positives that lead all negatives by more than the margin.
    void drop_well_ranked(UpdateContext& context) const {
        std::vector<Ranked>& positives = context.positives;
        positives.erase(std::remove_if(positives.begin(), positives.end(),
                                       [&](const Ranked& each) {
                                           return context.is_well_ranked(each, rule_.margin);
                                       }),
                        positives.end());
    }

    // Take from the scores what features below the full rating give more because their times seen
    // include this event already. Whether there are any.
    bool subtract_counted(const Example& example, ScoreTable& scores) const {
        if (rule_.rating == 0) return false;
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
            if (row.times_seen > rule_.rating || row.outdegree == 0) continue;
            const auto edge = postings().edges(row);
            scores.add<Rule::HAS_PATHS>(edge.classes, edge.masses, edges_scored(row),
                       coefficient(each, before_counted(row)) - coefficient(each, row));
            any = true;
        }
        return any;
    }

    static Row before_counted(Row row) {
        --row.times_seen;
        return row;
    }

    TopTwoScores top_two_of(const ScoreTable& scores) const {
        TopTwoScores top_two;
        static constexpr double NONE = -std::numeric_limits<double>::infinity();
        scores.each_at_least(NONE, [&](std::uint32_t, double score) {
            top_two.add(score);
            return top_two.second == 0 ? NONE : top_two.second;
        });
        if constexpr (Rule::HAS_PATHS)
            paths_.each_unscored(scores, top_two.second,
                                 [&](std::uint32_t, double score) { top_two.add(score); });
        return top_two;
    }

    Rule rule_;
    ClassPaths paths_;  // empty but for a rule with paths
    std::vector<float> biases_;  // of the classes, by id; empty without a bias
    EdgeBudget budget_;  // of signed weights
};

}  // namespace manyclass
