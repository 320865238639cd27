// The vote of the nearest stored examples beside the scores of a learner, and the weight of the
// vote, which is chosen by the outcomes so far.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "beside/mixture.hpp"
#include "learners/algorithm.hpp"
#include "pipeline/example.hpp"
#include "pipeline/replay.hpp"
#include "snapshot/visitor.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// A class has the share of the nearest examples with it, each counted by its similarity, times the
// similarity of the nearest. Its score is the learner's own, and weight * usual * share: `usual` is
// the learner's own best score on average, so that a weight means the same for all learners.
//
// The weight is 0 until another one leads by more than chance.
//
// Threads: as a learner.
class Neighbors {
public:
    Neighbors(const Tables& tables, Replay& replay) : tables_(tables), replay_(replay) {}

    template <class V>
    static void visit_options(V&& option, std::uint32_t& most) {
        option("neighbors", most);
    }
    static void visit_options(OptionNames& names) {
        std::uint32_t most = 0;
        visit_options(names, most);
    }
    void visit_options(const OptionValues& options) { visit_options(options, most_); }

    bool is_on() const { return most_ > 0; }

    // Take in options: `prepares_alike` if the stored examples are prepared as before.
    void configured(bool prepares_alike) {
        if (!is_on()) {
            choice_ = Choice(0, 1);
            usual_ = 0;
        }
        if (replay_.is_indexed() != is_on() || (is_on() && !prepares_alike)) replay_.index(is_on());
    }

    // The weight of the vote.
    double weight() const { return WEIGHTS[choice_.chosen()]; }

    // --- voting --------------------------------------------------------------------------------

    // Give an example that is ranked its votes.
    void vote(Example& example) const {
        example.votes.clear();
        example.vote_scale = weight() * usual_;
        if (example.vote_scale > 0) count_votes(example);
    }

    // Give an example that is learned its votes, if they count or are to be judged: while they do
    // not count, for the first events and then for one in some.
    void vote_to_learn(Example& example, bool is_first_epoch) const {
        vote(example);
        if (!is_on() || example.vote_scale > 0 || !is_first_epoch) return;
        if (tables_.learned <= ALL_UNTIL || tables_.learned % ONE_IN == 0) count_votes(example);
    }

    // Compare the weights by an example with its votes, for which the learner has filled in its own
    // scores. In later epochs the example may be among its own neighbors, and is not to be judged.
    void judge(const Example& example) {
        if (example.votes.empty() || example.ranks_compared() == 0) return;
        std::array<double, WEIGHTS.size()> share;
        Ranked own{0, NO_ID};
        for (std::size_t i = 0; i < WEIGHTS.size(); ++i) {
            const std::vector<Ranked>& first = first_of(example, WEIGHTS[i] * usual_);
            if (i == 0 && !first.empty()) own = first[0];
            share[i] = share_right(example, first);
        }
        if (own.cls != NO_ID) {
            const double size = std::min(std::fabs(own.score), LARGEST_USUAL);
            if (usual_ == 0) usual_ = size;
            usual_ += (size - usual_) *
                      std::max(LEAST_STEP, 1 / static_cast<double>(tables_.learned));
        }
        choice_.judge(share);
    }

    // Add to the contributions to each class what the features add to its vote.
    void explain(const Example& example, const std::vector<std::uint32_t>& classes,
                 std::vector<Contributions>& explained) const {
        const double scale = weight() * usual_;
        Found& found = Found::of_thread();
        if (!(scale > 0) || !search(example, found)) return;
        std::vector<SearchedFeature> searched = found.searched;
        std::sort(searched.begin(), searched.end(), [](const auto& one, const auto& other) {
            return one.feature < other.feature;
        });
        std::vector<std::vector<double>> gains(classes.size(),
                                               std::vector<double>(example.active.size(), 0.0));
        std::vector<std::size_t> voted;                        // positions in `classes`
        std::vector<std::pair<std::uint32_t, double>> shared;  // position of a feature, its product
        for (const Neighbor& near : found.nearest) {
            const StoredExample& stored = replay_.buffer()[near.slot];
            voted.clear();
            for (std::size_t i = 0; i < classes.size(); ++i)
                if (classes[i] != NO_ID && has_true_class(stored, classes[i])) voted.push_back(i);
            if (voted.empty()) continue;
            multiply(stored, near, searched, found.length, shared);
            const double factor = scale * (found.nearest[0].similarity / found.total) *
                                  (static_cast<double>(stored.weight) * near.similarity *
                                   near.similarity * near.similarity);
            for (const std::size_t i : voted)
                for (const auto& [at, product] : shared) gains[i][at] += factor * product;
        }
        for (std::size_t i = 0; i < classes.size(); ++i) add(example, gains[i], explained[i]);
    }

