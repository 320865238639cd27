// Writes the bytes of events, as the log keeps them: core/event.pyx says what they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "pipeline/wire.hpp"

namespace manyclass {

// The bits of a kind that say what stands between the event id and the content.
constexpr std::uint8_t WITH_INSTANCE_ID = 0x20, WITH_ORIGIN = 0x40;

// The origin of an event beside its time, each part empty without one.
struct EventOrigin {
    std::string_view source, reviewer, batch, text;  // the text as it is stored, text/stored_text.hpp

    bool is_empty() const {
        return source.empty() && reviewer.empty() && batch.empty() && text.empty();
    }
};

// The bytes of an event in front of its content. All but the kind may be absent: 0 or empty.
struct EventHead {
    std::uint8_t kind = 0;
    std::uint64_t fingerprint = 0;
    std::string_view event_id;
    std::uint64_t time = 0;
    EventOrigin origin;
    std::string_view instance_id;

    bool has_origin() const { return time != 0 || !origin.is_empty(); }
};

// A name of at most LONGEST_NAME bytes; an empty one stands for none.
inline void put_name(std::string& out, std::string_view name) {
    put(out, static_cast<std::uint16_t>(name.size()));
    out.append(name);
}

inline void put_head(std::string& out, const EventHead& head) {
    const bool has_origin = head.has_origin();
    put(out, static_cast<std::uint8_t>(head.kind | (has_origin ? WITH_ORIGIN : 0) |
                                       (head.instance_id.empty() ? 0 : WITH_INSTANCE_ID)));
    put(out, head.fingerprint);
    put_name(out, head.event_id);
    if (has_origin) {
        put(out, head.time);
        const EventOrigin& origin = head.origin;
        for (const std::string_view name : {origin.source, origin.reviewer, origin.batch})
            put_name(out, name);
        put(out, static_cast<std::uint32_t>(origin.text.size()));
        out.append(origin.text);
    }
    if (!head.instance_id.empty()) put_name(out, head.instance_id);
}

// The number of names, then each.
template <class Names>
void put_names(std::string& out, const Names& names) {
    put(out, static_cast<std::uint32_t>(names.size()));
    for (const auto& name : names) put_name(out, name);
}

// The bytes of a head that has a kind and a fingerprint alone.
constexpr std::size_t BARE_HEAD_BYTES =
    sizeof(std::uint8_t) + sizeof(std::uint64_t) + sizeof(std::uint16_t);

// Take the name in front of the bytes away from them.
inline std::string_view take_name(std::string_view& bytes) {
    std::uint16_t size;
    std::memcpy(&size, bytes.data(), sizeof size);
    const std::string_view name = bytes.substr(sizeof size, size);
    bytes.remove_prefix(sizeof size + size);
    return name;
}

// The origin of an event without an id, whose head these bytes are.
inline EventOrigin origin_in(std::string_view head) {
    EventOrigin origin;
    if (head.size() == BARE_HEAD_BYTES) return origin;
    head.remove_prefix(BARE_HEAD_BYTES + sizeof(std::uint64_t));  // and the time
    for (std::string_view* name : {&origin.source, &origin.reviewer, &origin.batch})
        *name = take_name(head);
    origin.text = head.substr(sizeof(std::uint32_t));
    return origin;
}

}  // namespace manyclass
