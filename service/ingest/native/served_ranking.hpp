// The part of a ranking that is stored with its instance until the label comes, and a note of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

// The source and the text that the client sent with an instance, in UTF-8; both may be empty.
struct InstanceNote {
    static constexpr std::size_t LONGEST_SHOWN = 4096;  // bytes, of a text that waits for a label

    std::string_view source, text;

    // The beginning of the text, without a cut character at its end.
    std::string_view beginning() const {
        if (text.size() <= LONGEST_SHOWN) return text;
        std::size_t end = LONGEST_SHOWN;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        return text.substr(0, end);
    }
};

}  // namespace manyclass
