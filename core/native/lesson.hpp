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

#include "names.hpp"
#include "options.hpp"

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

inline void add_step(std::vector<Step>& steps, std::uint32_t cls, double gain) {
    for (Step& step : steps)
        if (step.cls == cls) {
            step.gain += gain;
            return;
        }
    steps.push_back({cls, gain});
}

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
// forward, the rivals that come too close step back, by all of it together.
inline void passive_aggressive(const Lesson& lesson, const Options& options,
                               std::vector<Step>& steps) {
    steps.clear();
    const double softness = 1 / (2 * options.aggressiveness);
    for (const Ranked& true_class : lesson.trues) {
        const double loss = options.margin_threshold - true_class.score + lesson.best_rival();
        const double forward = loss / (lesson.squares + softness);
        add_step(steps, true_class.cls, forward);
        const std::vector<double> shares =
            violations(lesson, true_class.score, options.margin_threshold);
        for (std::size_t i = 0; i < shares.size(); ++i)
            add_step(steps, lesson.rivals[i].cls, -forward * shares[i]);
    }
}

// MMP (Crammer and Singer 2003), uniform: every pair of a true class and a rival that is not below
// it moves the two apart, all pairs together by 1. A true class without such a rival steps forward.
inline void perceptron(const Lesson& lesson, std::vector<Step>& steps) {
    std::size_t pairs = 0;
    steps.clear();
    for (const Ranked& true_class : lesson.trues)
        for (const Ranked& rival : lesson.rivals) pairs += rival.score >= true_class.score;
    for (const Ranked& true_class : lesson.trues) {
        if (lesson.rivals.empty() || lesson.rivals[0].score < true_class.score)
            add_step(steps, true_class.cls, 1);
        for (const Ranked& rival : lesson.rivals) {
            if (!(rival.score >= true_class.score)) break;
            add_step(steps, true_class.cls, 1.0 / static_cast<double>(pairs));
            add_step(steps, rival.cls, -1.0 / static_cast<double>(pairs));
        }
    }
}

// A linear SVM with squared hinge loss, in the dual (Hsieh et al. 2008; LaRank, Bordes et al. 2007):
// each demand of the instance has its multiplier set to the best it can be with all others as they
// are. True classes are to score above 0 by the margin; and above each rival by the margin too, or
// the rival below 0. Demands made before are looked at again; those of no weight are forgotten.
class Demands {
public:
    Demands(const Lesson& lesson, const Options& options, std::vector<Step>& steps)
        : lesson_(lesson), options_(options), steps_(steps) {
        steps_.clear();
    }

    void settle(std::vector<Demand>& demands) {
        const std::size_t before = demands.size();
        settled_.assign(before, false);
        for (const Ranked& true_class : lesson_.trues) settle(demands, true_class.cls, NO_ID);
        for (const Ranked& rival : lesson_.rivals) {
            if (!options_.pairs) settle(demands, NO_ID, rival.cls);
            if (options_.pairs)
                for (const Ranked& true_class : lesson_.trues)
                    settle(demands, true_class.cls, rival.cls);
        }
        for (std::size_t i = 0; i < before; ++i)
            if (!settled_[i]) settle(demands[i]);
        demands.erase(std::remove_if(demands.begin(), demands.end(),
                                     [](const Demand& each) { return !(each.multiplier > 0); }),
                      demands.end());
    }

private:
    static constexpr double LEAST_STEP = 0.01;  // a smaller one is not worth touching the rows

    void settle(std::vector<Demand>& demands, std::uint32_t ahead, std::uint32_t behind) {
        for (std::size_t i = 0; i < settled_.size(); ++i)
            if (demands[i].ahead == ahead && demands[i].behind == behind) {
                settled_[i] = true;
                settle(demands[i]);
                return;
            }
        Demand made{ahead, behind, 0};
        settle(made);
        if (made.multiplier > 0) demands.push_back(made);
    }

    void settle(Demand& demand) {
        const bool has_ahead = demand.ahead != NO_ID, has_behind = demand.behind != NO_ID;
        const double softness = 1 / (2 * weight_of(demand));
        const double margin = has_ahead ? options_.margin_threshold : 0.0;
        const double lead = (has_ahead ? score(demand.ahead) : 0.0) -
                            (has_behind ? score(demand.behind) : 0.0);
        const auto multiplier = static_cast<double>(demand.multiplier);
        const double slope = margin - lead - multiplier * softness;
        const double vectors = has_ahead && has_behind ? 2 : 1;
        const double step =
            std::max(slope / (vectors * lesson_.squares + softness), -multiplier);
        if (!(std::fabs(step) > LEAST_STEP)) return;
        demand.multiplier = static_cast<float>(multiplier + step);
        if (has_ahead) add_step(steps_, demand.ahead, step);
        if (has_behind) add_step(steps_, demand.behind, -step);
    }

    // What a demand may cost: that of a pair is one of as many as there are true classes.
    double weight_of(const Demand& demand) const {
        if (demand.behind == NO_ID) return options_.aggressiveness;
        if (demand.ahead == NO_ID) return options_.caution;
        return options_.caution / static_cast<double>(lesson_.trues.size());
    }

    // A class's score, after the steps so far.
    double score(std::uint32_t cls) const {
        double score = 0;
        for (const std::vector<Ranked>* known : {&lesson_.trues, &lesson_.rivals, &lesson_.others})
            for (const Ranked& each : *known)
                if (each.cls == cls) score = each.score;
        for (const Step& step : steps_)
            if (step.cls == cls) score += step.gain * lesson_.squares;
        return score;
    }

    const Lesson& lesson_;
    const Options& options_;
    std::vector<Step>& steps_;
    std::vector<bool> settled_;  // of the demands made before
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
