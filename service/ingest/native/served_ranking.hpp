// The part of a ranking that is stored with its instance until the label comes, and a note of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
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

// The first bytes of a text, without a cut character at its end.
inline std::string_view first_bytes(std::string_view text, std::size_t longest) {
    if (text.size() <= longest) return text;
    while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xc0) == 0x80) --longest;
    return text.substr(0, longest);
}

// The beginning of a stored text, with its reading: of fields, the names and the beginning of each,
// so that a long one does not hide those behind it.
inline std::string beginning_of(std::string_view stored) {
    constexpr std::size_t LONGEST = 4096;
    if (stored.size() <= TextReading::BYTES + LONGEST) return std::string(stored);
    std::string beginning(stored.substr(0, TextReading::BYTES));
    std::string_view left = stored.substr(TextReading::BYTES);
    auto fields = static_cast<std::size_t>(std::count(left.begin(), left.end(), FIELD_MARK) / 2);
    if (fields == 0) return beginning.append(first_bytes(left, LONGEST));
    for (std::size_t room = LONGEST; fields > 0; --fields) {
        const std::size_t name_end = left.find(FIELD_MARK, 1) + 1;
        const std::size_t end = std::min(left.find(FIELD_MARK, name_end), left.size());
        const std::string_view text = left.substr(name_end, end - name_end);
        const std::string_view shown = first_bytes(text, room / fields);
        beginning.append(left.substr(0, name_end)).append(shown);
        room -= shown.size();
        left.remove_prefix(end);
    }
    return beginning;
}

}  // namespace manyclass
