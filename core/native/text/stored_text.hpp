// A text as the log, the history and the instances that wait for their labels store it: in UTF-8, or
// of fields one after the other
//
//   0xff name 0xff text        for each; the byte occurs in no UTF-8
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace manyclass {

constexpr std::size_t MOST_FIELDS = 16;  // of a text
constexpr char FIELD_MARK = '\xff';

inline void append_field(std::string& stored, std::string_view name, std::string_view text) {
    stored += FIELD_MARK;
    stored += name;
    stored += FIELD_MARK;
    stored += text;
}

}  // namespace manyclass
