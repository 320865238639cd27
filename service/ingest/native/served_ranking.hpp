// The part of a ranking that is stored with its instance until the label comes, and a note of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/native/text/stored_text.hpp"

namespace manyclass {

// The classes as they were served, best first. A ranking that abstained has them too, though its
// answer had not.
struct ServedRanking {
    static constexpr std::uint32_t MOST_CLASSES = 5;

    std::string_view names;  // size u32 and bytes of each class
    double confidence = -1;  // that the first class is right; negative: unknown
    bool abstained = false;

    // The part of `names` that has its first `count` names.
    static std::string_view first(std::string_view names, std::uint32_t count) {
        std::size_t end = 0;
        for (std::uint32_t at = 0; at < count; ++at) {
            std::uint32_t size;
            std::memcpy(&size, names.data() + end, sizeof size);
            end += sizeof size + size;
        }
        return names.substr(0, end);
    }
};

// The source and the text that the client sent with an instance, in UTF-8; both may be empty. The
// reading of a text counts if there is one.
struct InstanceNote {
    std::string_view source, reading, text;
};

// The beginning of a stored text, with its reading, and without a cut character, or a field whose
// name is cut, at its end.
inline std::string_view beginning_of(std::string_view stored) {
    constexpr std::size_t longest = TextReading::BYTES + 4096;
    if (stored.size() <= longest) return stored;
    std::size_t end = longest;
    while ((static_cast<unsigned char>(stored[end]) & 0xc0) == 0x80) --end;
    const std::string_view text = stored.substr(TextReading::BYTES, end - TextReading::BYTES);
    const auto marks = std::count(text.begin(), text.end(), FIELD_MARK);
    if (marks % 2 != 0) end = TextReading::BYTES + text.rfind(FIELD_MARK);
    return stored.substr(0, end);
}

}  // namespace manyclass
