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
struct Active {
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
struct Lead {
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

// What an instance demands of a linear SVM, and the multiplier with which it does: that one class
// scores above another by a margin. In the place of a class that is NO_ID stands a score of 0.
struct Demand {
    std::uint32_t ahead, behind;
    float multiplier;
};

// The true classes with their scores, 0 where not retrieved, and the wrong classes that score
// highest, best first, none with a score of 0.
struct Lesson {
    std::vector<Ranked> trues;
    std::vector<Ranked> rivals;
    std::vector<Demand> demands;  // that the instance made before, and then those it makes now
    std::vector<Ranked> others;   // the classes of these
    double squares = 0;           // of the values, summed

    double best_rival() const { return rivals.empty() ? 0.0 : std::max(rivals[0].score, 0.0); }
};

// The rivals that come too close to a true class step back together, each by its share: how much too
// close it comes.
inline std::vector<double> violations(const Lesson& lesson, double score, double margin) {
    std::vector<double> shares;
    double sum = 0;
    for (const Ranked& rival : lesson.rivals) {
        const double violation = margin - score + rival.score;
        if (!(violation > 0)) break;
        shares.push_back(violation);
        sum += violation;
    }
    for (double& share : shares) share /= sum;
    return shares;
}

// PA-II (Crammer et al. 2006): each true class whose margin over the best rival is too small steps
// forward, the rivals that come too close step back, by all of it together. Several true classes
// take their parts of such a step each: all of them in full, from the same scores, would be too far.
inline void passive_aggressive(const Lesson& lesson, const Options& options,
                               std::vector<Step>& steps) {
    steps.clear();
    std::vector<std::size_t> step_of;  // of each rival that steps back: its place among the steps
    const double softness = 1 / (2 * options.aggressiveness);
    for (const Ranked& true_class : lesson.trues) {
        const double loss = options.margin_threshold - true_class.score + lesson.best_rival();
        const double forward =
            loss / (lesson.squares + softness) / static_cast<double>(lesson.trues.size());
        steps.push_back({true_class.cls, forward});
        const std::vector<double> shares =
            violations(lesson, true_class.score, options.margin_threshold);
        for (std::size_t i = 0; i < shares.size(); ++i) {
            if (i == step_of.size()) {
                step_of.push_back(steps.size());
                steps.push_back({lesson.rivals[i].cls, 0});
            }
            steps[step_of[i]].gain -= forward * shares[i];
        }
    }
}

// MMP (Crammer and Singer 2003), uniform: every pair of a true class and a rival that is not below
// it moves the two apart, all pairs together by 1. A true class without such a rival steps forward.
inline void perceptron(const Lesson& lesson, std::vector<Step>& steps) {
    steps.clear();
    std::vector<std::uint32_t> above(lesson.rivals.size(), 0);  // of each rival, its pairs
    std::uint64_t pairs = 0;
    for (const Ranked& true_class : lesson.trues) {
        std::uint32_t its_pairs = 0;
        while (its_pairs < above.size() && lesson.rivals[its_pairs].score >= true_class.score)
            ++above[its_pairs++];
        pairs += its_pairs;
        steps.push_back({true_class.cls, static_cast<double>(its_pairs)});
    }
    for (Step& step : steps) step.gain = step.gain == 0 ? 1 : step.gain / static_cast<double>(pairs);
    for (std::size_t i = 0; i < above.size() && above[i] > 0; ++i)
        steps.push_back(
            {lesson.rivals[i].cls, -static_cast<double>(above[i]) / static_cast<double>(pairs)});
}

// A linear SVM with squared hinge loss, in the dual (Hsieh et al. 2008; LaRank, Bordes et al. 2007):
// each demand of the instance has its multiplier set to the best it can be with all others as they
// are. True classes are to score above 0 by the margin; and above each rival by the margin too, or
// the rival below 0. Demands made before are looked at again; those of no weight are forgotten.
class Demands {
public:
    Demands(Lesson& lesson, const Options& options, std::vector<Step>& steps)
        : lesson_(lesson), options_(options), demands_(lesson.demands), steps_(steps) {
        steps_.clear();
        for (const std::vector<Ranked>* some : {&lesson.trues, &lesson.rivals, &lesson.others})
            for (const Ranked& each : *some) classes_.push_back({each.cls, each.score, NONE});
        const auto by_id = [](const Standing& a, const Standing& b) { return a.cls < b.cls; };
        const auto same = [](const Standing& a, const Standing& b) { return a.cls == b.cls; };
        std::sort(classes_.begin(), classes_.end(), by_id);
        classes_.erase(std::unique(classes_.begin(), classes_.end(), same), classes_.end());
        for (std::size_t i = 0; i < demands_.size(); ++i)
            before_.push_back({demands_[i].ahead, demands_[i].behind, i, false});
        std::sort(before_.begin(), before_.end());
    }

