// Writes the results of POST /rank of many instances, byte for byte as the encoder of their type in
// schemas/rank.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/native/pipeline/ranking.hpp"
#include "core/native/text/number.hpp"

namespace manyclass::http {

// Append a string with its quotes.
inline void append_string(std::string& out, std::string_view text) {
    constexpr char HEX[] = "0123456789abcdef", SHORT[] = "btn_fr";  // 8 to 13
    const auto is_plain = [](char sign) {
        return static_cast<unsigned char>(sign) >= 0x20 && sign != '"' && sign != '\\';
    };
    out += '"';
    for (auto at = text.begin(); at != text.end(); ++at) {
        const auto plain_until = std::find_if_not(at, text.end(), is_plain);
        out.append(at, plain_until);
        at = plain_until;
        if (at == text.end()) break;
        const auto byte = static_cast<unsigned char>(*at);
        if (byte >= 0x20) out.append(1, '\\').append(1, *at);
        else if (byte >= 8 && byte <= 13 && byte != 11)
            out.append(1, '\\').append(1, SHORT[byte - 8]);
        else out.append("\\u00").append(1, HEX[byte >> 4]).append(1, HEX[byte & 15]);
    }
    out += '"';
}

// Append null in place of a number that JSON does not have.
inline void append_number(std::string& out, double value) {
    if (std::isfinite(value)) append_double(out, value);
    else out += "null";
}

class BatchAnswer {
public:
    // Of each ranking at most k classes, with a score above the threshold; none below the least
    // confidence, -1 for any.
    BatchAnswer(std::uint32_t k, double threshold, double least_confidence)
        : k_(k), threshold_(threshold), least_confidence_(least_confidence) {}

    // Begin with the rankings of the next block, and no result.
    void begin(const RankedBlock& block) {
        out_.clear();
        abstained_ = 0;
        ranked_ = block.ranked.data();
        names_ = block.names;
    }

    // Append the result of the next ranking, of `count` classes. A negative confidence stands for
    // none.
    void append(std::uint32_t count, std::string_view id, double confidence) {
        const bool abstains =
            least_confidence_ >= 0 && (confidence < 0 || confidence < least_confidence_);
        abstained_ += abstains;
        out_.append(out_.empty() ? "{\"id\":" : ",{\"id\":");
        append_string(out_, id);
        out_.append(",\"ranked\":[");
        append_classes(count, abstains ? 0 : k_);
        out_.append("],\"confidence\":");
        if (confidence >= 0) append_double(out_, confidence);
        else out_.append("null");
        if (abstains) out_.append(",\"abstained\":true,\"withheld\":true");
        out_ += '}';
    }

    // The results since `begin`, with commas between them.
    const std::string& results() const { return out_; }

    std::uint32_t abstained() const { return abstained_; }  // of these results

private:
    void append_classes(std::uint32_t count, std::uint32_t most) {
        std::uint32_t written = 0;
        for (const Ranked* const end = ranked_ + count; ranked_ < end; ++ranked_) {
            std::uint32_t size;
            std::memcpy(&size, names_.data(), sizeof size);
            const std::string_view name = names_.substr(sizeof size, size);
            names_.remove_prefix(sizeof size + size);
            if (!(ranked_->score > threshold_) || written == most) continue;
            out_.append(written++ == 0 ? "{\"class\":" : ",{\"class\":");
            append_string(out_, name);
            out_.append(",\"score\":");
            append_number(out_, ranked_->score);
            out_ += '}';
        }
    }

    std::uint32_t k_;
    double threshold_, least_confidence_;
    std::uint32_t abstained_ = 0;
    const Ranked* ranked_ = nullptr;  // the next class
    std::string_view names_;          // from the next class on
    std::string out_;
};

}  // namespace manyclass::http
