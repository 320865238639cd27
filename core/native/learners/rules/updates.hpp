// What each learner does to the rows of an instance's features, by the lesson the instance is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "learners/options.hpp"
#include "learners/rules/normalized_weights.hpp"
#include "learners/rules/signed_weights.hpp"
#include "learners/rules/update_context.hpp"
#include "storage/postings.hpp"

namespace manyclass {

class Updates {
public:
    Updates(Rows& rows, const Options& options, const std::vector<Active>& active, Lesson& lesson)
        : rows_(rows), options_(options), active_(active), lesson_(lesson) {}

    // Whether anything was changed.
    bool apply() {
        switch (options_.kind) {
            case Kind::frequency:
            case Kind::label_tree:  // which has no rows
                break;
            case Kind::feature_focus:
            case Kind::independent:
                strengthen();
                break;
            case Kind::moving_average:
                average();
                break;
            case Kind::slack:
                for (const Ranked& true_class : lesson_.trues) shift_weight(true_class);
                break;
            case Kind::passive_aggressive:
                lesson_.squares = squares();
                passive_aggressive(lesson_, options_, steps_);
                take_steps();
                break;
            case Kind::perceptron:
                perceptron(lesson_, steps_);
                take_steps();
                break;
            case Kind::confidence:
                for (const Ranked& true_class : lesson_.trues) step_by_variance(true_class);
                break;
            case Kind::vector_machine:
                lesson_.squares = squares();
                Demands(lesson_, options_, steps_).settle();
                take_steps();
                return !steps_.empty();
        }
        return true;
    }

private:
    void strengthen() {
        Shares shares(rows_, options_);
        for (const Active& active : active_)
            if (active.feature != NO_ID)
                for (const Ranked& true_class : lesson_.trues)
                    shares.strengthen(active.feature, true_class.cls,
                                      static_cast<float>(active.value));
    }

    void average() {
        Shares shares(rows_, options_);
        for (const Active& active : active_)
            if (active.feature != NO_ID)
                for (const Ranked& true_class : lesson_.trues)
                    shares.average(active.feature, true_class.cls, options_.rate * active.value);
    }

    double squares() const {
        double squares = 0;
        for (const Active& active : active_)
            if (active.feature != NO_ID) squares += active.value * active.value;
        return squares;
    }

    void take_steps() {
        Weights weights(rows_, options_.max_outdegree);
        for (const Active& active : active_)
            if (active.feature != NO_ID)
                for (const Step& step : steps_)
                    weights.add(active.feature, step.cls, step.gain * active.value);
    }

    // OOZ's update: each active feature moves weight to the true class, first from the rivals it
    // has edges to, best first, then from what it has not given away yet.
    void shift_weight(const Ranked& true_class) {
        const double rate = std::min(options_.rate, options_.margin_threshold / 2);
        const double least = true_class.score - options_.margin_threshold;
        std::vector<double> given;
        deductions(lesson_, least, rate, options_.rivals, given);
        std::vector<double> left = given;
        Weights weights(rows_, options_.max_outdegree);
        for (const Active& active : active_) {
            if (active.feature == NO_ID) continue;
            double allowed = active.value * rate, boost = 0;
            for (std::size_t i = 0; i < given.size() && allowed > 0; ++i) {
                const double most = std::min({left[i] / active.value, active.value * given[i], allowed});
                if (!(most > 0)) continue;
                const double taken =
                    weights.take(active.feature, lesson_.rivals[i].cls, most);
                boost += taken;
                left[i] -= taken * active.value;
                allowed -= taken;
            }
            Row& row = rows_[active.feature];  // its mass is the weight it has given away
            row.mass -= boost;
            boost += std::max(0.0, std::min(1.0 - row.mass - boost, allowed));
            row.mass += weights.give(active.feature, true_class.cls, boost);
            row.mass = row.outdegree == 0 ? 0.0 : std::max(row.mass, 0.0);
        }
    }

    // AROW (Crammer et al. 2009): as PA-II, but each weight moves by its variance, which shrinks.
    void step_by_variance(const Ranked& true_class) {
        const double loss = options_.margin_threshold - true_class.score + lesson_.best_rival();
        const std::vector<double> shares =
            violations(lesson_, true_class.score, options_.margin_threshold);
        Weights weights(rows_, options_.max_outdegree);
        double variance = 0;
        for (const Active& active : active_) {
            if (active.feature == NO_ID) continue;
            double sum = weights.variance(active.feature, true_class.cls);
            for (std::size_t i = 0; i < shares.size(); ++i)
                sum += shares[i] * shares[i] *
                       weights.variance(active.feature, lesson_.rivals[i].cls);
            variance += active.value * active.value * sum;
        }
        const double certainty = 1 / (variance + 1 / options_.aggressiveness) /
                                 static_cast<double>(lesson_.trues.size());
        for (const Active& active : active_) {
            if (active.feature == NO_ID) continue;
            const double gain = loss * certainty * active.value;
            const double shrink = certainty * active.value * active.value;
            weights.add_by_variance(active.feature, true_class.cls, gain, shrink);
            for (std::size_t i = 0; i < shares.size(); ++i)
                weights.add_by_variance(active.feature, lesson_.rivals[i].cls, -gain * shares[i],
                                        shrink * shares[i] * shares[i]);
        }
    }

    Rows& rows_;
    const Options& options_;
    const std::vector<Active>& active_;
    Lesson& lesson_;
    std::vector<Step> steps_;
};

}  // namespace manyclass
