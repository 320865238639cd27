// Writes rankings as JSON, byte for byte as the encoder of their type in schemas/rank.py.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/pipeline/ranking.hpp"
#include "core/native/text/number.hpp"
#include "service/http/native/json_string.hpp"
#include "service/http/native/rank_options.hpp"
#include "service/http/native/titles.hpp"

namespace manyclass::http {

// Append null in place of a number that JSON does not have.
inline void append_number(std::string& out, double value) {
    if (std::isfinite(value)) append_double(out, value);
    else out += "null";
}

// Append the member `seq`, with a comma behind it.
inline void append_seq(std::string& out, std::uint64_t seq) {
    out.append("\"seq\":").append(std::to_string(seq)).append(1, ',');
}

// Append a probability; a negative one is unknown.
inline void append_probability(std::string& out, double probability) {
    if (probability >= 0) append_double(out, probability);
    else out += "null";
}

// Append the members `ranked`, `confidence` and, with a least accuracy or precision, `limit` of a
// ranking of `count` classes, and the end of their object. A negative confidence stands for none.
// `probabilities` has that of each class, or nothing if they were not asked for. `names` holds size
// u32 and bytes of each class, and loses them; `titles` has the titles of classes.
inline void append_ranking(std::string& out, const RankOptions& options, const Ranked* ranked,
                           std::size_t count, std::string_view& names, double confidence,
                           const std::vector<double>& probabilities, const Titles& titles) {
    const double least = options.least_of_class();
    const bool abstained = options.abstains(confidence);
    const std::uint32_t most = abstained ? 0 : options.k;
    std::uint32_t written = 0;
    out.append("\"ranked\":[");
    for (std::size_t at = 0; at < count; ++at) {
        std::uint32_t size;
        std::memcpy(&size, names.data(), sizeof size);
        const std::string_view name = names.substr(sizeof size, size);
        names.remove_prefix(sizeof size + size);
        if (!(ranked[at].score > options.threshold) || written == most) continue;
        if (!probabilities.empty() && probabilities[at] < least) continue;
        out.append(written++ == 0 ? "{\"class\":" : ",{\"class\":");
        append_string(out, name);
        out.append(",\"score\":");
        append_number(out, ranked[at].score);
        titles.append(out, name);
        if (!probabilities.empty()) {
            out.append(",\"probability\":");
            append_probability(out, probabilities[at]);
        }
        out += '}';
    }
    out.append("],\"confidence\":");
    append_probability(out, confidence);
    if (options.shows_limit()) {
        out.append(",\"limit\":");
        append_probability(out, options.shown_limit() <= 1 ? options.shown_limit() : -1);
    }
    out.append(abstained ? ",\"abstained\":true}" : "}");
}

}  // namespace manyclass::http
