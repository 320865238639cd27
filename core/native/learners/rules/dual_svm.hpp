// A linear SVM with squared hinge loss, solved in the dual (Hsieh et al., ICML 2008; LaRank, Bordes
// et al., ICML 2007).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learners/rules/position_table.hpp"
#include "learners/rules/rule.hpp"

namespace manyclass {

// An example has the constraints that each positive scores above 0 by the margin, and above each
// negative by the margin (`pairs`), or each negative below 0; and that each class said to be wrong
// scores below 0. One step sets the multiplier of each
// constraint to its optimum with all others fixed. Constraints of earlier steps are solved again;
// those whose multiplier became 0 are dropped.
//
// With many positives each class is constrained alone: there would be too many pairs, and C of each
// would be too low. Scores are then compared across examples with few and with many positives, so
// that a bias of each class is of use, and one C for all.
template <class Steps>
struct DualSvmBy : SignedRule {
    static constexpr bool HAS_CONSTRAINTS = true, ALWAYS_UPDATES = true, HAS_BIAS = true,
                          HAS_COSTS = true, HAS_PATHS = Steps::ON_PATHS;

    enum class Form { pairs, each, by_mean };

    double C = 1, C_negative = 1, bias = 0;
    Form form = Form::pairs;
    Cost cost = Cost::none;

    template <class V>
    void visit_options(V&& option) {
        SignedRule::visit_options(option);
        option("C", C);
        option("C_negative", C_negative);
        option.choice("constraints", form,
                      {{"pairs", Form::pairs}, {"each", Form::each}, {"auto", Form::by_mean}});
        option("bias", bias);
        option.choice("cost", cost, COSTS);
        if constexpr (HAS_PATHS) option("family_rate", family_rate);
    }

    // True if the positives are to lead the negatives; else each is constrained alone.
    bool compares_pairs(const UpdateContext& context) const {
        return form != Form::each && !is_many(context.positives.size()) &&
               !has_many_classes(context.mean_classes);
    }

    // The value of the bias for an example, given the sum of its squares and the mean number of
    // true classes; 0 while there is none. In proportion to the example, so that features that are
    // not known, which reduce the others when it is scaled, do not change a ranking.
    double bias_of(double squares, double mean_classes) const {
        const bool counts = form == Form::each || has_many_classes(mean_classes);
        return bias > 0 && counts ? bias * std::sqrt(squares) : 0.0;
    }

    std::size_t most_negatives(const UpdateContext& context) const {
        constexpr std::size_t MOST = 1000;
        const std::size_t positives = context.positives.size();
        if (has_many_classes(context.mean_classes))
            return std::max<std::size_t>(negatives, std::min(positives, MOST));
        return is_many(positives) ? std::min(negatives * positives, MOST) : negatives;
    }

    bool update(Postings& postings, std::vector<float>& biases, Example& example,
                const UpdateContext& context) const {
        const double squares = squared_norm(example.active);
        const double value = bias_of(squares, context.mean_classes);
        Solver solver(*this, context, squares + value * value, example);
        const std::vector<Step>& steps = solver.solve();
        take_steps(weights(postings, context), example.active, steps);
        if (value > 0)
            for (const Step& step : steps)
                if (!is_family(step.cls)) add_to_bias(biases[step.cls], step.gain * value);
        return !steps.empty();
    }

private:
    static constexpr double MANY = 8;

    static bool is_many(std::size_t positives) { return static_cast<double>(positives) > MANY; }

    // True if all examples are constrained as those with many positives, at a price of their own.
    bool has_many_classes(double mean) const { return form == Form::by_mean && mean > MANY; }

    static void add_to_bias(float& bias, double gain) {
        bias = SignedWeights::bounded(static_cast<double>(bias) + gain);
        if (!SignedWeights::is_something(bias)) bias = 0;
    }

    class Solver {
    public:
        Solver(const DualSvmBy& rule, const UpdateContext& context, double squares,
               Example& example)
            : rule_(rule), context_(context), squares_(squares), weight_(example.weight),
              constraints_(example.constraints),
              earlier_(constraints_.size()),
              scratch_(Scratch::of_thread()),
              steps_(classes(), context.paths, rule.family_rate),
              least_step_(rule.margin * least_share()) {
            scratch_.is_solved.assign(earlier_, false);
            scratch_.constraints.start(earlier_);
            for (std::size_t at = 0; at < earlier_; ++at)
                scratch_.constraints[key(constraints_[at])] = static_cast<std::uint32_t>(at);
        }

        const std::vector<Step>& solve() {
            const bool pairs = rule_.compares_pairs(context_);
            for (const Ranked& positive : context_.positives) solve(positive.cls, NO_ID);
            for (const Ranked& negative : context_.negatives) {
                if (!pairs) {
                    solve(NO_ID, negative.cls);
                    continue;
                }
                for (const Ranked& positive : context_.positives) solve(positive.cls, negative.cls);
            }
            for (const Ranked& rejected : context_.rejected)
                if (pairs || !is_negative(rejected.cls)) solve(NO_ID, rejected.cls);
            for (std::size_t at = 0; at < earlier_; ++at)
                if (!scratch_.is_solved[at]) solve(constraints_[at]);
            constraints_.erase(
                std::remove_if(constraints_.begin(), constraints_.end(),
                               [](const Constraint& each) { return !is_active(each); }),
                constraints_.end());
            return steps_.steps();
        }

