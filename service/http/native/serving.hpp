// The part of an answer that is stored until the label comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/native/pipeline/ranking.hpp"
#include "service/http/native/rank_options.hpp"
#include "service/ingest/native/served_ranking.hpp"

namespace manyclass::http {

// Return the first classes that an answer with these options has, of `count` ranked by descending
// score; those it would have without an abstention. `names` begins with size u32 and bytes of each.
// A negative confidence stands for none. `probabilities` has that of each class, or nothing.
inline ServedRanking served(const RankOptions& options, const Ranked* ranked, std::size_t count,
                            std::string_view names, double confidence,
                            const std::vector<double>& probabilities) {
    const std::size_t most = std::min<std::size_t>(
        {count, options.k, ServedRanking::MOST_CLASSES});
    const bool abstained = options.abstains(confidence);
    const double least = abstained || probabilities.empty() ? -1 : options.least_of_class();
    const auto is_served = [&](std::size_t at) {
        return ranked[at].score > options.threshold && (least < 0 || probabilities[at] >= least);
    };
    std::uint32_t above = 0;
    while (above < most && is_served(above)) ++above;
    return {ServedRanking::first(names, above), confidence, abstained};
}

}  // namespace manyclass::http
