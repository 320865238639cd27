// Writes the answer to a ranking of one instance, head and body, byte for byte as the routes and
// uvicorn send it: schemas/rank.py declares the body, answers.py the headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/pipeline/ranking.hpp"
#include "service/http/native/instance_reader.hpp"
#include "service/http/native/ranking_json.hpp"

namespace manyclass::http {

class RankAnswer {
public:
    // Write the body behind the id; append_ranking says what the arguments are.
    void write(const RankOptions& options, std::uint64_t seq, const std::vector<Ranked>& ranked,
               std::string_view names, double confidence,
               const std::vector<double>& probabilities, const Titles& titles) {
        abstains_ = options.abstains(confidence);
        rest_.assign("\",");
        append_seq(rest_, seq);
        append_ranking(rest_, options, ranked.data(), ranked.size(), names, confidence,
                       probabilities, titles);
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

    std::string rest_, whole_;
    bool abstains_ = false;
};

}  // namespace manyclass::http
