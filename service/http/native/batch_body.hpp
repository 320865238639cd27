// Reads the plain body of POST /rank, of many instances: schemas/rank.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/pipeline/wire.hpp"
#include "service/http/native/instance_reader.hpp"
#include "service/http/native/rank_body.hpp"

namespace manyclass::http {

class BatchBody {
public:
    // An instance of the body; a view is one of the body.
    struct Instance {
        std::size_t end;         // of its bytes in `wire`, which begin where those before it end
        std::uint32_t features;  // at least one
        std::string_view id, source;  // of the client; empty without one
        std::string_view text;        // as it is stored behind its reading, empty without one; of
                                      // `texts_` if not here
    };

    // Texts are read by this analysis.
    explicit BatchBody(const TextParts& parts) : parts_(parts) {}

    // Read a whole body of 1 to `most_instances`, each with at most `most_features`, of `most_bytes`
    // together. False for another key, a key twice, a value of another form or out of range, an
    // instance without features, and invalid JSON; then use no result.
    bool read(std::string_view data, std::size_t most_instances, std::size_t most_features,
              std::size_t most_bytes) {
        most_instances_ = most_instances;
        most_features_ = most_features;
        most_bytes_ = most_bytes;
        data_ = data;
        JsonCursor json(data);
        if (!read_object(json, &BatchBody::read_member)) return false;
        json.skip_space();
        return json.at_end() && !instances_.empty();
    }

    const std::vector<Instance>& instances() const { return instances_; }
    const std::string& wire() const { return wire_; }
    const RankOptions& options() const { return options_; }
    std::string_view reading() const { return reader_.reading(); }  // of all texts
    bool has_signs() const { return has_signs_; }  // a feature of an instance is below 0

private:
    // Read an object with at least one member.
    bool read_object(JsonCursor& json, bool (BatchBody::*read_value)(JsonCursor&,
                                                                     std::string_view)) {
        if (!json.read_sign('{')) return false;
        do {
            std::string_view name;
            if (!json.read_name(name) || !json.read_sign(':')) return false;
            if (!(this->*read_value)(json, name)) return false;
        } while (json.read_sign(','));
        return json.read_sign('}');
    }

    bool read_member(JsonCursor& json, std::string_view name) {
        if (name != "instances" || !instances_.empty()) return options_.read(json, name);
        return read_instances(json);
    }

    bool read_instances(JsonCursor& json) {
        if (!json.read_sign('[')) return false;
        do {
            if (instances_.size() == most_instances_) return false;
            one_ = {};
            if (!read_object(json, &BatchBody::read_part) || one_.features == 0) return false;
            one_.end = wire_.size();
            instances_.push_back(one_);
        } while (json.read_sign(','));
        return json.read_sign(']');
    }

    bool read_part(JsonCursor& json, std::string_view name) {
        if (name == "id" && one_.id.empty())
            return json.read_name(one_.id) && one_.id.size() <= LONGEST_PLAIN_ID;
        if (name == "source" && one_.source.empty()) return json.read_name(one_.source);
        if (!InstanceReader::reads(name) || one_.features > 0) return false;
        reader_.begin(parts_, most_features_);
        if (!reader_.read(json, name)) return false;
        one_.features = reader_.write(instance_);
        has_signs_ |= is_signed(instance_);
        wire_.append(instance_);
        one_.text = kept(reader_.text());
        return one_.features > 0 && wire_.size() <= most_bytes_;
    }

    // The text, in memory that lives as long as this.
    std::string_view kept(std::string_view text) {
        const std::less_equal<const char*> up_to;
        if (up_to(data_.data(), text.data()) && up_to(text.data(), data_.data() + data_.size()))
            return text;
        return text.empty() ? std::string_view() : std::string_view(texts_.emplace_back(text));
    }

    const TextParts parts_;
    InstanceReader reader_;  // so a body is read by one thread
    std::string_view data_;
    std::deque<std::string> texts_;  // that are not in the body as they are stored
    std::size_t most_instances_ = 0, most_features_ = 0, most_bytes_ = 0;
    std::vector<Instance> instances_;
    Instance one_{};  // under way
    std::string wire_, instance_;
    RankOptions options_;
    bool has_signs_ = false;
};

}  // namespace manyclass::http
