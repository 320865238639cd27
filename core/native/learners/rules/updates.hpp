// What each learner does to the rows of an instance's features, by the context the instance is.
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
    Updates(Postings& rows, const Options& options, const std::vector<ActiveFeature>& active, UpdateContext& context)
        : rows_(rows), options_(options), active_(active), context_(context) {}

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
                for (const Ranked& positive : context_.positives) shift_weight(positive);
                break;
            case Kind::passive_aggressive:
                context_.squares = squares();
                passive_aggressive(context_, options_, steps_);
                take_steps();
                break;
            case Kind::perceptron:
                perceptron(context_, steps_);
                take_steps();
                break;
            case Kind::confidence:
                for (const Ranked& positive : context_.positives) step_by_variance(positive);
                break;
            case Kind::vector_machine:
                context_.squares = squares();
                DualSolver(context_, options_, steps_).settle();
                take_steps();
                return !steps_.empty();
        }
        return true;
    }

private:
    void strengthen() {
        NormalizedWeights shares(rows_, options_);
        for (const ActiveFeature& active : active_)
            if (active.feature != NO_ID)
                for (const Ranked& positive : context_.positives)
                    shares.strengthen(active.feature, positive.cls,
                                      static_cast<float>(active.value));
    }

    void average() {
        NormalizedWeights shares(rows_, options_);
        for (const ActiveFeature& active : active_)
            if (active.feature != NO_ID)
                for (const Ranked& positive : context_.positives)
                    shares.average(active.feature, positive.cls, options_.rate * active.value);
    }

    double squares() const {
        double squares = 0;
        for (const ActiveFeature& active : active_)
            if (active.feature != NO_ID) squares += active.value * active.value;
        return squares;
    }

    void take_steps() {
        SignedWeights weights(rows_, options_.max_outdegree);
        for (const ActiveFeature& active : active_)
            if (active.feature != NO_ID)
                for (const Step& step : steps_)
                    weights.add(active.feature, step.cls, step.gain * active.value);
    }

    // OOZ's update: each active feature moves weight to the true class, first from the negatives it
    // has edges to, best first, then from what it has not given away yet.
    void shift_weight(const Ranked& positive) {
        const double rate = std::min(options_.rate, options_.margin_threshold / 2);
        const double least = positive.score - options_.margin_threshold;
        std::vector<double> given;
        deductions(context_, least, rate, options_.negatives, given);
        std::vector<double> left = given;
        SignedWeights weights(rows_, options_.max_outdegree);
        for (const ActiveFeature& active : active_) {
            if (active.feature == NO_ID) continue;
            double allowed = active.value * rate, boost = 0;
            for (std::size_t i = 0; i < given.size() && allowed > 0; ++i) {
                const double most = std::min({left[i] / active.value, active.value * given[i], allowed});
                if (!(most > 0)) continue;
                const double taken =
                    weights.take(active.feature, context_.negatives[i].cls, most);
                boost += taken;
                left[i] -= taken * active.value;
                allowed -= taken;
            }
            Row& row = rows_[active.feature];  // its mass is the weight it has given away
            row.mass -= boost;
            boost += std::max(0.0, std::min(1.0 - row.mass - boost, allowed));
            row.mass += weights.give(active.feature, positive.cls, boost);
            row.mass = row.outdegree == 0 ? 0.0 : std::max(row.mass, 0.0);
        }
    }

    // AROW (Crammer et al. 2009): as PA-II, but each weight moves by its variance, which shrinks.
    void step_by_variance(const Ranked& positive) {
        const double loss = options_.margin_threshold - positive.score + context_.best_negative();
        const std::vector<double> shares =
            violations(context_, positive.score, options_.margin_threshold);
        SignedWeights weights(rows_, options_.max_outdegree);
        double variance = 0;
        for (const ActiveFeature& active : active_) {
            if (active.feature == NO_ID) continue;
            double sum = weights.variance(active.feature, positive.cls);
            for (std::size_t i = 0; i < shares.size(); ++i)
                sum += shares[i] * shares[i] *
                       weights.variance(active.feature, context_.negatives[i].cls);
            variance += active.value * active.value * sum;
        }
        const double certainty = 1 / (variance + 1 / options_.aggressiveness) /
                                 static_cast<double>(context_.positives.size());
        for (const ActiveFeature& active : active_) {
            if (active.feature == NO_ID) continue;
            const double gain = loss * certainty * active.value;
            const double shrink = certainty * active.value * active.value;
            weights.add_by_variance(active.feature, positive.cls, gain, shrink);
            for (std::size_t i = 0; i < shares.size(); ++i)
                weights.add_by_variance(active.feature, context_.negatives[i].cls, -gain * shares[i],
                                        shrink * shares[i] * shares[i]);
        }
    }

    Postings& rows_;
    const Options& options_;
    const std::vector<ActiveFeature>& active_;
    UpdateContext& context_;
    std::vector<Step> steps_;
};

}  // namespace manyclass
