// Validates a dumped state before an index is filled with it: the counts, rows, classes and past
// instances. Vocabulary, label trees and their own sections are validated where they are loaded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learners/options.hpp"
#include "learners/rules/normalized_weights.hpp"
#include "learners/rules/signed_weights.hpp"
#include "learners/rules/update_context.hpp"
#include "pipeline/wire.hpp"
#include "snapshot/state.hpp"
#include "storage/postings.hpp"

namespace manyclass {

// Every check throws std::invalid_argument "section: fault". A state that passes was reachable by
// events, or behaves as one that was: no later ranking, learning or dump can fail because of it.
class StateCheck {
public:
    StateCheck(const State& state, const Options& options) : state_(state), options_(options) {}

    void run() {
        check_counts();
        check_retired();
        check_hands();
        check_features();
        check_rows();
        check_classes();
        check_kept();
    }

private:
    std::uint64_t learned() const { return state_.counts[0]; }
    std::uint64_t counted() const { return state_.counts[1]; }
    std::uint64_t births() const { return state_.counts[2]; }
    std::uint64_t offered() const { return state_.counts[5]; }

    bool has_feature(std::uint32_t id) const {
        return id < state_.features && state_.feature_name_sizes[id] != 0;
    }
    bool has_class(std::uint32_t id) const {
        return id < state_.classes && state_.class_name_sizes[id] != 0;
    }

    bool has_edges() const {
        return options_.kind != Kind::frequency && options_.kind != Kind::label_tree;
    }

    // Stamps are the low 32 bits of the learn count.
    bool is_past(std::uint32_t stamp) const { return learned() > 0xffffffffu || stamp <= learned(); }

    void check_counts() const {
        for (const std::size_t count : {0, 1, 2, 3, 4, 5, 8})
            need(state_.counts[count] <= LARGEST_COUNT, "counts", "no count can be so large");
        need(counted() <= learned(), "counts", "more first passes than instances learned");
        need(state_.kept <= offered() && offered() <= learned(), "counts",
             "more past instances than came");
        need(state_.counts[10] <= 1, "counts", "a sample is over or is not");
        const bool is_tree = options_.kind == Kind::label_tree;
        need(!is_tree || state_.edges == 0, "edge_classes", "this is the state of another learner");
        need(is_tree || state_.nodes == 0, "node_kinds", "this is the state of another learner");
        need(is_tree || state_.counts[10] == 0, "counts", "this is the state of another learner");
    }

    // Classes that are gone, while edges to them may still be in rows.
    void check_retired() {
        need(state_.retired_classes == 0 || has_edges(), "class_retired",
             "this is the state of another learner");
        is_retired_.assign(state_.classes, false);
        for (std::uint64_t i = 0; i < state_.retired_classes; ++i) {
            const std::uint32_t id = state_.class_retired[i];
            need(id < state_.classes && state_.class_name_sizes[id] == 0 && !is_retired_[id],
                 "class_retired", "a retired class has a name, or is there twice");
            is_retired_[id] = true;
        }
    }

    // The places at which eviction and the sweep of rows go on.
    void check_hands() const {
        const std::uint64_t* hands = state_.counts + 11;
        const auto is_within = [](std::uint64_t hand, std::uint64_t end) {
            return hand == 0 || hand < end;
        };
        need(is_within(hands[0], state_.features) && is_within(hands[1], state_.classes) &&
                 is_within(hands[2], state_.features) && hands[3] <= state_.retired_classes &&
                 (hands[3] != 0 || hands[2] == 0),
             "counts", "a hand of eviction is out of place");
    }

    void check_features() const {
        const std::uint64_t most_seen = counted() + 1;  // a later pass may have brought the feature
        for (std::uint64_t id = 0; id < state_.features; ++id) {
            need(state_.feature_times_seen[id] <= most_seen, "feature_times_seen",
                 "a feature was seen more often than there were instances");
            need(is_past(state_.feature_last_seen[id]), "feature_last_seen",
                 "a feature was seen after the last instance");
            if (state_.feature_name_sizes[id] != 0) continue;
            need(state_.outdegrees[id] == 0, "outdegrees", "a free feature has edges");
            need(state_.feature_mass[id] == 0, "feature_mass", "a free feature has a mass");
            need(state_.feature_times_seen[id] == 0, "feature_times_seen",
                 "a free feature was seen");
            need(state_.feature_last_seen[id] == 0, "feature_last_seen", "a free feature was seen");
        }
    }