    // --- state ---------------------------------------------------------------------------------

    void visit(SnapshotVisitor& visitor) {
        if (!is_on()) return;
        const Run<double> run = visitor.matching<double>("neighbor_weights", Choice::NUMBERS + 1);
        if (visitor.is_dumping()) {
            choice_.dump(run.data);
            run.data[Choice::NUMBERS] = usual_;
        }
        if (!visitor.is_loading()) return;
        choice_.load(run.data, "neighbor_weights");
        usual_ = run.data[Choice::NUMBERS];
        need(usual_ >= 0 && usual_ <= LARGEST_USUAL, "neighbor_weights", "it is not a score");
    }

private:
    static constexpr std::array<double, 7> WEIGHTS{0, 0.25, 0.5, 1, 2, 4, 16};
    using Choice = WeightChoice<WEIGHTS.size()>;
    static constexpr double LEAST_STEP = 0.001, LARGEST_USUAL = 1e60;
    static constexpr double LEAST_TOTAL = 1e-300;  // of similarities; below, numbers lose digits
    static constexpr std::uint64_t ALL_UNTIL = 4096, ONE_IN = 8;

    // The result of a search.
    struct Found {
        std::vector<SearchedFeature> searched;
        std::vector<Neighbor> nearest;
        double length = 0, total = 0;
        std::vector<std::pair<std::uint32_t, double>> by_class;
        std::vector<Ranked> first;

        [[gnu::noinline]] static Found& of_thread() {
            static thread_local Found found;
            return found;
        }
    };

    // The vote of an example, to the fourth power: the nearest ones decide.
    static double vote_of(const StoredExample& stored, double similarity) {
        return static_cast<double>(stored.weight) * similarity * similarity * similarity *
               similarity;
    }

    bool has_true_class(const StoredExample& stored, std::uint32_t cls) const {
        const auto end = stored.classes.end() - stored.rejected;
        return std::find(stored.classes.begin(), end, cls) != end &&
               !replay_.class_is_gone(stored, cls);
    }
    bool has_true_classes(const StoredExample& stored) const {
        return std::any_of(stored.classes.begin(), stored.classes.end() - stored.rejected,
                           [&](std::uint32_t cls) { return !replay_.class_is_gone(stored, cls); });
    }

    // Find the products that make up the similarity of a neighbor. `searched` is sorted by feature.
    void multiply(const StoredExample& stored, const Neighbor& near,
                  const std::vector<SearchedFeature>& searched, double length,
                  std::vector<std::pair<std::uint32_t, double>>& shared) const {
        shared.clear();
        for (const auto& [feature, value] : stored.values) {
            const auto each = std::lower_bound(searched.begin(), searched.end(), feature,
                                               [](const SearchedFeature& one, std::uint32_t id) {
                                                   return one.feature < id;
                                               });
            if (each == searched.end() || each->feature != feature ||
                replay_.feature_is_gone(stored, feature))
                continue;
            shared.emplace_back(each->at, each->value * replay_.indexed_value(value) *
                                              replay_.index().scale(near.slot) / length);
        }
    }

