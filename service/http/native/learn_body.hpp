// Reads the plain body of POST /learn, of one event: schemas/learn.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/text/json.hpp"

namespace manyclass::http {

constexpr std::size_t MOST_PLAIN_CLASSES = 100;  // a tenth of what the other way takes

class LearnBody {
public:
    // Read a whole body: `features`, at most so many, and `classes`, each key once. False for
    // another key, a value of another form or out of range, and invalid JSON; then use no result.
    bool read(std::string_view data, std::size_t most_features) {
        features_ = &JsonFeatures::mine();
        classes_.clear();
        bool has_features = false;
        JsonCursor json(data);
        if (!json.read_sign('{')) return false;
        do {
            std::string_view key;
            if (!json.read_name(key) || !json.read_sign(':')) return false;
            if (key == "features" && !has_features) {
                has_features = true;
                if (!features_->read(json, most_features)) return false;
            } else if (key != "classes" || !classes_.empty() || !read_classes(json)) {
                return false;
            }
        } while (json.read_sign(','));
        if (!json.read_sign('}')) return false;
        json.skip_space();
        return json.at_end() && has_features && !classes_.empty();
    }

    // Write the features as the bytes of an instance; return how many there are.
    std::uint32_t write_instance(std::string& out) const { return features_->write(out); }

    // The true classes, in valid UTF-8, as they came.
    const std::vector<std::string_view>& classes() const { return classes_; }

private:
    bool read_classes(JsonCursor& json) {
        if (!json.read_sign('[')) return false;
        do {
            std::string_view name;
            if (classes_.size() == MOST_PLAIN_CLASSES || !json.read_name(name)) return false;
            classes_.push_back(name);
        } while (json.read_sign(','));
        return json.read_sign(']');
    }

    JsonFeatures* features_ = nullptr;
    std::vector<std::string_view> classes_;
};

}  // namespace manyclass::http