    // --- rows ----------------------------------------------------------------------------------

    void check_rows() {
        seen_in_.assign(state_.classes, 0);
        std::uint64_t at = 0;
        for (std::uint64_t id = 0; id < state_.features; ++id) {
            const std::uint32_t outdegree = state_.outdegrees[id];
            need(state_.edges - at >= outdegree, "outdegrees", "edges are cut short");
            check_mass(state_.feature_mass[id], outdegree);
            check_edges(id, at, at + outdegree);
            at += outdegree;
        }
        need(at == state_.edges, "outdegrees", "more edges than rows account for");
    }

    void check_mass(double mass, std::uint32_t outdegree) const {
        need(mass >= 0 && mass <= most_mass(), "feature_mass", "a feature mass is not a mass");
        need(!options_.shares() || outdegree == 0 || mass > 0, "feature_mass",
             "a feature mass is not a mass");
    }

    double most_mass() const {
        switch (options_.kind) {
            case Kind::feature_focus:
            case Kind::independent:
                return LARGEST_MASS;
            case Kind::moving_average:  // a scale, which is brought down when above the largest
                return LARGEST_SCALE * LARGEST_SCALE;
            case Kind::slack:
                return 1 + 1e-9;
            default:
                return 0;
        }
    }

    void check_edges(std::uint64_t feature, std::uint64_t begin, std::uint64_t end) {
        const bool positive = !options_.signed_weights();
        double sum = 0;
        for (std::uint64_t edge = begin; edge < end; ++edge) {
            const std::uint32_t cls = state_.edge_classes[edge];
            need(cls < state_.classes && (has_class(cls) || is_retired_[cls]) &&
                     seen_in_[cls] != feature + 1,
                 "edge_classes",
                 "an edge leads to no class, or twice to one");
            seen_in_[cls] = feature + 1;
            const float mass = state_.edge_masses[edge];
            const float size = positive ? mass : std::fabs(mass);
            need(size >= SMALLEST_MASS && static_cast<double>(size) <= largest_weight(),
                 "edge_masses", "an edge has no weight");
            need(!options_.shares() || edge == begin || mass <= state_.edge_masses[edge - 1],
                 "edge_masses", "the masses of a row are out of order");
            if (options_.kind == Kind::confidence)
                need(state_.edge_variances[edge] >= SMALLEST_MASS && state_.edge_variances[edge] <= 1,
                     "edge_variances", "a variance is not above 0 and at most 1");
            sum += static_cast<double>(mass);
        }
        // EMA's weights add up to 1 but for the rounding of every update
        const double most = options_.kind == Kind::moving_average ? 2 : 1 + 1e-9;
        // OOZ's mass is the difference of larger ones, whose rounding stays
        const double rounding = options_.kind == Kind::slack ? 1e-9 : 0;
        need(!positive || sum <= state_.feature_mass[feature] * most + rounding, "feature_mass",
             "a row has more mass in its edges than in all");
    }

    static double largest_weight() { return static_cast<double>(static_cast<float>(LARGEST_WEIGHT)); }

    // --- classes -------------------------------------------------------------------------------

    void check_classes() const {
        // a planted tree has classes that were not learned yet
        const std::uint64_t least = options_.kind == Kind::label_tree ? 0 : 1;
        std::uint64_t learned_in_all = 0;
        std::vector<std::uint64_t> born;
        for (std::uint64_t id = 0; id < state_.classes; ++id) {
            const std::uint64_t times = state_.class_learned[id];
            if (state_.class_name_sizes[id] == 0) {
                need(times == 0, "class_learned", "a free class was learned");
                need(state_.class_born[id] == 0, "class_born", "a free class was born");
                need(state_.class_last_learned[id] == 0, "class_last_learned",
                     "a free class was learned");
                continue;
            }
            need(times >= least && times <= learned(), "class_learned",
                 "a class was learned more often than there were instances, or never");
            learned_in_all += times;
            need(learned_in_all <= LARGEST_COUNT, "class_learned", "no count can be so large");
            need(is_past(state_.class_last_learned[id]), "class_last_learned",
                 "a class was learned after the last instance");
            born.push_back(state_.class_born[id]);
        }
        std::sort(born.begin(), born.end());
        need(std::adjacent_find(born.begin(), born.end()) == born.end() &&
                 (born.empty() || born.back() < births()),
             "class_born", "two classes were born at once");
    }

