// The part of an answer that is stored until the label comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/native/pipeline/ranking.hpp"
#include "service/http/native/rank_options.hpp"
#include "service/ingest/native/served_ranking.hpp"

namespace manyclass::http {

// Return the first classes that an answer with these options has, of `count` ranked by descending
// score. `names` begins with size u32 and bytes of each. A negative confidence stands for none.
inline ServedRanking served(const RankOptions& options, const Ranked* ranked, std::size_t count,
                            std::string_view names, double confidence) {
    const std::size_t most = std::min<std::size_t>(
        {count, options.k, ServedRanking::MOST_CLASSES});
    std::uint32_t above = 0;
    while (above < most && ranked[above].score > options.threshold) ++above;
    return {ServedRanking::first(names, above), confidence, options.abstains(confidence)};
}

}  // namespace manyclass::http
