#include "text/json_vector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace manyclass {

namespace {

constexpr std::size_t WORD = sizeof(std::uint64_t);
constexpr std::uint64_t EACH = 0x0101010101010101u;

// 10 to the power of 0 to 8, and the largest number that may be multiplied by each and get as many
// digits behind it.
struct Powers {
    std::uint64_t of[WORD + 1] = {}, room[WORD + 1] = {};
    constexpr Powers() {
        std::uint64_t power = 1;
        for (std::size_t digits = 0; digits <= WORD; ++digits, power *= 10) {
            of[digits] = power;
            room[digits] = std::numeric_limits<std::uint64_t>::max() / power - 1;
        }
    }
};
constexpr Powers POWERS{};

// These are exact as doubles.
constexpr double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Return the number of leading bytes that are digits.
std::size_t digits_in(std::uint64_t word) {
    const std::uint64_t values = word ^ '0' * EACH;  // 0 to 9 of digits
    const std::uint64_t others = (((values & 0x7f * EACH) + 0x76 * EACH) | values) & 0x80 * EACH;
    return others == 0 ? WORD : static_cast<std::size_t>(__builtin_ctzll(others)) / 8;
}

// Return the number of these leading digits: pairs of digits first, then fours, then all.
std::uint64_t number_of(std::uint64_t word, std::size_t digits) {
    if (digits == 0) return 0;
    std::uint64_t values = (word ^ '0' * EACH) << 8 * (WORD - digits);  // zeros in front
    values = values * 10 + (values >> 8);
    constexpr std::uint64_t PAIRS = 0x000000ff000000ffu;
    return ((values & PAIRS) * (100 + (std::uint64_t{1000000} << 32)) +
            ((values >> 16) & PAIRS) * (1 + (std::uint64_t{10000} << 32))) >>
           32;
}

// Read a number below 1 without an exponent, such as -0.0123456. False for any other, and near the
// end of the text; then the cursor has not moved. Of more than 15 digits the last bit may differ
// from that of the nearest double, which no vector shows: its numbers have 12 bits.
bool read_fraction(JsonCursor& json, double& value) {
    json.skip_space();
    const char* at = json.at();
    const char* const end = json.end();
    const bool is_negative = at < end && *at == '-';
    at += is_negative;
    if (end - at < 2 || at[0] != '0' || at[1] != '.') return false;
    const char* const begin = at += 2;
    std::uint64_t significand = 0;
    std::size_t digits = WORD;
    while (digits == WORD) {
        if (static_cast<std::size_t>(end - at) < WORD) return false;
        const std::uint64_t word = load_word(at);
        digits = digits_in(word);
        if (significand > POWERS.room[digits]) return false;
        significand = significand * POWERS.of[digits] + number_of(word, digits);
        at += digits;
    }
    const auto decimals = static_cast<std::size_t>(at - begin);
    if (decimals == 0 || decimals >= std::size(TENS) || *at == 'e' || *at == 'E') return false;
    const double size = static_cast<double>(significand) / TENS[decimals];
    value = is_negative ? -size : size;
    json.go_to(at);
    return true;
}

// The bits of each sign of base64, and NO_SIGN for all others.
constexpr std::uint8_t NO_SIGN = 0x80;
struct Signs {
    std::uint8_t of[256] = {};
    constexpr Signs() {
        for (std::uint8_t& each : of) each = NO_SIGN;
        constexpr std::string_view ALPHABET =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (std::size_t bits = 0; bits < ALPHABET.size(); ++bits)
            of[static_cast<unsigned char>(ALPHABET[bits])] = static_cast<std::uint8_t>(bits);
    }
};
constexpr Signs SIGNS{};

}  // namespace

JsonVector& JsonVector::mine() {
    thread_local JsonVector reader;
    return reader;
}

VectorFault JsonVector::read(JsonCursor& json) {
    count_ = 0;
    VectorFault fault = VectorFault::form;
    std::string_view text;
    std::string unescaped;
    if (json.read_sign('['))
        fault = read_array(json);
    else if (json.read_sign('{'))
        fault = read_int8(json);
    else if (json.read_text(text, unescaped))
        fault = read_float32(text);
    return fault == VectorFault::none ? normalise() : fault;
}

