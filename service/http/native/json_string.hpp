// Writes strings as JSON, byte for byte as msgspec does.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace manyclass::http {

// Append a string with its quotes.
inline void append_string(std::string& out, std::string_view text) {
    constexpr char HEX[] = "0123456789abcdef", SHORT[] = "btn_fr";  // 8 to 13
    const auto is_plain = [](char sign) {
        return static_cast<unsigned char>(sign) >= 0x20 && sign != '"' && sign != '\\';
    };
    out += '"';
    for (auto at = text.begin(); at != text.end(); ++at) {
        const auto plain_until = std::find_if_not(at, text.end(), is_plain);
        out.append(at, plain_until);
        at = plain_until;
        if (at == text.end()) break;
        const auto byte = static_cast<unsigned char>(*at);
        if (byte >= 0x20) out.append(1, '\\').append(1, *at);
        else if (byte >= 8 && byte <= 13 && byte != 11)
            out.append(1, '\\').append(1, SHORT[byte - 8]);
        else out.append("\\u00").append(1, HEX[byte >> 4]).append(1, HEX[byte & 15]);
    }
    out += '"';
}

}  // namespace manyclass::http
