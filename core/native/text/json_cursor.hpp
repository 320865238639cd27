// A position in a JSON text, and the tokens that can be read there without Python objects. A token
// that needs more, such as an escape, is not read; a slower reader takes the whole text then.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "pipeline/wire.hpp"
#include "storage/vocabulary.hpp"
#include "text/number.hpp"
#include "text/utf8.hpp"

namespace manyclass {

class JsonCursor {
public:
    explicit JsonCursor(std::string_view text = {})
        : at_(text.data()), end_(text.data() + text.size()) {}

    void skip_space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    }

    const char* at() const { return at_; }
    const char* end() const { return end_; }  // of the text

    // Go on behind what another reader has read.
    void go_to(const char* at) { at_ = at; }

    // True behind the last byte.
    bool at_end() const { return at_ == end_; }

    bool read_sign(char sign) {
        skip_space();
        if (at_ == end_ || *at_ != sign) return false;
        ++at_;
        return true;
    }

    // One of the words null, true and false.
    bool read_word(std::string_view word) {
        skip_space();
        const std::string_view left(at_, static_cast<std::size_t>(end_ - at_));
        if (left.substr(0, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    // A string without an escape, of 1 to LONGEST_NAME bytes.
    bool read_name(std::string_view& name) {
        if (!read_sign('"')) return false;
        const char* const begin = at_;
        bool ascii = true;
        while (true) {
            // The end of a name is hard to predict, so compute it, 8 bytes at a time.
            while (end_ - at_ >= 8) {
                const std::uint64_t special = special_bytes(at_);
                at_ += special ? __builtin_ctzll(special) / 8 : 8;
                if (special) break;
            }
            if (at_ == end_) return false;
            const auto sign = static_cast<unsigned char>(*at_);
            if (sign == '"') break;
            if (sign == '\\' || sign < 0x20) return false;
            ascii &= sign < 0x80;
            ++at_;
        }
        name = {begin, static_cast<std::size_t>(at_ - begin)};
        if (name.empty() || name.size() > LONGEST_NAME) return false;
        ++at_;
        return ascii || is_utf8(name);
    }

    // A string of any length; `unescaped` keeps it if it has escapes. One with half a surrogate
    // pair is not read.
    bool read_text(std::string_view& text, std::string& unescaped) {
        if (!read_sign('"')) return false;
        const char* const begin = at_;
        bool escaped = false;
        while (true) {
            while (end_ - at_ >= 8) {
                const std::uint64_t special = special_bytes(at_) & ~(load_word(at_) & TOPS);
                at_ += special ? __builtin_ctzll(special) / 8 : 8;
                if (special) break;
            }
            if (at_ == end_) return false;
            const auto sign = static_cast<unsigned char>(*at_);
            if (sign == '"') break;
            if (sign < 0x20) return false;
            const int size = sign == '\\' ? 2 : 1;
            if (end_ - at_ < size) return false;
            escaped |= size == 2;
            at_ += size;
        }
        text = {begin, static_cast<std::size_t>(at_ - begin)};
        ++at_;
        if (!is_utf8(text)) return false;
        if (!escaped) return true;
        unescaped.clear();
        if (!unescape(text, unescaped)) return false;
        text = unescaped;
        return true;
    }

    // A number that a feature may have, by JSON's grammar, which is narrower than that of
    // `read_double`.
    bool read_number(double& value) {
        return read_any_number(value) && std::fabs(value) <= LARGEST_VALUE;
    }

    // The same of any finite number.
    bool read_any_number(double& value) {
        skip_space();
        if (end_ - at_ >= 2 && is_digit(at_[0]) && (at_[1] == ',' || at_[1] == '}')) {
            value = *at_++ - '0';  // most counts of words have one digit
            return true;
        }
        const char* const begin = at_;
        if (at_ < end_ && *at_ == '-') ++at_;
        const char* const digits = at_;
        std::uint64_t significand = 0;  // invalid after 19 digits, unused after 15
        if (!read_digits(significand) || (*digits == '0' && at_ - digits > 1)) return false;
        std::ptrdiff_t decimals = 0;
        if (at_ < end_ && *at_ == '.') {
            const char* const point = at_++;
            if (!read_digits(significand)) return false;
            decimals = at_ - point - 1;
        }
        bool simple = begin == digits && at_ - digits <= 15;
        if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
            simple = false;
            ++at_;
            if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
            if (!read_digits(significand)) return false;
        }
        if (simple) {  // both are exact as doubles, so the quotient is rounded once, correctly
            static constexpr double TENS[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
            value = static_cast<double>(significand) / TENS[decimals];
            return true;
        }
        const std::string_view text(begin, static_cast<std::size_t>(at_ - begin));
        return read_double(text, value);
    }

    // A number of digits alone, without a sign, a fraction or an exponent, of at most 15 digits.
    bool read_count(std::uint64_t& value) {
        skip_space();
        const char* const begin = at_;
        value = 0;
        if (!read_digits(value) || at_ - begin > 15 || (*begin == '0' && at_ - begin > 1))
            return false;
        return at_ == end_ || (*at_ != '.' && *at_ != 'e' && *at_ != 'E');
    }

private:
    static constexpr std::uint64_t EACH = 0x0101010101010101ull, TOPS = 0x80 * EACH;

    // The top bit of each of the next 8 bytes that ends a name or needs a closer look; above the
    // lowest such byte it may be wrong.
    static std::uint64_t special_bytes(const char* at) {
        const std::uint64_t bytes = load_word(at);
        const std::uint64_t quote = bytes ^ ('"' * EACH), backslash = bytes ^ ('\\' * EACH);
        return (((quote - EACH) & ~quote) | ((backslash - EACH) & ~backslash) |
                ((bytes - 0x20 * EACH) & ~bytes) | bytes) &
               TOPS;
    }

    // Append a text with its escapes resolved; false for one that JSON does not have.
    static bool unescape(std::string_view text, std::string& out) {
        const char* at = text.data();
        const char* const end = at + text.size();
        while (at < end) {
            const auto* const next = static_cast<const char*>(
                std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
            out.append(at, next == nullptr ? end : next);
            if (next == nullptr) return true;
            at = next + 2;
            if (next[1] != 'u') {
                constexpr std::string_view SIGNS = "\"\\/bfnrt", MEANT = "\"\\/\b\f\n\r\t";
                const std::size_t index = SIGNS.find(next[1]);
                if (index == SIGNS.npos) return false;
                out += MEANT[index];
            } else if (!read_code(at, end, out)) {
                return false;
            }
        }
        return true;
    }

    // Append the character of the digits behind \u, and behind another \u if it has two.
    static bool read_code(const char*& at, const char* end, std::string& out) {
        char32_t code = 0, second = 0;
        if (!read_unit(at, end, code)) return false;
        if (code >= 0xd800 && code < 0xe000) {
            if (code >= 0xdc00 || end - at < 2 || at[0] != '\\' || at[1] != 'u') return false;
            at += 2;
            if (!read_unit(at, end, second) || second < 0xdc00 || second >= 0xe000) return false;
            code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
        }
        char bytes[4];
        out.append(bytes, put_code(bytes, code));
        return true;
    }

    static bool read_unit(const char*& at, const char* end, char32_t& unit) {
        if (end - at < 4) return false;
        for (int index = 0; index < 4; ++index) {
            const char sign = *at++;
            const char low = static_cast<char>(sign | 0x20);
            const bool letter = low >= 'a' && low <= 'f';
            if (!is_digit(sign) && !letter) return false;
            unit = unit << 4 | static_cast<char32_t>(letter ? low - 'a' + 10 : sign - '0');
        }
        return true;
    }

    static bool is_digit(char sign) { return sign >= '0' && sign <= '9'; }

    bool read_digits(std::uint64_t& significand) {
        const char* const begin = at_;
        for (; at_ < end_ && is_digit(*at_); ++at_)
            significand = significand * 10 + static_cast<std::uint64_t>(*at_ - '0');
        return at_ > begin;
    }

    const char* at_;
    const char* end_;
};

}  // namespace manyclass