VectorFault JsonVector::read_array(JsonCursor& json) {
    if (json.read_sign(']')) return VectorFault::none;
    do {
        if (count_ == numbers_.size()) return VectorFault::dimension;
        double& number = numbers_[count_];
        if (!read_fraction(json, number) && !json.read_any_number(number))
            return VectorFault::number;
        ++count_;
    } while (json.read_sign(','));
    return json.read_sign(']') ? VectorFault::none : VectorFault::form;
}

VectorFault JsonVector::read_int8(JsonCursor& json) {
    std::string_view name, text;
    std::string unescaped;
    if (!json.read_name(name) || name != "int8" || !json.read_sign(':') ||
        !json.read_text(text, unescaped) || !json.read_sign('}'))
        return VectorFault::form;
    if (const VectorFault fault = decode(text); fault != VectorFault::none) return fault;
    count_ = std::min(bytes_.size(), numbers_.size());
    for (std::size_t at = 0; at < count_; ++at)
        numbers_[at] = static_cast<std::int8_t>(bytes_[at]);
    return VectorFault::none;
}

VectorFault JsonVector::read_float32(std::string_view base64) {
    if (const VectorFault fault = decode(base64); fault != VectorFault::none) return fault;
    if (bytes_.size() % sizeof(float) != 0) return VectorFault::bytes;
    count_ = std::min(bytes_.size() / sizeof(float), numbers_.size());
    for (std::size_t at = 0; at < count_; ++at) {
        float number;
        std::memcpy(&number, &bytes_[at * sizeof number], sizeof number);
        numbers_[at] = number;
    }
    return VectorFault::none;
}

// Set `bytes_` to what a text of base64 stands for, unless it is longer than any vector.
VectorFault JsonVector::decode(std::string_view base64) {
    if (base64.size() % 4 != 0) return VectorFault::base64;
    if (base64.size() / 4 * 3 > (MOST_DIMENSION + 1) * sizeof(float)) {
        count_ = MOST_DIMENSION + 1;
        return VectorFault::dimension;
    }
    std::size_t padding = 0;
    while (padding < 2 && padding < base64.size() && base64[base64.size() - 1 - padding] == '=')
        ++padding;
    bytes_.resize(base64.size() / 4 * 3);
    std::uint8_t all = 0;
    const auto bits_of = [&all](char sign) {
        const std::uint8_t bits = SIGNS.of[static_cast<unsigned char>(sign)];
        all |= bits;
        return std::uint32_t{bits};
    };
    const auto put = [this](std::size_t quad, std::uint32_t bits) {
        char* const to = &bytes_[quad * 3];
        to[0] = static_cast<char>(bits >> 16);
        to[1] = static_cast<char>(bits >> 8);
        to[2] = static_cast<char>(bits);
    };
    const std::size_t whole = (base64.size() - padding) / 4;
    for (std::size_t quad = 0; quad < whole; ++quad) {
        const char* const from = &base64[quad * 4];
        put(quad, bits_of(from[0]) << 18 | bits_of(from[1]) << 12 | bits_of(from[2]) << 6 |
                      bits_of(from[3]));
    }
    if (padding > 0) {
        const char* const from = &base64[whole * 4];
        const std::uint32_t third = padding == 1 ? bits_of(from[2]) : 0;
        put(whole, bits_of(from[0]) << 18 | bits_of(from[1]) << 12 | third << 6);
        bytes_.resize(bytes_.size() - padding);
    }
    return (all & NO_SIGN) == 0 ? VectorFault::none : VectorFault::base64;
}

// Make the vector of the numbers.
VectorFault JsonVector::normalise() {
    if (count_ < LEAST_DIMENSION || count_ > MOST_DIMENSION) return VectorFault::dimension;
    read_.assign(sizeof(std::uint32_t), '\0');
    if (append_vector(read_, numbers_.data(), count_)) return VectorFault::none;
    const bool is_finite = std::all_of(numbers_.data(), numbers_.data() + count_,
                                       [](double each) { return std::isfinite(each); });
    return is_finite ? VectorFault::zero : VectorFault::not_finite;
}

}  // namespace manyclass
