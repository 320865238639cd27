// A learn event without an id, an origin and placements, in the bytes that core/event.pyx describes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "event_bytes.hpp"
#include "pipeline/name_list.hpp"

namespace manyclass {

// The views are of other bytes, which outlive their use here.
struct LearnEvent {
    std::string_view instance;
    Names classes, rejected;
    double weight = 1;

    // Read an event from valid bytes.
    explicit LearnEvent(std::string_view bytes) {
        const bool is_weighted = static_cast<std::uint8_t>(bytes[0]) == WEIGHTED;
        bytes.remove_prefix(BARE_HEAD_BYTES);
        read_names(bytes, classes);
        if (is_weighted) {
            read_names(bytes, rejected);
            weight = take<double>(bytes);
        }
        instance = bytes;
    }
    LearnEvent(std::string_view instance, Names classes, Names rejected, double weight)
        : instance(instance),
          classes(std::move(classes)),
          rejected(std::move(rejected)),
          weight(weight) {}

    // True if the name is of a true or rejected class.
    bool names(std::string_view name) const {
        return contains(classes, name) || contains(rejected, name);
    }

    std::string bytes() const {
        const bool is_weighted = !rejected.empty() || weight != 1;
        EventHead head;  // without a fingerprint and an id
        if (is_weighted) head.kind = WEIGHTED;
        std::string out;
        put_head(out, head);
        put_names(out, classes);
        if (is_weighted) {
            put_names(out, rejected);
            put(out, weight);
        }
        return out.append(instance);
    }

private:
    static constexpr std::uint8_t WEIGHTED = 7;  // a learn event with none of these is of kind 0

    template <class T>
    static T take(std::string_view& bytes) {
        T value;
        std::memcpy(&value, bytes.data(), sizeof value);
        bytes.remove_prefix(sizeof value);
        return value;
    }

    static void read_names(std::string_view& bytes, Names& names) {
        for (auto left = take<std::uint32_t>(bytes); left > 0; --left) {
            const auto size = take<std::uint16_t>(bytes);
            names.push_back(bytes.substr(0, size));
            bytes.remove_prefix(size);
        }
    }
};

}  // namespace manyclass
