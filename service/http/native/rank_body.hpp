// Reads the plain body of POST /rank, of one instance: schemas/rank.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/native/text/json.hpp"
#include "service/http/native/rank_options.hpp"

namespace manyclass::http {

constexpr std::size_t LONGEST_PLAIN_ID = 200;  // bytes, so at most as many characters

class RankBody {
public:
    // Read a whole body with at most `most_features`. False for another key, a key twice, a value
    // of another form or out of range, and invalid JSON; then use no result.
    bool read(std::string_view data, std::size_t most_features) {
        options_ = {};
        id_ = {};
        features_ = &JsonFeatures::mine();
        JsonCursor json(data);
        unsigned seen = 0;
        if (!json.read_sign('{')) return false;
        do {
            std::string_view key;
            if (!json.read_name(key) || !json.read_sign(':')) return false;
            const Key known = key_of(key);
            const unsigned bit = 1u << static_cast<unsigned>(known);
            if (known == Key::unknown || seen & bit) return false;
            seen |= bit;
            if (!read_value(json, known, most_features)) return false;
        } while (json.read_sign(','));
        if (!json.read_sign('}')) return false;
        json.skip_space();
        return json.at_end() && seen & 1u << static_cast<unsigned>(Key::features);
    }

    // Write the features as the bytes of an instance; return how many there are.
    std::uint32_t write_instance(std::string& out) const { return features_->write(out); }

    const RankOptions& options() const { return options_; }
    std::string_view id() const { return id_; }  // of the client; empty without one

private:
    enum class Key { features, k, threshold, min_confidence, id, unknown };

    static Key key_of(std::string_view name) {
        if (name == "features") return Key::features;
        if (name == "k") return Key::k;
        if (name == "id") return Key::id;
        if (name == "threshold") return Key::threshold;
        if (name == "min_confidence") return Key::min_confidence;
        return Key::unknown;
    }

    bool read_value(JsonCursor& json, Key key, std::size_t most_features) {
        switch (key) {
            case Key::features: return features_->read(json, most_features);
            case Key::k: return options_.read_k(json);
            case Key::id: return json.read_name(id_) && id_.size() <= LONGEST_PLAIN_ID;
            case Key::threshold: return options_.read_threshold(json);
            case Key::min_confidence: return options_.read_least_confidence(json);
            case Key::unknown: break;
        }
        return false;
    }

    JsonFeatures* features_ = nullptr;
    RankOptions options_;
    std::string_view id_;
};

}  // namespace manyclass::http
