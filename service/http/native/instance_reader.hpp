// Reads the instance of a plain body, from its features or its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/native/text/json.hpp"
#include "core/native/text/text_features.hpp"

namespace manyclass::http {

// It uses memory of the thread, so one instance is read and written before the next.
class InstanceReader {
public:
    // Begin an instance of at most `most` features, with this analysis of a text.
    void begin(const TextParts& parts, std::size_t most) {
        parts_ = parts;
        most_ = most;
        features_ = nullptr;
        texts_ = nullptr;
        text_ = {};
    }

    // True of a member that has an instance.
    static bool reads(std::string_view key) { return key == "features" || key == "text"; }

    // Read the value of such a member. False if an instance was read before, for another form, and
    // for a text that is not an instance as a whole: the answer has a warning then.
    bool read(JsonCursor& json, std::string_view key) {
        if (has_instance()) return false;
        if (key == "features") {
            features_ = &JsonFeatures::mine();
            return features_->read(json, most_);
        }
        texts_ = &TextFeatures::mine();
        texts_->begin(parts_, most_);
        return texts_->read(json, text_) && texts_->long_words() == 0 && !texts_->truncated();
    }

    bool has_instance() const { return features_ != nullptr || texts_ != nullptr; }

    // Write the bytes of the instance that was read; return how many features it has.
    std::uint32_t write(std::string& out) const {
        return texts_ != nullptr ? texts_->write(out) : features_->write(out);
    }

    // The text as it is stored, empty without one; valid until the next is read.
    std::string_view text() const { return text_; }

private:
    TextParts parts_;
    std::size_t most_ = 0;
    JsonFeatures* features_ = nullptr;
    TextFeatures* texts_ = nullptr;
    std::string_view text_;
};

}  // namespace manyclass::http
