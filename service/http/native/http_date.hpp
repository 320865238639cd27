// The time as HTTP writes it: Sun, 06 Nov 1994 08:49:37 GMT (RFC 9110, 5.6.7).
#pragma once

#include <array>
#include <cstdio>
#include <ctime>
#include <string>

namespace manyclass::http {

inline std::string http_date(std::time_t seconds) {
    // Not by strftime, whose names depend on the locale.
    constexpr const char* DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* MONTHS[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  DAYS[parts.tm_wday], parts.tm_mday, MONTHS[parts.tm_mon], parts.tm_year + 1900,
                  parts.tm_hour, parts.tm_min, parts.tm_sec);
    return text.data();
}

}  // namespace manyclass::http
