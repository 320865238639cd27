// The scores from which an update of a linear learner is computed.
#pragma once

#include <algorithm>
#include <vector>

#include "pipeline/ranking.hpp"

namespace manyclass {

struct UpdateContext {
    std::vector<Ranked> positives;  // the true classes with their scores, 0 where not retrieved
    std::vector<Ranked> negatives;  // the wrong classes of the highest scores but 0, best first
    std::vector<Ranked> others;     // the classes of the constraints that the example brought

    double best_negative() const {
        return negatives.empty() ? 0.0 : std::max(negatives[0].score, 0.0);
    }
};

// Shares of one step back: the negatives within the margin of a positive divide it by how much each
// violates the margin.
inline std::vector<double> violation_shares(const UpdateContext& context, double score,
                                            double margin) {
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

}  // namespace manyclass
