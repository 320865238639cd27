// Reads the plain body of POST /rank, of one instance: schemas/rank.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/native/text/json.hpp"
#include "service/http/native/rank_options.hpp"

namespace manyclass::http {

class RankBody {
public:
    // Read a whole body with at most `most_features`. False for another key, a key twice, a value
    // of another form or out of range, and invalid JSON; then use no result.
    bool read(std::string_view data, std::size_t most_features) {
        options_ = {};
        id_ = source_ = {};
        features_ = &JsonFeatures::mine();
        bool has_features = false;
        JsonCursor json(data);
        if (!json.read_sign('{')) return false;
        do {
            std::string_view key;
            if (!json.read_name(key) || !json.read_sign(':')) return false;
            if (key == "features" && !has_features) {
                has_features = true;
                if (!features_->read(json, most_features)) return false;
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
        return json.at_end() && has_features;
    }

    // Write the features as the bytes of an instance; return how many there are.
    std::uint32_t write_instance(std::string& out) const { return features_->write(out); }

    const RankOptions& options() const { return options_; }
    std::string_view id() const { return id_; }  // of the client; empty without one
    std::string_view source() const { return source_; }

private:
    JsonFeatures* features_ = nullptr;
    RankOptions options_;
    std::string_view id_, source_;
};

}  // namespace manyclass::http
