// Writes the answer to a ranking of one instance, head and body, byte for byte as the routes and
// uvicorn send it: schemas/rank.py declares the body, answers.py the headers.
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
#include "service/http/native/rank_body.hpp"

namespace manyclass::http {

class RankAnswer {
public:
    // Write the body behind the id. `names` holds size u32 and bytes of each ranked class. A
    // negative confidence stands for none. False if a name needs an escape or a score is not a
    // finite number; then use no result.
    bool write(const RankBody& asked, std::uint64_t seq, const std::vector<Ranked>& ranked,
               std::string_view names, double confidence) {
        const double least = asked.options().least_confidence;
        abstains_ = least >= 0 && (confidence < 0 || confidence < least);
        rest_.assign("\",\"seq\":").append(std::to_string(seq)).append(",\"ranked\":[");
        if (!abstains_ && !write_classes(asked, ranked, names)) return false;
        rest_.append("],\"confidence\":");
        if (!(confidence >= 0)) rest_.append("null");
        else append_double(rest_, confidence);
        if (abstains_) rest_.append(",\"abstained\":true,\"withheld\":true");
        rest_ += '}';
        return true;
    }

    // True if the answer ranks no class because the confidence is too low.
    bool abstains() const { return abstains_; }

    // Take the memory that `whole` needs, for any id: it then cannot fail.
    void reserve(std::string_view first, std::string_view last) {
        constexpr std::size_t HEADERS_OF_BODY = 100, MOST_ID = LONGEST_PLAIN_ID;
        whole_.clear();
        whole_.reserve(first.size() + HEADERS_OF_BODY + last.size() + OPENING.size() + MOST_ID +
                       rest_.size());
    }

    // The whole answer. `first` are the status line and the headers of the server, `last` headers
    // behind those of the body, each with its line end.
    const std::string& whole(std::string_view first, std::string_view last, std::string_view id) {
        const std::size_t size = OPENING.size() + id.size() + rest_.size();
        whole_.assign(first)
            .append("content-type: application/json\r\ncontent-length: ")
            .append(std::to_string(size))
            .append("\r\n")
            .append(last)
            .append("\r\n")
            .append(OPENING)
            .append(id)
            .append(rest_);
        return whole_;
    }

private:
    static constexpr std::string_view OPENING = "{\"id\":\"";

    bool write_classes(const RankBody& asked, const std::vector<Ranked>& ranked,
                       std::string_view names) {
        std::uint32_t written = 0;
        for (const Ranked& each : ranked) {
            std::uint32_t size;
            std::memcpy(&size, names.data(), sizeof size);
            const std::string_view name = names.substr(sizeof size, size);
            names.remove_prefix(sizeof size + size);
            if (!(each.score > asked.options().threshold) || written == asked.options().k) continue;
            if (!is_plain(name) || !std::isfinite(each.score)) return false;
            rest_.append(written++ == 0 ? "{\"class\":\"" : ",{\"class\":\"")
                .append(name)
                .append("\",\"score\":");
            append_double(rest_, each.score);
            rest_ += '}';
        }
        return true;
    }

    // True if JSON has the name as it is.
    static bool is_plain(std::string_view name) {
        for (const char sign : name)
            if (static_cast<unsigned char>(sign) < 0x20 || sign == '"' || sign == '\\') return false;
        return true;
    }

    std::string rest_, whole_;
    bool abstains_ = false;
};

}  // namespace manyclass::http
