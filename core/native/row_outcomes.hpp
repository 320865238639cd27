// The outcomes of rows that are learned in order, and the calibration that learns from them.
#pragma once

#include <cstdint>
#include <string_view>

#include "calibration.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/ranking.hpp"

namespace manyclass {

// The arrays that receive the outcomes of rows, and the calibration that learns them: the caller's.
struct RowOutcomes {
    std::int32_t* ranks;
    TopTwoScores* top_two;       // nullptr: they are not wanted
    Calibration* calibration;    // nullptr: none learns
    const std::uint8_t* counts;  // 0 for each row whose outcome it does not learn; nullptr: it learns all
};

// Learn rows in order. `learn_one` learns a row, given its number and where to note the ranking
// before it, or nullptr, and returns its outcome.
template <class F>
void learn_rows(const CsrRows& rows, const CsrRows& classes, const RowOutcomes& to,
                F&& learn_one) {
    RankingBefore before;
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const bool counts =
            to.calibration != nullptr && (to.counts == nullptr || to.counts[row] != 0);
        if (counts) before.depth = to.calibration->depth();
        const Outcome outcome = learn_one(row, counts ? &before : nullptr);
        to.ranks[row] = static_cast<std::int32_t>(outcome.rank);
        if (to.top_two != nullptr) to.top_two[row] = outcome.top_two;
        if (!counts) continue;
        const std::int64_t true_classes = classes.indptr[row + 1] - classes.indptr[row];
        to.calibration->add(outcome.top_two, before, static_cast<std::size_t>(true_classes),
                            std::string_view());
    }
}

}  // namespace manyclass
