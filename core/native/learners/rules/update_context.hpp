// What a learner is told of one instance, and what its classes' weights shall gain by it.
//
// A step of a class means: its weight of every active feature moves by gain * value. Learners that
// step do not look at rows at all; scores are all they need (except for AROW's variances).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "learners/options.hpp"
#include "storage/postings.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// An active feature. Of column, hash and name what it was found by is set.
struct ActiveFeature {
    std::uint32_t feature;
    std::uint32_t column;
    double value;
    std::uint64_t hash;
    std::string_view name;
};

struct Ranked {
    double score;
    std::uint32_t cls;
};

// The two highest scores of a ranking; 0 where there is no first or second class.
struct TopTwoScores {
    double first = 0, second = 0;

    // Take notice of a class's score, which is not 0.
    void meet(double score) {
        if (first == 0 || score > first) std::swap(first, score);
        if (second == 0 || score > second) second = score;
    }
};

struct Step {
    std::uint32_t cls;
    double gain;
};

// What an instance constraints of a linear SVM, and the multiplier with which it does: that one class
// scores above another by a margin. In the place of a class that is NO_ID stands a score of 0.
struct Constraint {
    std::uint32_t ahead, behind;
    float multiplier;
};

// The true classes with their scores, 0 where not retrieved, and the wrong classes that score
// highest, best first, none with a score of 0.
struct UpdateContext {
    std::vector<Ranked> positives;
    std::vector<Ranked> negatives;
    std::vector<Constraint> constraints;  // that the instance made before, and then those it makes now
    std::vector<Ranked> others;   // the classes of these
    double squares = 0;           // of the values, summed

    double best_negative() const { return negatives.empty() ? 0.0 : std::max(negatives[0].score, 0.0); }
};

// The negatives that come too close to a true class step back together, each by its share: how much too
// close it comes.
inline std::vector<double> violations(const UpdateContext& context, double score, double margin) {
    std::vector<double> shares;
    double sum = 0;
    for (const Ranked& negative : context.negatives) {
        const double violation = margin - score + negative.score;
        if (!(violation > 0)) break;
        shares.push_back(violation);
        sum += violation;
    }
    for (double& share : shares) share /= sum;
    return shares;
}

// PA-II (Crammer et al. 2006): each true class whose margin over the best negative is too small steps
// forward, the negatives that come too close step back, by all of it together. Several true classes
// take their parts of such a step each: all of them in full, from the same scores, would be too far.
inline void passive_aggressive(const UpdateContext& context, const Options& options,
                               std::vector<Step>& steps) {
    steps.clear();
    std::vector<std::size_t> step_of;  // of each negative that steps back: its place among the steps
    const double softness = 1 / (2 * options.aggressiveness);
    for (const Ranked& positive : context.positives) {
        const double loss = options.margin_threshold - positive.score + context.best_negative();
        const double forward =
            loss / (context.squares + softness) / static_cast<double>(context.positives.size());
        steps.push_back({positive.cls, forward});
        const std::vector<double> shares =
            violations(context, positive.score, options.margin_threshold);
        for (std::size_t i = 0; i < shares.size(); ++i) {
            if (i == step_of.size()) {
                step_of.push_back(steps.size());
                steps.push_back({context.negatives[i].cls, 0});
            }
            steps[step_of[i]].gain -= forward * shares[i];
        }
    }
}

// MMP (Crammer and Singer 2003), uniform: every pair of a true class and a negative that is not below
// it moves the two apart, all pairs together by 1. A true class without such a negative steps forward.
inline void perceptron(const UpdateContext& context, std::vector<Step>& steps) {
    steps.clear();
    std::vector<std::uint32_t> above(context.negatives.size(), 0);  // of each negative, its pairs
    std::uint64_t pairs = 0;
    for (const Ranked& positive : context.positives) {
        std::uint32_t its_pairs = 0;
        while (its_pairs < above.size() && context.negatives[its_pairs].score >= positive.score)
            ++above[its_pairs++];
        pairs += its_pairs;
        steps.push_back({positive.cls, static_cast<double>(its_pairs)});
    }
    for (Step& step : steps) step.gain = step.gain == 0 ? 1 : step.gain / static_cast<double>(pairs);
    for (std::size_t i = 0; i < above.size() && above[i] > 0; ++i)
        steps.push_back(
            {context.negatives[i].cls, -static_cast<double>(above[i]) / static_cast<double>(pairs)});
}

// A linear SVM with squared hinge loss, in the dual (Hsieh et al. 2008; LaRank, Bordes et al. 2007):
// each constraint of the instance has its multiplier set to the best it can be with all others as they
// are. True classes are to score above 0 by the margin; and above each negative by the margin too, or
// the negative below 0. DualSolver made before are looked at again; those of no weight are forgotten.
class DualSolver {
public:
    DualSolver(UpdateContext& context, const Options& options, std::vector<Step>& steps)
        : context_(context), options_(options), constraints_(context.constraints), steps_(steps) {
        steps_.clear();
        for (const std::vector<Ranked>* some : {&context.positives, &context.negatives, &context.others})
            for (const Ranked& each : *some) classes_.push_back({each.cls, each.score, NONE});
        const auto by_id = [](const Standing& a, const Standing& b) { return a.cls < b.cls; };
        const auto same = [](const Standing& a, const Standing& b) { return a.cls == b.cls; };
        std::sort(classes_.begin(), classes_.end(), by_id);
        classes_.erase(std::unique(classes_.begin(), classes_.end(), same), classes_.end());
        for (std::size_t i = 0; i < constraints_.size(); ++i)
            before_.push_back({constraints_[i].ahead, constraints_[i].behind, i, false});
        std::sort(before_.begin(), before_.end());
    }

