// Reads the features of an instance from JSON, without Python objects, in one of two plain forms
//
//   {"name": 1, "other": 2.5, ...}      ["name", "other", ...]
//
// without an escape in a name, a repeated name in an object or a value out of range. A slower
// reader takes any other text and reports its errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "text/feature_table.hpp"
#include "text/json_cursor.hpp"

namespace manyclass {

class JsonFeatures {
public:
    // One reader for each thread; it keeps its memory from call to call.
    [[gnu::noinline]] static JsonFeatures& mine() {
        static thread_local JsonFeatures features;
        return features;
    }

    // Read `data`, of at most `most` entries. False for any other form; then use no result.
    bool read(std::string_view data, std::size_t most) {
        JsonCursor json(data);
        if (!read(json, most)) return false;
        json.skip_space();
        return json.at_end();
    }

    // The same of the value at the cursor, which then stands behind it.
    bool read(JsonCursor& json, std::size_t most) {
        features_.clear();
        if (features_.capacity() > MOST_KEPT) std::vector<Feature>().swap(features_);
        table_.begin(0);
        padded_ = json.end() - SHORT_NAME;
        const bool object = json.read_sign('{');
        if (!object && !json.read_sign('[')) return false;
        const char closing = object ? '}' : ']';
        if (json.read_sign(closing)) return true;
        std::size_t entries = 0;
        do {
            double value = 1.0;
            std::string_view name;
            if (entries++ == most || !json.read_name(name)) return false;
            if (object && !(json.read_sign(':') && json.read_number(value))) return false;
            if (!add(name, value) && object) return false;
        } while (json.read_sign(','));
        return json.read_sign(closing);
    }

    // Write the instance in wire form, as stored by Instance, without values of a size below
    // SMALLEST_VALUE; return how many are left.
    std::uint32_t write(std::string& out) const {
        std::uint32_t count = 0, sign = 0;
        std::size_t room = sizeof count;
        for (const Feature& feature : features_) room += most_bytes(feature.name);
        out.resize(room + SHORT_NAME);  // once, not as it grows
        char* at = &out[sizeof count];
        for (const Feature& feature : features_) {
            if (!(feature.value >= SMALLEST_VALUE)) {
                if (!(feature.value <= -SMALLEST_VALUE)) continue;
                sign = SIGNED;
            }
            const bool is_short =
                feature.name.size() <= SHORT_NAME && feature.name.data() <= padded_;
            at = is_short ? write_short(at, feature.name, feature.value)
                          : write_feature(at, feature.name, feature.value);
            ++count;
        }
        const std::uint32_t begin = count | sign;
        std::memcpy(&out[0], &begin, sizeof begin);
        out.resize(static_cast<std::size_t>(at - out.data()));
        return count;
    }

private:
    static constexpr std::size_t MOST_KEPT = 65'536;

    struct Feature {
        std::string_view name;
        double value;
    };

    // Append a feature; false if its name is there, whose value then grows.
    bool add(std::string_view name, double value) {
        table_.expect(1);
        const std::uint32_t tag = FeatureTable::tag_of(table_.hash_of(name));
        const auto is_same = [this, name](std::size_t at) { return features_[at].name == name; };
        FeatureTable::Slot& slot = table_.find(tag, is_same);
        if (slot.place_1 != 0) {
            features_[slot.place_1 - 1].value += value;
            return false;
        }
        table_.fill(slot, tag, features_.size());
        features_.push_back({name, value});
        return true;
    }

    std::vector<Feature> features_;
    FeatureTable table_;
    const char* padded_ = nullptr;  // names that begin up to here are far from the end of the text
};

}  // namespace manyclass
