// Reads the members of one instance, which all plain bodies have: `features` or `text`, or neither,
// a `vector`, an id of the client, and the `source`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/native/pipeline/wire.hpp"
#include "core/native/text/json.hpp"
#include "core/native/text/json_vector.hpp"
#include "core/native/text/text_features.hpp"

namespace manyclass::http {

constexpr std::size_t LONGEST_PLAIN_ID = 200;  // bytes, so at most as many characters

// It uses memory of the thread, so one instance is read and written before the next.
class InstanceReader {
public:
    // `id`: the name of the member that has the id.
    explicit InstanceReader(std::string_view id) : id_member_(id) {}

    // Begin an instance of at most `most` features, with this analysis of a text.
    void begin(const TextParts& parts, std::size_t most) {
        parts_ = parts;
        most_ = most;
        constexpr std::uint32_t no_limit = std::numeric_limits<std::uint32_t>::max();
        reading_ = TextReading(parts.code(),
                               most < no_limit ? static_cast<std::uint32_t>(most) : no_limit);
        features_ = nullptr;
        texts_ = nullptr;
        vector_ = nullptr;
        text_ = id_ = source_ = {};
    }

    // True of the name of a member that belongs to an instance.
    bool reads(std::string_view name) const {
        return name == "features" || name == "text" || name == "vector" || name == "source" ||
               name == id_member_;
    }

    // Read the value of such a member. False if it was read before, for another form, for a second
    // instance, and for a text that is not an instance as a whole: the answer has a warning then.
    bool read(JsonCursor& json, std::string_view name) {
        if (name == "source") return source_.empty() && json.read_name(source_);
        if (name == id_member_)
            return id_.empty() && json.read_name(id_) && id_.size() <= LONGEST_PLAIN_ID;
        if (name == "vector") {
            if (vector_ != nullptr) return false;
            vector_ = &JsonVector::mine();
            return vector_->read(json) == VectorFault::none;
        }
        if (has_features()) return false;
        if (name == "features") {
            features_ = &JsonFeatures::mine();
            return features_->read(json, most_);
        }
        texts_ = &TextFeatures::mine();
        texts_->begin(parts_, most_);
        return texts_->read(json, text_) && texts_->long_words() == 0 && !texts_->truncated();
    }

    bool has_instance() const { return has_features() || vector_ != nullptr; }

    // Write the bytes of the instance that was read; false if it has neither features nor a vector.
    bool write(std::string& out) const {
        std::uint32_t features = 0;
        if (texts_ != nullptr)
            features = texts_->write(out);
        else if (features_ != nullptr)
            features = features_->write(out);
        else
            out.assign(sizeof features, '\0');
        if (vector_ != nullptr) vector_->write(out);
        return features > 0 || vector_ != nullptr;
    }

    // Views of the body; empty without one.
    std::string_view id() const { return id_; }
    std::string_view source() const { return source_; }

    // The text as it is stored behind its reading, empty without one; valid until the next is read.
    std::string_view text() const { return text_; }

    // The reading of a text, as it is stored; the same until the next `begin`.
    std::string_view reading() const { return reading_.view(); }

private:
    bool has_features() const { return features_ != nullptr || texts_ != nullptr; }

    const std::string_view id_member_;
    TextParts parts_;
    std::size_t most_ = 0;
    TextReading reading_;
    JsonFeatures* features_ = nullptr;
    TextFeatures* texts_ = nullptr;
    JsonVector* vector_ = nullptr;
    std::string_view text_, id_, source_;
};

}  // namespace manyclass::http
