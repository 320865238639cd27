// Conversion of decimal text to the nearest double under every C++ library: libc++ before version
// 20 has no std::from_chars of a double.
#pragma once

#include <charconv>
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

}  // namespace manyclass
