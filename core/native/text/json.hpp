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
    [[gnu::noinline]] static JsonFeatures& mine();

    // Read `data`, of at most `most` entries. False for any other form; then use no result.
    bool read(std::string_view data, std::size_t most);

    // The same of the value at the cursor, which then stands behind it.
    bool read(JsonCursor& json, std::size_t most);

    // Write the instance in wire form, as stored by Instance, without values of a size below
    // SMALLEST_VALUE; return how many are left.
    std::uint32_t write(std::string& out) const;

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
        if (slot.index_1 != 0) {
            features_[slot.index_1 - 1].value += value;
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
