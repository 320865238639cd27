#include "text/text_features.hpp"

namespace manyclass {

TextFeatures& TextFeatures::mine() {
    static thread_local TextFeatures features;
    return features;
}

void TextFeatures::begin(const TextParts& parts, std::size_t most) {
    parts_ = parts;
    most_ = most;
    most_bytes_ = most * BYTES_PER_FEATURE + 65'536;
    is_full_ = false;
    name_bytes_ = 0;
    words_with_runs_ = 0;
    store_.clear();
    features_.clear();
    names_.clear();
    runs_.clear();
    fields_.clear();
    if (unescaped_.capacity() > MOST_KEPT) std::string().swap(unescaped_);
    words_.forget_long_words();
}

void TextFeatures::read(std::string_view text) { read_behind({}, text); }

void TextFeatures::read_field(std::string_view field, std::string_view text) {
    char* const prefix = store_.room(field.size() + 1);
    std::copy(field.begin(), field.end(), prefix);
    prefix[field.size()] = ':';
    store_.keep(field.size() + 1);
    read_behind({prefix, field.size() + 1}, text);
}

bool TextFeatures::read(JsonCursor& json, std::string_view& given) {
    std::string_view text, field;
    if (json.read_text(given, unescaped_)) {
        read(given);
        return true;
    }
    if (!json.read_sign('{')) return false;
    if (stored_.capacity() > MOST_KEPT) std::string().swap(stored_);
    stored_.clear();
    std::vector<std::string_view> fields;
    do {
        if (!json.read_name(field) || field.size() > LONGEST_FIELD) return false;
        if (!json.read_sign(':')) return false;
        if (!json.read_text(text, unescaped_) || fields.size() == MOST_FIELDS) return false;
        if (std::find(fields.begin(), fields.end(), field) != fields.end()) return false;
        fields.push_back(field);
        read_field(field, text);
        append_field(stored_, field, text);
    } while (json.read_sign(','));
    given = stored_;
    return json.read_sign('}');
}

std::uint32_t TextFeatures::write(std::string& out) const {
    const auto count = static_cast<std::uint32_t>(features_.size());
    out.resize(sizeof count + name_bytes_ + count * most_bytes({}) + SHORT_NAME);
    std::memcpy(&out[0], &count, sizeof count);
    char* at = &out[sizeof count];
    const Feature* feature = features_.data();
    for (std::size_t index = 0; index < fields_.size(); ++index) {
        const Feature* const end = features_.data() + fields_[index].end;
        at = write(at, feature, end, fields_[index].prefix);
        feature = end;
    }
    out.resize(static_cast<std::size_t>(at - out.data()));
    return count;
}

}  // namespace manyclass
