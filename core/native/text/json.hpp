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
#include "storage/vocabulary.hpp"
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
        end_ = json.end();
        const bool object = json.read_sign('{');
        if (!object && !json.read_sign('[')) return false;
        const char closing = object ? '}' : ']';
        if (json.read_sign(closing)) return true;
        do {
            double value = 1.0;
            std::string_view name;
            if (features_.size() == most || !json.read_name(name)) return false;
            if (object && !(json.read_sign(':') && json.read_number(value))) return false;
            features_.push_back({name, value});
        } while (json.read_sign(','));
        return json.read_sign(closing) && merge(object);
    }

    // Write the instance in wire form, as stored by Instance, without values of a size below
    // SMALLEST_VALUE. Return how many are left.
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
            const bool is_short = feature.name.size() <= SHORT_NAME &&
                                  end_ - feature.name.data() >= std::ptrdiff_t{SHORT_NAME};
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
    struct Feature {
        std::string_view name;
        double value;
    };

    // Make the names unique: repeated ones add up in an array and are an error in an object.
    bool merge(bool object) {
        std::size_t size = 64;
        while (size < features_.size() * 4) size *= 2;
        slots_.assign(size, 0);
        std::size_t kept = 0, meetings = 0;
        for (std::size_t next = 0; next < features_.size(); ++next) {
            const Feature& feature = features_[next];
            std::size_t at = hash_name(feature.name, 0) & (size - 1);
            while (slots_[at] != 0 && features_[slots_[at] - 1].name != feature.name) {
                at = (at + 1) & (size - 1);
                if (++meetings > 16 * size) return false;  // names chosen to collide: not plain
            }
            if (slots_[at] == 0) {
                if (kept < next) features_[kept] = feature;
                slots_[at] = static_cast<std::uint32_t>(++kept);
            } else if (object) {
                return false;
            } else {
                features_[slots_[at] - 1].value += 1.0;
            }
        }
        features_.resize(kept);
        return true;
    }

    std::vector<Feature> features_;
    std::vector<std::uint32_t> slots_;
    const char* end_ = nullptr;  // of the text
};

}  // namespace manyclass
