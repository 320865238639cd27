// A text as the log, the history and the instances that wait for their labels store it: how it was
// read, then the text in UTF-8, or of fields one after the other
//
//   parts u8, most features u32            how it was read; without a text behind it, it was not kept
//   text | 0xff name 0xff text ...         the byte occurs in no UTF-8
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace manyclass {

constexpr std::size_t MOST_FIELDS = 16;  // of a text
constexpr char FIELD_MARK = '\xff';

// The reading of a text as it is stored: the parts of the analysis, and the largest number of
// features.
class TextReading {
public:
    static constexpr std::size_t BYTES = 1 + sizeof(std::uint32_t);

    TextReading() = default;
    TextReading(std::uint8_t parts, std::uint32_t most) {
        bytes_[0] = static_cast<char>(parts);
        std::memcpy(&bytes_[1], &most, sizeof most);
    }

    std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

private:
    std::array<char, BYTES> bytes_{};
};

inline void append_field(std::string& stored, std::string_view name, std::string_view text) {
    stored += FIELD_MARK;
    stored += name;
    stored += FIELD_MARK;
    stored += text;
}

}  // namespace manyclass
