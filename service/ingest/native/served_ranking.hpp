// The part of a ranking that is stored with its instance until the label comes, and a note of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

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

// The bytes of each text that are shown, so that together they are at most `room`: short ones are
// shown whole.
inline std::size_t shown_of_each(std::vector<std::size_t> sizes, std::size_t room) {
    std::sort(sizes.begin(), sizes.end());
    std::size_t left = sizes.size();
    for (const std::size_t size : sizes) {
        if (size > room / left) return room / left;
        room -= size;
        if (--left == 0) break;
    }
    return room + (sizes.empty() ? 0 : sizes.back());
}

// The beginning of a stored text, with its reading: of fields, the names and the beginning of each,
// so that a long one does not hide another.
inline std::string beginning_of(std::string_view stored) {
    constexpr std::size_t LONGEST = 4096;
    if (stored.size() <= TextReading::BYTES + LONGEST) return std::string(stored);
    std::string beginning(stored.substr(0, TextReading::BYTES));
    stored.remove_prefix(TextReading::BYTES);
    if (stored.front() != FIELD_MARK) return beginning.append(first_bytes(stored, LONGEST));
    std::vector<std::string_view> parts;  // name and text of each field in turn
    while (!stored.empty()) {
        const std::size_t end = std::min(stored.find(FIELD_MARK, 1), stored.size());
        parts.push_back(stored.substr(1, end - 1));
        stored.remove_prefix(end);
    }
    std::vector<std::size_t> sizes;
    for (std::size_t at = 1; at < parts.size(); at += 2) sizes.push_back(parts[at].size());
    const std::size_t shown = shown_of_each(sizes, LONGEST);
    for (std::size_t at = 1; at < parts.size(); at += 2)
        append_field(beginning, parts[at - 1], first_bytes(parts[at], shown));
    return beginning;
}

}  // namespace manyclass
