// Finds the elements of a large JSON body before Python objects are made.
//
//   {"k": 5, "instances": [ {"features": {...}}, {"text": "..."} ]}
//                           begin           end  begin        end
//
// The scan follows only brackets, strings and commas; the decoder of an element checks its JSON.
// The scan ends at the first exceeded limit. `features` and `vector` may hold any number of values;
// the reader of instances counts them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace manyclass {

// Threads: one at a time. Ownership: `body` must outlive the spans.
class Outline {
public:
    enum class Fault {
        none,
        malformed,  // at byte `at`
        repeated,   // the list is there twice
        elements,   // the list is too long
        values,     // element `position` holds too many values, the last of them under `key`
    };
    struct Span {
        std::size_t begin;
        std::size_t end;
    };

    // Find the elements of the array `list` in the object `body`. An element, and the rest of the
    // body, holds at most `most_values` values.
    Fault read(std::string_view body, std::string_view list, std::size_t most_elements,
               std::size_t most_values) {
        body_ = body;
        list_name_ = list;
        most_elements_ = most_elements;
        most_values_ = most_values;
        skip_space();
        if (at_ == body_.size() || body_[at_] != '{') return Fault::none;  // refused when decoded
        read_form(true);
        return fault_;
    }

    // The number of members of an object or array; at most one more than `most` are counted.
    std::size_t count_members(std::string_view json, std::size_t most) {
        body_ = json;
        most_values_ = most;
        skip_space();
        if (at_ == body_.size() || (body_[at_] != '[' && body_[at_] != '{')) return 0;
        const char closing = body_[at_++] == '[' ? ']' : '}';
        std::size_t members = 0;
        while (members <= most && !is_next(closing)) {
            ++members;
            if (closing == '}') {
                std::string_view key;
                skip_space();
                if (!read_string(key) || !take(':')) break;
                skip_space();
            }
            if (!skip_value(nullptr) || !take(',')) break;
        }
        return members;
    }

    bool has_list() const { return has_list_; }
    const std::vector<Span>& elements() const { return elements_; }
    Span list() const { return list_; }
    bool in_list() const { return in_list_; }  // the fault is in the list
    std::size_t at() const { return at_; }  // bytes read
    std::string_view key() const { return key_; }  // of an object with too many values

private:
    bool fail(Fault fault) {
        fault_ = fault;
        return false;
    }

    bool is_next(char sign) {
        skip_space();
        return at_ < body_.size() && body_[at_] == sign;
    }

    bool take(char sign) {
        if (!is_next(sign)) return false;
        ++at_;
        return true;
    }

    void skip_space() {
        while (at_ < body_.size() && std::memchr(" \n\r\t", body_[at_], 4) != nullptr) ++at_;
    }

    // An object with one instance or event, or the whole body.
    bool read_form(bool whole) {
        std::size_t values = 0;
        ++at_;
        if (take('}')) return true;
        do {
            skip_space();
            std::string_view key;
            if (!read_string(key) || !take(':')) return fail(Fault::malformed);
            skip_space();
            if (whole && key == list_name_) {
                if (has_list_) return fail(Fault::repeated);
                if (is_next('[')) {
                    if (!read_list()) return false;
                    continue;
                }
            }
            const bool is_counted = key != "features" && key != "vector";
            if (!skip_value(is_counted ? &values : nullptr)) return false;
            if (++values > most_values_) {
                key_ = key;
                return fail(Fault::values);
            }
        } while (take(','));
        return take('}') || fail(Fault::malformed);
    }

    bool read_list() {
        has_list_ = in_list_ = true;
        list_.begin = at_++;
        if (!take(']')) {
            do {
                if (elements_.size() == most_elements_) return fail(Fault::elements);
                skip_space();
                const std::size_t begin = at_;
                std::size_t values = 0;
                if (!(is_next('{') ? read_form(false) : skip_value(&values))) return false;
                if (values > most_values_) return fail(Fault::values);
                elements_.push_back({begin, at_});
            } while (take(','));
            if (!take(']')) return fail(Fault::malformed);
        }
        list_.end = at_;
        in_list_ = false;
        return true;
    }

    // Read a value of any kind and count its inner values, up to the limit.
    bool skip_value(std::size_t* values) {
        std::size_t depth = 0;
        do {
            if (at_ == body_.size()) return fail(Fault::malformed);
            const char sign = body_[at_];
            if (sign == '"') {
                std::string_view text;
                if (!read_string(text)) return fail(Fault::malformed);
                continue;
            }
            if (sign == ']' || sign == '}') {
                if (depth == 0) return fail(Fault::malformed);
                --depth;
            } else if (sign == '[' || sign == '{') {
                ++depth;
            } else if (sign == ',' && depth == 0) {
                return fail(Fault::malformed);
            } else if (sign == ',' && values != nullptr && ++*values > most_values_) {
                return true;
            }
            ++at_;
        } while (depth > 0 || !ends_value());
        return true;
    }

    // True when a value outside of brackets ends here.
    bool ends_value() const {
        return at_ == body_.size() || std::memchr(",]} \n\r\t", body_[at_], 7) != nullptr;
    }

    // A string, as it is written between its quotes.
    bool read_string(std::string_view& text) {
        if (at_ == body_.size() || body_[at_] != '"') return false;
        const std::size_t begin = ++at_;
        for (; at_ < body_.size() && body_[at_] != '"'; ++at_)
            if (body_[at_] == '\\') ++at_;
        if (at_ >= body_.size()) {
            at_ = body_.size();
            return false;
        }
        text = body_.substr(begin, at_ - begin);
        ++at_;
        return true;
    }

    std::string_view body_;
    std::string_view list_name_;
    std::string_view key_;
    std::size_t most_elements_ = 0;
    std::size_t most_values_ = 0;
    std::size_t at_ = 0;
    Fault fault_ = Fault::none;
    bool has_list_ = false;
    bool in_list_ = false;
    Span list_{0, 0};
    std::vector<Span> elements_;
};

}  // namespace manyclass