    // Of so many true classes each is asked alone: there would be too many pairs, and their prices
    // would be too low.
    static bool are_many(std::size_t true_classes) { return true_classes > 8; }

    void settle() {
        const bool pairs = options_.pairs && !are_many(lesson_.trues.size());
        for (const Ranked& true_class : lesson_.trues) settle(true_class.cls, NO_ID);
        for (const Ranked& rival : lesson_.rivals) {
            if (!pairs) {
                settle(NO_ID, rival.cls);
                continue;
            }
            for (const Ranked& true_class : lesson_.trues) settle(true_class.cls, rival.cls);
        }
        std::sort(before_.begin(), before_.end(),
                  [](const Before& a, const Before& b) { return a.place < b.place; });
        for (const Before& each : before_)
            if (!each.is_settled) settle(demands_[each.place]);
        demands_.erase(std::remove_if(demands_.begin(), demands_.end(),
                                      [](const Demand& each) { return !has_weight(each); }),
                       demands_.end());
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
    static bool has_weight(const Demand& demand) { return demand.multiplier >= SMALLEST_MASS; }

    void settle(std::uint32_t ahead, std::uint32_t behind) {
        const Before wanted{ahead, behind, 0, false};
        const auto found = std::lower_bound(before_.begin(), before_.end(), wanted);
        if (found != before_.end() && !(wanted < *found)) {
            found->is_settled = true;
            settle(demands_[found->place]);
            return;
        }
        Demand made{ahead, behind, 0};
        settle(made);
        if (has_weight(made)) demands_.push_back(made);
    }

    void settle(Demand& demand) {
        const bool has_ahead = demand.ahead != NO_ID, has_behind = demand.behind != NO_ID;
        const double softness = 1 / (2 * price(demand));
        const double margin = has_ahead ? options_.margin_threshold : 0.0;
        const double lead = (has_ahead ? score(demand.ahead) : 0.0) -
                            (has_behind ? score(demand.behind) : 0.0);
        const double stiffness = (has_ahead && has_behind ? 2 : 1) * lesson_.squares + softness;
        const auto multiplier = static_cast<double>(demand.multiplier);
        const double step =
            std::max((margin - lead - multiplier * softness) / stiffness, -multiplier);
        if (!(std::fabs(step) * stiffness > LEAST_STEP * options_.margin_threshold)) return;
        demand.multiplier = static_cast<float>(multiplier + step);
        if (has_ahead) move(demand.ahead, step);
        if (has_behind) move(demand.behind, -step);
    }

    // What a demand may cost: that of a pair is one of as many as there are true classes.
    double price(const Demand& demand) const {
        const auto trues = static_cast<double>(lesson_.trues.size());
        const double of_true =
            options_.aggressiveness / (are_many(lesson_.trues.size()) ? trues : 1.0);
        if (demand.behind == NO_ID) return of_true;
        if (demand.ahead == NO_ID) return std::min(options_.caution, of_true);
        return options_.caution / trues;
    }

    // Of a class that is true, a rival, or in a demand made before; no other is asked for.
    Standing& standing(std::uint32_t cls) {
        return *std::lower_bound(classes_.begin(), classes_.end(), cls,
                                 [](const Standing& each, std::uint32_t id) { return each.cls < id; });
    }

    // A class's score, after the steps so far.
    double score(std::uint32_t cls) {
        const Standing& it = standing(cls);
        return it.step == NONE ? it.score : it.score + steps_[it.step].gain * lesson_.squares;
    }

    void move(std::uint32_t cls, double gain) {
        Standing& it = standing(cls);
        if (it.step == NONE) {
            it.step = steps_.size();
            steps_.push_back({cls, 0});
        }
        steps_[it.step].gain += gain;
    }

    const Lesson& lesson_;
    const Options& options_;
    std::vector<Demand>& demands_;
    std::vector<Step>& steps_;
    std::vector<Standing> classes_;  // of the instance, by id
    std::vector<Before> before_;     // the demands made before, by their classes
};

// Compute_Deductions of OOZ (Madani and Huang): how much of `rate` each of the rivals, best first,
// gives. At step n the n best share the gap to the next score; the last of `most` share the rest.
inline void deductions(const Lesson& lesson, double least, double rate, std::uint32_t most,
                       std::vector<double>& given) {
    given.clear();
    for (const Ranked& rival : lesson.rivals) {
        if (given.size() == most || !(rival.score > least)) break;
        given.push_back(0);
    }
    double spent = 0;
    for (std::size_t n = 1; n <= given.size() && spent < rate; ++n) {
        double share = rate - spent;
        if (n < most) {
            const double next = n < given.size() ? lesson.rivals[n].score : least;
            share = std::min(share, lesson.rivals[n - 1].score - next);
        }
        for (std::size_t i = 0; i < n; ++i) given[i] += share / static_cast<double>(n);
        spent += share;
    }
}

}  // namespace manyclass
