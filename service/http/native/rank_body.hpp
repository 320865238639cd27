// Reads the plain body of POST /rank, of one instance: schemas/rank.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "service/http/native/instance_reader.hpp"
#include "service/http/native/members.hpp"
#include "service/http/native/rank_options.hpp"
#include "service/ingest/native/served_ranking.hpp"

namespace manyclass::http {

class RankBody {
public:
    // Read a whole body with at most `most_features`, and a text by this analysis. False for another
    // key, a key twice, a value of another form or out of range, and invalid JSON; then use no result.
    bool read(std::string_view data, const TextParts& parts, std::size_t most_features) {
        options_ = {};
        instance_.begin(parts, most_features);
        const auto read_value = [this](JsonCursor& json, std::string_view name) {
            return instance_.reads(name) ? instance_.read(json, name) : options_.read(json, name);
        };
        return read_body(data, read_value) && instance_.has_instance();
    }

    // Write the bytes of the instance; false if it has neither features nor a vector.
    bool write_instance(std::string& out) const { return instance_.write(out); }

    const RankOptions& options() const { return options_; }
    void apply_limit(double limit) { options_.apply_limit(limit); }
    std::string_view id() const { return instance_.id(); }  // of the client; empty without one
    InstanceNote note() const {
        return {instance_.source(), instance_.reading(), instance_.text()};
    }

private:
    InstanceReader instance_{"id"};
    RankOptions options_;
};

}  // namespace manyclass::http
