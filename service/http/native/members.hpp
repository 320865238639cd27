// Reads the objects and arrays of a plain body, member by member.
#pragma once

#include <string_view>

#include "core/native/text/json_cursor.hpp"

namespace manyclass::http {

// Read an object of at least one member; `read_value(name)` reads the value of each, or is false.
template <class ReadValue>
bool read_object(JsonCursor& json, ReadValue read_value) {
    if (!json.read_sign('{')) return false;
    do {
        std::string_view name;
        if (!json.read_name(name) || !json.read_sign(':') || !read_value(name)) return false;
    } while (json.read_sign(','));
    return json.read_sign('}');
}

// Read an array of at least one element; `read_element()` reads each, or is false.
template <class ReadElement>
bool read_array(JsonCursor& json, ReadElement read_element) {
    if (!json.read_sign('[')) return false;
    do {
        if (!read_element()) return false;
    } while (json.read_sign(','));
    return json.read_sign(']');
}

// Read a whole body, which is such an object; `read_value(json, name)` reads the value of a member.
template <class ReadValue>
bool read_body(std::string_view data, ReadValue read_value) {
    JsonCursor json(data);
    if (!read_object(json, [&](std::string_view name) { return read_value(json, name); }))
        return false;
    json.skip_space();
    return json.at_end();
}

}  // namespace manyclass::http