    // Of so many true classes each is asked alone: there would be too many pairs, and their prices
    // would be too low.
    static bool are_many(std::size_t true_classes) { return true_classes > 8; }

    void settle() {
        const bool pairs = options_.pairs && !are_many(context_.positives.size());
        for (const Ranked& positive : context_.positives) settle(positive.cls, NO_ID);
        for (const Ranked& negative : context_.negatives) {
            if (!pairs) {
                settle(NO_ID, negative.cls);
                continue;
            }
            for (const Ranked& positive : context_.positives) settle(positive.cls, negative.cls);
        }
        std::sort(before_.begin(), before_.end(),
                  [](const Before& a, const Before& b) { return a.place < b.place; });
        for (const Before& each : before_)
            if (!each.is_settled) settle(constraints_[each.place]);
        constraints_.erase(std::remove_if(constraints_.begin(), constraints_.end(),
                                      [](const Constraint& each) { return !has_weight(each); }),
                       constraints_.end());
    }

private:
    static constexpr std::size_t NONE = static_cast<std::size_t>(-1);
    // A smaller share of the step that a class with a score of 0 would take is not worth touching
    // the rows.
    static constexpr double LEAST_STEP = 0.02;

    struct Standing {
        std::uint32_t cls;
        double score;
        std::size_t step;  // its place among the steps
    };
    struct Before {
        std::uint32_t ahead, behind;
        std::size_t place;
        bool is_settled;
        bool operator<(const Before& other) const {
            return ahead != other.ahead ? ahead < other.ahead : behind < other.behind;
        }
    };

    // A subnormal multiplier is dropped as a subnormal mass is, see SMALLEST_MASS.
    static bool has_weight(const Constraint& constraint) { return constraint.multiplier >= SMALLEST_MASS; }

    void settle(std::uint32_t ahead, std::uint32_t behind) {
        const Before wanted{ahead, behind, 0, false};
        const auto found = std::lower_bound(before_.begin(), before_.end(), wanted);
        if (found != before_.end() && !(wanted < *found)) {
            found->is_settled = true;
            settle(constraints_[found->place]);
            return;
        }
        Constraint made{ahead, behind, 0};
        settle(made);
        if (has_weight(made)) constraints_.push_back(made);
    }

    void settle(Constraint& constraint) {
        const bool has_ahead = constraint.ahead != NO_ID, has_behind = constraint.behind != NO_ID;
        const double softness = 1 / (2 * price(constraint));
        const double margin = has_ahead ? options_.margin_threshold : 0.0;
        const double lead = (has_ahead ? score(constraint.ahead) : 0.0) -
                            (has_behind ? score(constraint.behind) : 0.0);
        const double stiffness = (has_ahead && has_behind ? 2 : 1) * context_.squares + softness;
        const auto multiplier = static_cast<double>(constraint.multiplier);
        const double step =
            std::max((margin - lead - multiplier * softness) / stiffness, -multiplier);
        if (!(std::fabs(step) * stiffness > LEAST_STEP * options_.margin_threshold)) return;
        constraint.multiplier = static_cast<float>(multiplier + step);
        if (has_ahead) move(constraint.ahead, step);
        if (has_behind) move(constraint.behind, -step);
    }

    // What a constraint may cost: that of a pair is one of as many as there are true classes.
    double price(const Constraint& constraint) const {
        const auto positives = static_cast<double>(context_.positives.size());
        const double of_true =
            options_.aggressiveness / (are_many(context_.positives.size()) ? positives : 1.0);
        if (constraint.behind == NO_ID) return of_true;
        if (constraint.ahead == NO_ID) return std::min(options_.caution, of_true);
        return options_.caution / positives;
    }

    // Of a class that is true, a negative, or in a constraint made before; no other is asked for.
    Standing& standing(std::uint32_t cls) {
        return *std::lower_bound(classes_.begin(), classes_.end(), cls,
                                 [](const Standing& each, std::uint32_t id) { return each.cls < id; });
    }

    // A class's score, after the steps so far.
    double score(std::uint32_t cls) {
        const Standing& it = standing(cls);
        return it.step == NONE ? it.score : it.score + steps_[it.step].gain * context_.squares;
    }

    void move(std::uint32_t cls, double gain) {
        Standing& it = standing(cls);
        if (it.step == NONE) {
            it.step = steps_.size();
            steps_.push_back({cls, 0});
        }
        steps_[it.step].gain += gain;
    }

    const UpdateContext& context_;
    const Options& options_;
    std::vector<Constraint>& constraints_;
    std::vector<Step>& steps_;
    std::vector<Standing> classes_;  // of the instance, by id
    std::vector<Before> before_;     // the constraints made before, by their classes
};

// Compute_Deductions of OOZ (Madani and Huang): how much of `rate` each of the negatives, best first,
// gives. At step n the n best share the gap to the next score; the last of `most` share the rest.
inline void deductions(const UpdateContext& context, double least, double rate, std::uint32_t most,
                       std::vector<double>& given) {
    given.clear();
    for (const Ranked& negative : context.negatives) {
        if (given.size() == most || !(negative.score > least)) break;
        given.push_back(0);
    }
    double spent = 0;
    for (std::size_t n = 1; n <= given.size() && spent < rate; ++n) {
        double share = rate - spent;
        if (n < most) {
            const double next = n < given.size() ? context.negatives[n].score : least;
            share = std::min(share, context.negatives[n - 1].score - next);
        }
        for (std::size_t i = 0; i < n; ++i) given[i] += share / static_cast<double>(n);
        spent += share;
    }
}

}  // namespace manyclass