    // --- past instances ------------------------------------------------------------------------

    void check_kept() {
        feature_in_.assign(state_.features, 0);
        class_in_.assign(state_.classes, 0);
        std::uint64_t value = 0, cls = 0, constraint = 0;
        for (std::uint64_t i = 0; i < state_.kept; ++i) {
            value = check_kept_values(i, value);
            cls = check_kept_classes(i, cls);
            constraint = check_kept_demands(i, constraint);
        }
        need(value == state_.kept_values, "kept_features", "more past than instances account for");
        need(cls == state_.kept_classes, "kept_true", "more past than instances account for");
        need(constraint == state_.kept_demands, "kept_demanded", "more past than instances account for");
    }

    std::uint64_t check_kept_values(std::uint64_t instance, std::uint64_t at) {
        const std::uint64_t count = state_.kept_features[instance];
        need(count > 0 && count <= state_.kept_values - at, "kept_features",
             "past instances are cut short");
        for (const std::uint64_t end = at + count; at < end; ++at) {
            const std::uint32_t id = state_.kept_feature_ids[at];
            if (id != GONE_ID) {
                need(has_feature(id) && feature_in_[id] != instance + 1, "kept_feature_ids",
                     "a past instance has no such feature, or twice");
                feature_in_[id] = instance + 1;
            }
            const float given = state_.kept_feature_values[at];
            need(given >= static_cast<float>(SMALLEST_VALUE) &&
                     given <= static_cast<float>(LARGEST_VALUE),
                 "kept_feature_values", "a past instance has a value out of range");
        }
        return at;
    }

    std::uint64_t check_kept_classes(std::uint64_t instance, std::uint64_t at) {
        const std::uint64_t count = state_.kept_true[instance];
        need(count > 0 && count <= state_.kept_classes - at, "kept_true",
             "past instances are cut short");
        for (const std::uint64_t end = at + count; at < end; ++at) {
            const std::uint32_t id = state_.kept_class_ids[at];
            if (id == GONE_ID) continue;
            need(has_class(id) && class_in_[id] != instance + 1, "kept_class_ids",
                 "a past instance has no such class, or twice");
            class_in_[id] = instance + 1;
        }
        return at;
    }

    std::uint64_t check_kept_demands(std::uint64_t instance, std::uint64_t at) const {
        const std::uint64_t count = state_.kept_demanded[instance];
        need(count <= state_.kept_demands - at, "kept_demanded", "past instances are cut short");
        need(count == 0 || options_.kind == Kind::vector_machine, "kept_demanded",
             "this learner makes no constraints");
        for (const std::uint64_t end = at + count; at < end; ++at) {
            const std::uint32_t ahead = state_.kept_demands_ahead[at];
            const std::uint32_t behind = state_.kept_demands_behind[at];
            need(ahead == NO_ID || ahead == GONE_ID || has_class(ahead), "kept_demands_ahead",
                 "a past instance constraints something of no class");
            need((behind == NO_ID && ahead != NO_ID) || behind == GONE_ID ||
                     (has_class(behind) && behind != ahead),
                 "kept_demands_behind", "a past instance constraints something of no class");
            const float multiplier = state_.kept_demands_multiplier[at];
            // Older releases kept subnormal multipliers, which some processor modes read as 0.
            need(multiplier >= 0 && std::isfinite(multiplier), "kept_demands_multiplier",
                 "a past instance makes no such constraint");
        }
        return at;
    }

    const State& state_;
    const Options& options_;
    std::vector<bool> is_retired_;
    std::vector<std::uint64_t> seen_in_;  // by class: the last feature with an edge to it, plus one
    std::vector<std::uint64_t> feature_in_, class_in_;  // the last instance that has it, plus one
};

}  // namespace manyclass
