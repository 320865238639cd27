// Writes the results of POST /rank of many instances, or the answer to one that has been read by Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/pipeline/ranking.hpp"
#include "service/http/native/ranking_json.hpp"
#include "service/http/native/serving.hpp"

namespace manyclass::http {

class BatchAnswer {
public:
    // Each result has the number `seq` of the last event learned, if it is given.
    BatchAnswer(const RankOptions& options, std::optional<std::uint64_t> seq)
        : options_(options), seq_(seq) {}

    // Begin with the rankings of the next block, and no result. `limit` is that for the least
    // accuracy or precision.
    void begin(const RankedBlock& block, double limit) {
        options_.apply_limit(limit);
        out_.clear();
        abstained_ = 0;
        ranked_ = block.ranked.data();
        names_ = block.names;
    }

    // The part of the next ranking, of `count` classes, that is stored until the label comes.
    ServedRanking next(std::uint32_t count, double confidence,
                       const std::vector<double>& probabilities) const {
        return served(options_, ranked_, count, names_, confidence, probabilities);
    }

    // Append the result of the next ranking, of `count` classes; append_ranking says what the other
    // arguments are. An empty id is left out.
    void append(std::uint32_t count, std::string_view id, double confidence,
                const std::vector<double>& probabilities, const Titles& titles) {
        abstained_ += options_.abstains(confidence);
        out_ += out_.empty() ? "{" : ",{";
        if (!id.empty()) {
            out_ += "\"id\":";
            append_string(out_, id);
            out_ += ',';
        }
        if (seq_) append_seq(out_, *seq_);
        append_ranking(out_, options_, ranked_, count, names_, confidence, probabilities, titles);
        ranked_ += count;
    }

    // The results since `begin`, with commas between them.
    const std::string& results() const { return out_; }

    std::uint32_t abstained() const { return abstained_; }  // of these results

private:
    RankOptions options_;
    const std::optional<std::uint64_t> seq_;
    std::uint32_t abstained_ = 0;
    const Ranked* ranked_ = nullptr;  // the next class
    std::string_view names_;          // from the next class on
    std::string out_;
};

}  // namespace manyclass::http
