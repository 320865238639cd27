// UTF-8: its validation, and its code points.
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

// Take the code point at `at`, of valid UTF-8.
inline char32_t next_code(const char*& at) {
    const auto byte = [&at](int offset) {
        return static_cast<char32_t>(static_cast<unsigned char>(at[offset]));
    };
    const char32_t lead = byte(0);
    char32_t code = lead;
    int size = 1;
    if (lead >= 0xf0) {
        code = (lead & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
        size = 4;
    } else if (lead >= 0xe0) {
        code = (lead & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
        size = 3;
    } else if (lead >= 0x80) {
        code = (lead & 31) << 6 | (byte(1) & 63);
        size = 2;
    }
    at += size;
    return code;
}

// Write a code point to memory that has room for 4 bytes; where the next one goes.
inline char* put_code(char* at, char32_t code) {
    const auto tail = [code](int bits) { return static_cast<char>(0x80 | (code >> bits & 63)); };
    if (code < 0x80) {
        *at++ = static_cast<char>(code);
    } else if (code < 0x800) {
        *at++ = static_cast<char>(0xc0 | code >> 6);
        *at++ = tail(0);
    } else if (code < 0x10000) {
        *at++ = static_cast<char>(0xe0 | code >> 12);
        *at++ = tail(6);
        *at++ = tail(0);
    } else {
        *at++ = static_cast<char>(0xf0 | code >> 18);
        *at++ = tail(12);
        *at++ = tail(6);
        *at++ = tail(0);
    }
    return at;
}

}  // namespace manyclass
