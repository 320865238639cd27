// Writes the results of POST /rank of many instances.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/native/pipeline/ranking.hpp"
#include "service/http/native/ranking_json.hpp"
#include "service/http/native/serving.hpp"

namespace manyclass::http {

class BatchAnswer {
public:
    explicit BatchAnswer(const RankOptions& options) : options_(options) {}

    // Begin with the rankings of the next block, and no result.
    void begin(const RankedBlock& block) {
        out_.clear();
        abstained_ = 0;
        ranked_ = block.ranked.data();
        names_ = block.names;
    }

    // The part of the next ranking, of `count` classes, that is stored until the label comes.
    ServedRanking next(std::uint32_t count, double confidence) const {
        return served(options_, ranked_, count, names_, confidence);
    }

    // Append the result of the next ranking, of `count` classes. A negative confidence stands for
    // none.
    void append(std::uint32_t count, std::string_view id, double confidence) {
        abstained_ += options_.abstains(confidence);
        out_.append(out_.empty() ? "{\"id\":" : ",{\"id\":");
        append_string(out_, id);
        out_ += ',';
        append_ranking(out_, options_, ranked_, count, names_, confidence);
        ranked_ += count;
    }

    // The results since `begin`, with commas between them.
    const std::string& results() const { return out_; }

    std::uint32_t abstained() const { return abstained_; }  // of these results

private:
    const RankOptions options_;
    std::uint32_t abstained_ = 0;
    const Ranked* ranked_ = nullptr;  // the next class
    std::string_view names_;          // from the next class on
    std::string out_;
};

}  // namespace manyclass::http
