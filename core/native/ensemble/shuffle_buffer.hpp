// The events that a member of a committee holds back, to learn them in another order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ensemble/learn_event.hpp"
#include "pipeline/wire.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

// Threads: the lock of the committee.
class ShuffleBuffer {
public:
    static constexpr std::uint64_t EVENT_BYTES = 100;  // counted for an event beside its own bytes

    struct Waiting {
        std::string event;
        bool is_first_epoch;
    };

    std::uint64_t size() const { return events_.size(); }
    std::uint64_t bytes() const { return bytes_; }

    void add(std::string event, bool is_first_epoch) {
        bytes_ += event.size() + EVENT_BYTES;
        events_.push_back({std::move(event), is_first_epoch});
    }

    // Remove the event that a drawn number (of any size) selects; the last event moves there.
    Waiting take(std::uint64_t drawn) {
        std::swap(events_[drawn % events_.size()], events_.back());
        Waiting taken = std::move(events_.back());
        events_.pop_back();
        bytes_ -= taken.event.size() + EVENT_BYTES;
        return taken;
    }

    // --- forgetting ----------------------------------------------------------------------------

    bool has_class(std::string_view name) const {
        return any_with(name, [&](const LearnEvent& event) { return event.names(name); });
    }

    bool has_feature(std::string_view name) const {
        return any_with(name, [&](const LearnEvent& event) {
            FeatureReader reader(event.instance);
            while (reader.next())
                if (reader.name() == name) return true;
            return false;
        });
    }

    // Remove the class from every event, and events without another class.
    bool forget_class(std::string_view name) {
        return rewrite(name, [&](LearnEvent& event) {
            for (Names* const names : {&event.classes, &event.rejected})
                names->erase(std::remove(names->begin(), names->end(), name), names->end());
            return event.classes.empty() && event.rejected.empty() ? std::string() : event.bytes();
        });
    }

    // Replace the class in every event.
    bool rename_class(std::string_view name, std::string_view to) {
        return rewrite(name, [&](LearnEvent& event) {
            event.classes = renamed(event.classes, name, to, {});
            event.rejected = renamed(event.rejected, name, to, event.classes);
            return event.bytes();
        });
    }

    // Remove the feature from every event.
    bool forget_feature(std::string_view name) {
        return rewrite(name, [&](LearnEvent& event) {
            std::string left(sizeof(std::uint32_t), '\0');
            std::uint32_t count = 0, sign = 0;
            FeatureReader reader(event.instance);
            while (reader.next()) {
                if (reader.name() == name) continue;
                put_feature(left, reader.name(), reader.value());
                if (reader.value() < 0) sign = SIGNED;
                ++count;
            }
            count |= sign;
            std::memcpy(left.data(), &count, sizeof count);
            event.instance = left;
            return event.bytes();
        });
    }

    // Remove the events with this instance and these true classes; how many these were.
    std::size_t drop(std::string_view instance, const Names& true_classes) {
        const std::size_t before = events_.size();
        keep_if([&](const Waiting& each) {
            const LearnEvent event(each.event);
            return event.instance != instance || event.classes != true_classes;
        });
        return before - events_.size();
    }

    // --- state ---------------------------------------------------------------------------------

    static constexpr std::size_t SECTIONS = 3;

    void measure(std::vector<Section>& sections, const std::string& prefix) const {
        const std::uint64_t of_events = bytes_ - events_.size() * EVENT_BYTES;
        sections.push_back({prefix + "waiting_events", "u1", of_events, nullptr});
        sections.push_back({prefix + "waiting_sizes", "u8", events_.size(), nullptr});
        sections.push_back({prefix + "waiting_first_pass", "u1", events_.size(), nullptr});
    }

    // Copy the events into the sections that were measured.
    void dump(const Section* sections) const {
        char* events = static_cast<char*>(sections[0].data);
        auto* sizes = static_cast<std::uint64_t*>(sections[1].data);
        auto* first_epochs = static_cast<std::uint8_t*>(sections[2].data);
        for (const auto& [event, is_first_epoch] : events_) {
            std::memcpy(events, event.data(), event.size());
            events += event.size();
            *sizes++ = event.size();
            *first_epochs++ = is_first_epoch ? 1 : 0;
        }
    }

    // Take the events of sections that were checked: they are learn events without ids.
    void load(const Section* sections) {
        const auto* event = static_cast<const char*>(sections[0].data);
        const auto* sizes = static_cast<const std::uint64_t*>(sections[1].data);
        const auto* first_epochs = static_cast<const std::uint8_t*>(sections[2].data);
        for (std::uint64_t at = 0; at < sections[1].size; ++at) {
            add(std::string(event, sizes[at]), first_epochs[at] != 0);
            event += sizes[at];
        }
    }

private:
    static Names renamed(const Names& names, std::string_view name, std::string_view to,
                         const Names& without) {
        Names now;
        for (const std::string_view each : names) {
            const std::string_view present = each == name ? to : each;
            if (!contains(now, present) && !contains(without, present)) now.push_back(present);
        }
        return now;
    }

    // The bytes of an event hold the name, as a name or by chance.
    static bool holds(const std::string& event, std::string_view name) {
        return event.find(name) != std::string::npos;
    }

    template <class F>
    bool any_with(std::string_view name, F&& is_wanted) const {
        return std::any_of(events_.begin(), events_.end(), [&](const Waiting& each) {
            return holds(each.event, name) && is_wanted(LearnEvent(each.event));
        });
    }

    template <class F>
    void keep_if(F&& is_kept) {
        events_.erase(std::remove_if(events_.begin(), events_.end(),
                                     [&](const Waiting& each) { return !is_kept(each); }),
                      events_.end());
        bytes_ = 0;
        for (const Waiting& each : events_) bytes_ += each.event.size() + EVENT_BYTES;
    }

    // Rewrite the events that hold the name, and remove the events without a class; return whether
    // there was a change.
    template <class F>
    bool rewrite(std::string_view name, F&& rewritten) {
        bool is_changed = false;
        for (Waiting& each : events_) {
            if (!holds(each.event, name)) continue;
            LearnEvent event(each.event);
            std::string bytes = rewritten(event);
            if (bytes == each.event) continue;
            each.event = std::move(bytes);
            is_changed = true;
        }
        if (is_changed) keep_if([](const Waiting& each) { return !each.event.empty(); });
        return is_changed;
    }

    std::vector<Waiting> events_;
    std::uint64_t bytes_ = 0;
};

}  // namespace manyclass
