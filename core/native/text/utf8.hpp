// Validation of UTF-8.
#pragma once

#include <cstdint>
#include <string_view>

namespace manyclass {

// Check that the bytes are UTF-8 as Unicode defines it: shortest forms only, no surrogates.
inline bool is_utf8(std::string_view text) {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = at + text.size();
    while (at < end) {
        const unsigned lead = *at++;
        if (lead < 0x80) continue;
        const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || end - at < more) return false;
        if ((lead == 0xe0 && *at < 0xa0) || (lead == 0xed && *at > 0x9f) ||
            (lead == 0xf0 && *at < 0x90) || (lead == 0xf4 && *at > 0x8f))
            return false;
        for (int i = 0; i < more; ++i)
            if ((*at++ & 0xc0) != 0x80) return false;
    }
    return true;
}

}  // namespace manyclass
