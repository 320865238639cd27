#include "text/json.hpp"

namespace manyclass {

JsonFeatures& JsonFeatures::mine() {
    static thread_local JsonFeatures features;
    return features;
}

bool JsonFeatures::read(std::string_view data, std::size_t most) {
    JsonCursor json(data);
    if (!read(json, most)) return false;
    json.skip_space();
    return json.at_end();
}

bool JsonFeatures::read(JsonCursor& json, std::size_t most) {
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

std::uint32_t JsonFeatures::write(std::string& out) const {
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

}  // namespace manyclass
