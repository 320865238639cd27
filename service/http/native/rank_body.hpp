// Reads the plain body of POST /rank, of one instance: schemas/rank.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "service/http/native/instance_reader.hpp"
#include "service/http/native/rank_options.hpp"
#include "service/ingest/native/served_ranking.hpp"

namespace manyclass::http {

class RankBody {
public:
    // Read a whole body with at most `most_features`, and a text by this analysis. False for another
    // key, a key twice, a value of another form or out of range, and invalid JSON; then use no result.
    bool read(std::string_view data, const TextParts& parts, std::size_t most_features) {
        options_ = {};
        id_ = source_ = {};
        instance_.begin(parts, most_features);
        JsonCursor json(data);
        if (!json.read_sign('{')) return false;
        do {
            std::string_view key;
            if (!json.read_name(key) || !json.read_sign(':')) return false;
            if (InstanceReader::reads(key)) {
                if (!instance_.read(json, key)) return false;
            } else if (key == "id" && id_.empty()) {
                if (!json.read_name(id_) || id_.size() > LONGEST_PLAIN_ID) return false;
            } else if (key == "source" && source_.empty()) {
                if (!json.read_name(source_)) return false;
            } else if (!options_.read(json, key)) {
                return false;
            }
        } while (json.read_sign(','));
        if (!json.read_sign('}')) return false;
        json.skip_space();
        return json.at_end() && instance_.has_instance();
    }

    // Write the bytes of the instance; return how many features it has.
    std::uint32_t write_instance(std::string& out) const { return instance_.write(out); }

    const RankOptions& options() const { return options_; }
    std::string_view id() const { return id_; }  // of the client; empty without one
    InstanceNote note() const { return {source_, instance_.reading(), instance_.text()}; }

private:
    InstanceReader instance_;
    RankOptions options_;
    std::string_view id_, source_;
};

}  // namespace manyclass::http
