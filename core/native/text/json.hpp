// Reads the features of an instance from JSON, without Python objects, in one of two plain forms
//
//   {"name": 1, "other": 2.5, ...}      ["name", "other", ...]
//
// without an escape in a name, a repeated name in an object or a value out of range. A slower
// reader takes any other text and reports its errors.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "storage/vocabulary.hpp"
#include "text/number.hpp"
#include "text/utf8.hpp"

namespace manyclass {

class JsonFeatures {
public:
    // One reader for each thread; it keeps its memory from call to call.
    [[gnu::noinline]] static JsonFeatures& mine() {
        static thread_local JsonFeatures features;
        return features;
    }

    // Read `data`, of at most `most` entries. False for any other form; then use no result.
    bool read(std::string_view data, std::size_t most) {
        at_ = data.data();
        end_ = at_ + data.size();
        features_.clear();
        skip_space();
        if (at_ == end_) return false;
        const char opening = *at_++;
        if (opening != '{' && opening != '[') return false;
        const bool object = opening == '{';
        const char closing = object ? '}' : ']';
        skip_space();
        if (at_ < end_ && *at_ == closing) return ends();
        while (true) {
            double value = 1.0;
            std::string_view name;
            if (features_.size() == most || !read_name(name)) return false;
            if (object && !(read_sign(':') && read_number(value))) return false;
            features_.push_back({name, value});
            skip_space();
            if (at_ == end_) return false;
            if (*at_ == closing) break;
            if (!read_sign(',')) return false;
        }
        return ends() && merge(object);
    }

    // Write the instance in wire form, as stored by Instance, without values below SMALLEST_VALUE.
    std::uint32_t write(std::string& out) const {
        std::uint32_t count = 0;
        std::size_t room = sizeof count;
        for (const Feature& feature : features_) room += most_bytes(feature.name);
        out.resize(room);  // once, not as it grows
        char* at = &out[sizeof count];
        for (const Feature& feature : features_) {
            if (!(feature.value >= SMALLEST_VALUE)) continue;
            at = write_feature(at, feature.name, feature.value);
            ++count;
        }
        std::memcpy(&out[0], &count, sizeof count);
        out.resize(static_cast<std::size_t>(at - out.data()));
        return count;
    }

private:
    struct Feature {
        std::string_view name;
        double value;
    };

    void skip_space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    }

    bool ends() {
        if (at_ < end_) ++at_;  // the closing bracket
        skip_space();
        return at_ == end_;
    }

    bool read_sign(char sign) {
        skip_space();
        if (at_ == end_ || *at_ != sign) return false;
        ++at_;
        return true;
    }

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

    // The top bit of each of the next 8 bytes that ends a name or needs a closer look; above the
    // lowest such byte it may be wrong.
    static std::uint64_t special_bytes(const char* at) {
        constexpr std::uint64_t EACH = 0x0101010101010101ull, TOP = 0x80 * EACH;
        const std::uint64_t bytes = load_word(at);
        const std::uint64_t quote = bytes ^ ('"' * EACH), backslash = bytes ^ ('\\' * EACH);
        return (((quote - EACH) & ~quote) | ((backslash - EACH) & ~backslash) |
                ((bytes - 0x20 * EACH) & ~bytes) | bytes) &
               TOP;
    }

    static bool is_digit(char sign) { return sign >= '0' && sign <= '9'; }

    bool read_digits(std::uint64_t& significand) {
        const char* const begin = at_;
        for (; at_ < end_ && is_digit(*at_); ++at_)
            significand = significand * 10 + static_cast<std::uint64_t>(*at_ - '0');
        return at_ > begin;
    }

    // A number by JSON's grammar, which is narrower than that of `read_double`.
    bool read_number(double& value) {
        skip_space();
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
        return read_double(text, value) && std::fabs(value) <= LARGEST_VALUE;
    }

    // Make the names unique: repeated ones add up in an array and are an error in an object.
    bool merge(bool object) {
        std::size_t size = 64;
        while (size < features_.size() * 2) size *= 2;
        slots_.assign(size, 0);
        std::size_t kept = 0, meetings = 0;
        for (const Feature& feature : features_) {
            std::size_t at = hash_name(feature.name, 0) & (size - 1);
            while (slots_[at] != 0 && features_[slots_[at] - 1].name != feature.name) {
                at = (at + 1) & (size - 1);
                if (++meetings > 16 * size) return false;  // names chosen to collide: not plain
            }
            if (slots_[at] == 0) {
                features_[kept++] = feature;
                slots_[at] = static_cast<std::uint32_t>(kept);
            } else if (object) {
                return false;
            } else {
                features_[slots_[at] - 1].value += 1.0;
            }
        }
        features_.resize(kept);
        return true;
    }

    const char* at_ = nullptr;
    const char* end_ = nullptr;
    std::vector<Feature> features_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace manyclass
