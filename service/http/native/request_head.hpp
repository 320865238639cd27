// Reads a plain POST request out of bytes that begin with it: a second, narrow reader of HTTP/1.1
// beside the parser of the connection.
//
//   POST /rank HTTP/1.1 \r\n   name: value \r\n   ...   \r\n   body
//
// It accepts exact forms only and looks at nothing twice. All other bytes go to the parser, which
// has seen nothing of them: no request is read in two ways.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace manyclass::http {

constexpr std::string_view POST_RANK = "POST /rank HTTP/1.1\r\n";
constexpr std::string_view POST_LEARN = "POST /learn HTTP/1.1\r\n";
constexpr std::size_t MOST_PLAIN_HEADERS = 50;        // half of what the parser accepts
constexpr std::size_t MOST_PLAIN_HEAD_BYTES = 16'384;  // a quarter

// The characters of a token, in which header names are written (RFC 9110, 5.6.2).
inline bool is_token(unsigned char sign) {
    static constexpr auto table = [] {
        std::array<bool, 256> signs{};
        for (unsigned each = '0'; each <= '9'; ++each) signs[each] = true;
        for (unsigned each = 'a'; each <= 'z'; ++each) signs[each] = signs[each - 32] = true;
        for (const char each : {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`',
                                '|', '~'})
            signs[static_cast<unsigned char>(each)] = true;
        return signs;
    }();
    return table[sign];
}

inline char lowered(char sign) {
    return sign >= 'A' && sign <= 'Z' ? static_cast<char>(sign + 32) : sign;
}

// Compare in any case; `lower` is in lower case.
inline bool is_same(std::string_view text, std::string_view lower) {
    if (text.size() != lower.size()) return false;
    for (std::size_t at = 0; at < text.size(); ++at)
        if (lowered(text[at]) != lower[at]) return false;
    return true;
}

inline bool begins(std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() && is_same(text.substr(0, lower.size()), lower);
}

// A request of the accepted form, whose body may be incomplete. The views point into its bytes;
// `authorization` is empty without the header.
struct PlainRequest {
    std::string_view host, authorization, body;
    std::size_t length = 0;  // of the whole body

    bool is_whole() const { return body.size() == length; }
};

class RequestHead {
public:
    // Read one request with this first line; false for all that is not of the accepted form, or
    // longer than it.
    static bool read(std::string_view data, std::string_view first, PlainRequest& request) {
        if (data.substr(0, first.size()) != first) return false;
        RequestHead head(data.data() + first.size(), data.data() + data.size());
        if (!head.read_lines() || !head.is_complete()) return false;
        request = {head.host_, head.authorization_, {head.at_, head.left()}, head.length_};
        return head.left() <= head.length_ && data.size() - head.left() <= MOST_PLAIN_HEAD_BYTES;
    }

private:
    RequestHead(const char* begin, const char* end) : at_(begin), end_(end) {}

    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    bool is_complete() const { return !host_.empty() && length_ > 0 && is_json_; }

    // Read all headers and the empty line behind them.
    bool read_lines() {
        for (std::size_t count = 0; count <= MOST_PLAIN_HEADERS; ++count) {
            const auto* const end = static_cast<const char*>(std::memchr(at_, '\r', left()));
            if (end == nullptr || end + 1 == end_ || end[1] != '\n') return false;
            const std::string_view line(at_, static_cast<std::size_t>(end - at_));
            at_ = end + 2;
            if (line.empty()) return true;
            if (!read_line(line)) return false;
        }
        return false;
    }

    bool read_line(std::string_view line) {
        std::size_t colon = 0;
        while (colon < line.size() && is_token(static_cast<unsigned char>(line[colon]))) ++colon;
        if (colon == 0 || colon == line.size() || line[colon] != ':') return false;
        std::size_t begin = colon + 1;
        while (begin < line.size() && line[begin] == ' ') ++begin;
        const std::string_view value = line.substr(begin);
        return is_plain(value) && take(line.substr(0, colon), value);
    }

    // Printable ASCII without a space at the end.
    static bool is_plain(std::string_view value) {
        if (value.empty() || value.back() == ' ') return false;
        bool plain = true;
        for (const char sign : value) plain &= sign >= ' ' && sign <= '~';
        return plain;
    }

    // Take in a header; false for one that another part of the service has to see, or a second one
    // that may come once.
    bool take(std::string_view name, std::string_view value) {
        switch (lowered(name[0])) {
            case 'a': return !is_same(name, "authorization") || set(authorization_, value);
            case 'h': return !is_same(name, "host") || set(host_, value);
            case 'c': return take_c(name, value);
            case 'e': return !is_same(name, "expect");
            case 'k': return !is_same(name, "keep-alive");
            case 'o': return !is_same(name, "origin");
            case 'p': return !is_same(name, "proxy-connection");
            case 's': return !begins(name, "sec-");
            case 't':
                return !is_same(name, "transfer-encoding") && !is_same(name, "te") &&
                       !is_same(name, "trailer");
            case 'u': return !is_same(name, "upgrade");
            default: return true;
        }
    }

    bool take_c(std::string_view name, std::string_view value) {
        if (is_same(name, "content-length")) return length_ == 0 && read_length(value);
        if (is_same(name, "content-type")) {
            const bool again = is_json_;
            is_json_ = value == "application/json";
            return is_json_ && !again;
        }
        if (is_same(name, "connection")) return is_same(value, "keep-alive");
        return !begins(name, "content-");  // an encoding, and rare ones
    }

    static bool set(std::string_view& field, std::string_view value) {
        if (!field.empty()) return false;
        field = value;
        return true;
    }

    // Digits without a zero at the beginning, of a length that fits into a read.
    bool read_length(std::string_view value) {
        if (value.size() > 7 || value[0] == '0') return false;
        for (const char sign : value) {
            if (sign < '0' || sign > '9') return false;
            length_ = length_ * 10 + static_cast<std::size_t>(sign - '0');
        }
        return true;
    }

    const char* at_;
    const char* end_;
    std::string_view host_, authorization_;
    std::size_t length_ = 0;  // of the body; 0 before the header is read
    bool is_json_ = false;
};

}  // namespace manyclass::http
