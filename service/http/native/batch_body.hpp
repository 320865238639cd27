// Reads the plain body of POST /rank, of many instances: schemas/rank.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/pipeline/vector.hpp"
#include "core/native/pipeline/wire.hpp"
#include "service/http/native/instance_reader.hpp"
#include "service/http/native/members.hpp"
#include "service/http/native/rank_options.hpp"

namespace manyclass::http {

class BatchBody {
public:
    // An instance of the body; a view is one of the body.
    struct Instance {
        std::size_t end;  // of its bytes in `wire`, which begin where those before it end
        std::string_view id, source;  // of the client; empty without one
        std::string_view text;        // as it is stored behind its reading, empty without one; of
                                      // `texts_` if not here
    };

    // Texts are read by this analysis.
    explicit BatchBody(const TextParts& parts) : parts_(parts) {}

    // Read a whole body of 1 to `most_instances`, each with at most `most_features`, of `most_bytes`
    // together. False for another key, a key twice, a value of another form or out of range, an
    // instance without features and vector, vectors of several dimensions, and invalid JSON; then
    // use no result.
    bool read(std::string_view data, std::size_t most_instances, std::size_t most_features,
              std::size_t most_bytes) {
        most_instances_ = most_instances;
        most_features_ = most_features;
        most_bytes_ = most_bytes;
        data_ = data;
        const auto read_value = [this](JsonCursor& json, std::string_view name) {
            if (name != "instances" || !instances_.empty()) return options_.read(json, name);
            return read_array(json, [&] { return read_instance(json); });
        };
        return read_body(data, read_value) && !instances_.empty();
    }

    const std::vector<Instance>& instances() const { return instances_; }
    const std::string& wire() const { return wire_; }
    const RankOptions& options() const { return options_; }
    std::string_view reading() const { return reader_.reading(); }  // of all texts
    bool has_signs() const { return has_signs_; }  // a feature of an instance is below 0

    // The bytes of the first instance with a vector; empty if none has one.
    std::string_view with_vector() const { return with_vector_; }

private:
    bool read_instance(JsonCursor& json) {
        if (instances_.size() == most_instances_) return false;
        reader_.begin(parts_, most_features_);
        const auto read_value = [&](std::string_view name) {
            return reader_.reads(name) && reader_.read(json, name);
        };
        if (!read_object(json, read_value) || !reader_.has_instance()) return false;
        if (!reader_.write(bytes_)) return false;
        const std::size_t dimension = vector_of(bytes_).size();
        if (dimension > 0 && with_vector_.empty()) with_vector_ = bytes_;
        if (dimension > 0 && dimension != vector_of(with_vector_).size()) return false;
        Instance& instance = instances_.emplace_back();
        has_signs_ |= is_signed(bytes_);
        wire_.append(bytes_);
        instance.end = wire_.size();
        instance.id = reader_.id();
        instance.source = reader_.source();
        instance.text = kept(reader_.text());
        return wire_.size() <= most_bytes_;
    }

    // The text, in memory that lives as long as this.
    std::string_view kept(std::string_view text) {
        const std::less_equal<const char*> up_to;
        if (up_to(data_.data(), text.data()) && up_to(text.data(), data_.data() + data_.size()))
            return text;
        return text.empty() ? std::string_view() : std::string_view(texts_.emplace_back(text));
    }

    const TextParts parts_;
    InstanceReader reader_{"id"};  // so a body is read by one thread
    std::string_view data_;
    std::deque<std::string> texts_;  // that are not in the body as they are stored
    std::size_t most_instances_ = 0, most_features_ = 0, most_bytes_ = 0;
    std::vector<Instance> instances_;
    std::string wire_, bytes_, with_vector_;  // of all instances, of the last one
    RankOptions options_;
    bool has_signs_ = false;
};

}  // namespace manyclass::http
