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
        table_.clear();
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
            const std::uint64_t key = table_.key_of(name);
            const auto is_same = [name](std::string_view other) { return other == name; };
            // repeated names add up in an array and are an error in an object
            if (!table_.add(key, value, is_same))
                table_.append(name, key, value);
            else if (object)
                return false;
        } while (json.read_sign(','));
        return json.read_sign(closing);
    }

    // Write the instance in wire form.
    std::uint32_t write(std::string& out) const { return table_.write(out, padded_); }

private:
    FeatureTable table_;
    const char* padded_ = nullptr;  // names that begin up to here are far from the end of the text
};

}  // namespace manyclass