    // Add gains by the position of a feature in the example.
    static void add(const Example& example, const std::vector<double>& gains,
                    Contributions& contributions) {
        std::unordered_map<std::string_view, std::size_t> positions;
        for (std::size_t i = 0; i < contributions.size(); ++i)
            positions.emplace(contributions[i].first, i);
        Contributions added;
        for (std::size_t at = 0; at < gains.size(); ++at) {
            if (gains[at] == 0) continue;
            const std::string_view name = example.active[at].name;
            if (const auto own = positions.find(name); own != positions.end())
                contributions[own->second].second += gains[at];
            else added.emplace_back(name, gains[at]);
        }
        contributions.insert(contributions.end(), added.begin(), added.end());
    }

    // Find the nearest examples; false if none is near that has a class.
    bool search(const Example& example, Found& found) const {
        double squares = 0;
        found.searched.clear();
        for (std::size_t at = 0; at < example.active.size(); ++at) {
            const ActiveFeature& each = example.active[at];
            squares += each.value * each.value;
            if (each.feature != NO_ID)
                found.searched.push_back(
                    {each.feature, static_cast<std::uint32_t>(at), each.value, 0});
        }
        found.length = std::sqrt(squares);
        replay_.index().search(found.searched, found.length, most_, found.nearest);
        found.total = 0;
        for (const Neighbor& near : found.nearest)
            __builtin_prefetch(&replay_.buffer()[near.slot]);
        for (const Neighbor& near : found.nearest)
            __builtin_prefetch(replay_.buffer()[near.slot].classes.data());
        for (const Neighbor& near : found.nearest) {
            const StoredExample& stored = replay_.buffer()[near.slot];
            if (has_true_classes(stored)) found.total += vote_of(stored, near.similarity);
        }
        return found.total >= LEAST_TOTAL;
    }

    void count_votes(Example& example) const {
        Found& found = Found::of_thread();
        if (!search(example, found)) return;
        auto& by_class = found.by_class;
        by_class.clear();
        for (const Neighbor& near : found.nearest) {
            const StoredExample& stored = replay_.buffer()[near.slot];
            const double vote = vote_of(stored, near.similarity);
            for (auto cls = stored.classes.begin(); cls != stored.classes.end() - stored.rejected;
                 ++cls)
                if (!replay_.class_is_gone(stored, *cls)) by_class.emplace_back(*cls, vote);
        }
        std::stable_sort(by_class.begin(), by_class.end(),
                         [](const auto& one, const auto& other) { return one.first < other.first; });
        for (const auto& [cls, vote] : by_class) {
            if (example.votes.empty() || example.votes.back().cls != cls)
                example.votes.push_back({cls, 0, 0});
            example.votes.back().share += vote;
        }
        for (NeighborVote& each : example.votes)
            each.share = each.share / found.total * found.nearest[0].similarity;
    }

    // Return the first classes with a weight of the vote, best first: as many as ranks are
    // compared, fewer if fewer have a score. Valid until the next call of this thread.
    const std::vector<Ranked>& first_of(const Example& example, double scale) const {
        std::vector<Ranked>& first = Found::of_thread().first;
        first = example.best_without_vote;
        for (const NeighborVote& each : example.votes)
            if (const Ranked with{each.own + scale * each.share, each.cls}; with.score != 0)
                first.push_back(with);
        const auto count = std::min<std::size_t>(example.ranks_compared(), first.size());
        std::partial_sort(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count),
                          first.end(), [this](const Ranked& one, const Ranked& other) {
                              return tables_.precedes(one, other);
                          });
        first.resize(count);
        return first;
    }

    // Return the share of the compared ranks that true classes have.
    static double share_right(const Example& example, const std::vector<Ranked>& first) {
        const auto right = std::count_if(first.begin(), first.end(), [&](const Ranked& each) {
            return std::find(example.classes.begin(), example.classes.end(), each.cls) !=
                   example.classes.end();
        });
        return static_cast<double>(right) / static_cast<double>(example.ranks_compared());
    }

    const Tables& tables_;
    Replay& replay_;
    std::uint32_t most_ = 0;
    Choice choice_{0, 1};
    double usual_ = 0;  // the learner's best score on average
};

}  // namespace manyclass
