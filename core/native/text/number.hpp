// Conversion of decimal text to the nearest double and back under every C++ library: libc++ before
// version 20 has no std::from_chars of a double.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <locale.h>
#include <string>
#include <string_view>

#ifdef __APPLE__
#include <xlocale.h>
#endif

namespace manyclass {

// Read a number by strtod in the "C" locale, also if the process has another one. False if the
// whole text is not a number, or if the number is too large.
inline bool read_double_by_strtod(std::string_view text, double& value) {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    if (plain == nullptr) return false;
    const std::string ended(text);  // strtod needs the zero at its end
    char* stopped = nullptr;
    value = strtod_l(ended.c_str(), &stopped, plain);
    const bool whole = !ended.empty() && stopped == ended.c_str() + ended.size();
    return whole && value - value == 0;  // a finite number
}

// Read a number in JSON's grammar, by the fastest function of the C++ library.
inline bool read_double(std::string_view text, double& value) {
#if defined(__cpp_lib_to_chars) && !defined(MANYCLASS_NUMBERS_BY_STRTOD)
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range && stopped == end)
        return read_double_by_strtod(text, value);  // too small is 0 or nearly 0
    return error == std::errc() && stopped == end;
#else
    return read_double_by_strtod(text, value);
#endif
}

// The shortest decimal digits that are read as the same double; of several, those nearest to it.
// The value is 0.d1d2d3... * 10^point.
struct Decimal {
    char digits[17];
    int count = 0, point = 0;
};

// The digits of a finite number above 0.
inline Decimal shortest_digits(double value) {
    char text[32];  // d.ddde±dd
    const char* const end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    Decimal decimal;
    const char* at = text;
    for (; at < end && *at != 'e'; ++at)
        if (*at != '.') decimal.digits[decimal.count++] = *at;
    int exponent = 0;
    for (const char* digit = at + 2; digit < end; ++digit) exponent = exponent * 10 + *digit - '0';
    decimal.point = (at[1] == '-' ? -exponent : exponent) + 1;
    return decimal;
}

// Append a finite number as msgspec writes it in JSON: 12.0, 0.00012, 1e16, 1.5e-7.
inline void append_double(std::string& out, double value) {
    if (std::signbit(value)) out += '-';
    if (value == 0) {
        out += "0.0";
        return;
    }
    const Decimal found = shortest_digits(std::fabs(value));
    const std::string_view digits(found.digits, static_cast<std::size_t>(found.count));
    if (found.point > 16 || found.point < -4) {
        out += digits[0];
        if (digits.size() > 1) out.append(1, '.').append(digits.substr(1));
        out.append(1, 'e').append(std::to_string(found.point - 1));
    } else if (found.point <= 0) {
        out.append("0.").append(static_cast<std::size_t>(-found.point), '0').append(digits);
    } else if (found.point >= found.count) {
        const auto zeros = static_cast<std::size_t>(found.point - found.count);
        out.append(digits).append(zeros, '0').append(".0");
    } else {
        const auto point = static_cast<std::size_t>(found.point);
        out.append(digits.substr(0, point)).append(1, '.').append(digits.substr(point));
    }
}

}  // namespace manyclass