    private:
        // A step below this share of the step that a class with a score of 0 would take is skipped:
        // it is not worth touching the rows. An example has many pairs, and those of a replayed one
        // were solved before.
        double least_share() const {
            if (!rule_.compares_pairs(context_)) return 0.02;
            return context_.is_replayed ? 0.2 : 0.1;
        }

        struct Scratch {
            std::vector<Ranked> scores;        // of the classes with a part in a constraint
            PositionTable classes;             // positions in `scores`, by id
            PositionTable constraints;         // positions of earlier constraints, by `key`
            std::vector<std::uint8_t> is_solved;  // by position of such a constraint

            // Not inlined, see LinearScratch.
            [[gnu::noinline]] static Scratch& of_thread() {
                static thread_local Scratch scratch;
                return scratch;
            }
        };

        static std::uint64_t key(const Constraint& constraint) {
            return std::uint64_t{constraint.ahead} << 32 | constraint.behind;
        }

        // Note the classes with a part in a constraint.
        const std::vector<Ranked>& classes() {
            const auto given = {&context_.positives, &context_.negatives, &context_.rejected,
                                &context_.others};
            std::size_t most = 0;
            for (const auto* some : given) most += some->size();
            scratch_.scores.clear();
            scratch_.classes.start(most);
            for (const auto* some : given)
                for (const Ranked& each : *some) {
                    std::uint32_t& position = scratch_.classes[each.cls];
                    if (position != PositionTable::NONE) continue;
                    position = static_cast<std::uint32_t>(scratch_.scores.size());
                    scratch_.scores.push_back(each);
                }
            return scratch_.scores;
        }

        // A subnormal multiplier counts as 0, as a subnormal mass does, see SMALLEST_MASS.
        static bool is_active(const Constraint& constraint) {
            return constraint.multiplier >= SMALLEST_MASS;
        }

        bool is_negative(std::uint32_t cls) const {
            return std::any_of(context_.negatives.begin(), context_.negatives.end(),
                               [cls](const Ranked& each) { return each.cls == cls; });
        }

        void solve(std::uint32_t ahead, std::uint32_t behind) {
            Constraint made{ahead, behind, 0};
            const std::uint32_t at = scratch_.constraints.find(key(made));
            if (at != PositionTable::NONE) {
                scratch_.is_solved[at] = true;
                solve(constraints_[at]);
                return;
            }
            solve(made);
            if (is_active(made)) constraints_.push_back(made);
        }

        void solve(Constraint& constraint) {
            const std::size_t ahead = position_of(constraint.ahead);
            const std::size_t behind = position_of(constraint.behind);
            const bool is_pair = ahead != NOWHERE && behind != NOWHERE;
            const double softness = 1 / (2 * price(constraint));
            double margin = ahead != NOWHERE ? rule_.margin : 0.0;
            if (is_pair) margin *= context_.costs.of(constraint.ahead, constraint.behind);
            const double lead = score(ahead) - score(behind);
            const double stiffness = steps_.lead_moved(ahead, behind) * squares_ + softness;
            const auto multiplier = static_cast<double>(constraint.multiplier);
            const double step =
                std::max((margin - lead - multiplier * softness) / stiffness, -multiplier);
            if (!(std::fabs(step) * stiffness > least_step_)) return;
            constraint.multiplier = static_cast<float>(multiplier + step);
            steps_.move(ahead, behind, step);
        }

        // C of a constraint, times the weight of the example; a pair has its part of the C of all
        // pairs of its negative.
        double price(const Constraint& constraint) const {
            return weight_ * unweighted(constraint);
        }

        double unweighted(const Constraint& constraint) const {
            const auto positives =
                static_cast<double>(std::max<std::size_t>(context_.positives.size(), 1));
            double of_positive = rule_.C;
            if (rule_.has_many_classes(context_.mean_classes))
                of_positive /= 2 * context_.mean_classes;
            else if (is_many(context_.positives.size())) of_positive /= positives;
            if (constraint.behind == NO_ID) return of_positive;
            if (constraint.ahead == NO_ID) return std::min(rule_.C_negative, of_positive);
            return rule_.C_negative / positives;
        }

        static constexpr std::size_t NOWHERE = Steps::NOWHERE;

        // Return the position of a class of a constraint among the scores.
        std::size_t position_of(std::uint32_t cls) const {
            return cls == NO_ID ? NOWHERE : scratch_.classes.find(cls);
        }

        // A class's score after the steps so far.
        double score(std::size_t at) const {
            return at == NOWHERE ? 0.0 : scratch_.scores[at].score + steps_.gain(at) * squares_;
        }

        const DualSvmBy& rule_;
        const UpdateContext& context_;
        const double squares_;  // of the example's values, summed
        const double weight_;   // of the example
        std::vector<Constraint>& constraints_;
        const std::size_t earlier_;  // constraints, of earlier steps
        Scratch& scratch_;
        Steps steps_;
        const double least_step_;
    };
};

using DualSvm = DualSvmBy<FlatSteps>;

}  // namespace manyclass
