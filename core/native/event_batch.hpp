// Learn events of many requests, as the log keeps them, and what learning them gave.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "event_bytes.hpp"
#include "published_learner.hpp"

namespace manyclass {

// A batch of this size takes no more events: one that has no room goes on event by event, and its
// bytes are in one piece, which moves when it grows.
constexpr std::size_t FULL_BATCH_BYTES = 1'048'576;

// An event and its outcome. The first members are offsets in the bytes of the batch.
struct BatchedEvent {
    std::size_t payload, classes, instance, end;
    std::uint32_t rank = 0;  // of the best true class before learning; 0: it was not retrieved
    bool is_updated = false;
    double seconds = 0;  // that learning took
};

// Plain events: features and true classes, perhaps an origin, no event id, weight 1.
//
// Threads: one at a time. `learn` may take the locks of the learner.
class EventBatch {
public:
    // Add an event: an instance in wire form, true classes, at least one, of which each counts
    // once, and its origin.
    template <class Names>
    void add(std::string_view instance, const Names& classes, const EventOrigin& origin = {}) {
        const std::size_t before = bytes_.size();
        try {
            events_.push_back(written(instance, classes, origin));
        } catch (...) {
            bytes_.resize(before);
            throw;
        }
    }

    std::size_t count() const { return events_.size(); }
    std::size_t bytes() const { return bytes_.size(); }
    const BatchedEvent& operator[](std::size_t at) const { return events_[at]; }

    std::string_view payload(std::size_t at) const {
        return view(events_[at].payload, events_[at].end);
    }
    std::string_view instance(std::size_t at) const {
        return view(events_[at].instance, events_[at].end);
    }

    EventOrigin origin(std::size_t at) const {
        return origin_in(view(events_[at].payload, events_[at].classes));
    }

    // Every text was read by the analysis of these parts, as the first byte of a stored one says.
    bool is_read_by(std::uint8_t parts) const {
        for (std::size_t at = 0; at < events_.size(); ++at) {
            const std::string_view stored = origin(at).text;
            if (!stored.empty() && static_cast<std::uint8_t>(stored[0]) != parts) return false;
        }
        return true;
    }

    // Every vector has this dimension.
    bool has_vectors_of(std::size_t dimension) const {
        for (std::size_t at = 0; at < events_.size(); ++at)
            if (has_vector(instance(at)) && vector_of(instance(at)).size() != dimension)
                return false;
        return true;
    }

    // Set `names` to the true classes of an event.
    void read_classes(std::size_t at, std::vector<std::string_view>& names) const {
        names.clear();
        const char* next = bytes_.data() + events_[at].classes + sizeof(std::uint32_t);
        const char* const end = bytes_.data() + events_[at].instance;
        while (next < end) {
            std::uint16_t size;
            std::memcpy(&size, next, sizeof size);
            names.emplace_back(next + sizeof size, size);
            next += sizeof size + size;
        }
    }

    // The events that are learned, the first ones.
    std::size_t learned() const { return learned_; }

    // Note the outcome of the next event, which was learned by itself.
    void note(std::uint32_t rank, bool is_updated) {
        events_[learned_].rank = rank;
        events_[learned_].is_updated = is_updated;
        ++learned_;
    }

    // Learn the next events: at least one, and others until the time is over. Each is learned and
    // counted before the next, also if that one ends in an error.
    void learn(std::chrono::duration<double> time, PublishedLearner& learner) {
        auto began = std::chrono::steady_clock::now();
        const auto deadline = began + time;
        std::vector<std::string_view> classes;
        const std::vector<std::string_view> rejected;
        while (learned_ < events_.size()) {
            read_classes(learned_, classes);
            const Outcome outcome =
                learner.learn(instance(learned_), classes, rejected, 1, origin(learned_).source);
            const auto now = std::chrono::steady_clock::now();
            events_[learned_].seconds = std::chrono::duration<double>(now - began).count();
            note(outcome.rank, outcome.updated);
            if (now >= deadline) return;
            began = now;
        }
    }

private:
    // Write an event behind the others.
    template <class Names>
    BatchedEvent written(std::string_view instance, const Names& classes,
                         const EventOrigin& origin) {
        BatchedEvent event{};
        event.payload = bytes_.size();
        EventHead head;  // of kind 0, to learn
        head.origin = origin;
        put_head(bytes_, head);
        event.classes = bytes_.size();
        put_names(bytes_, each_once(classes));
        event.instance = bytes_.size();
        bytes_.append(instance);
        event.end = bytes_.size();
        return event;
    }

    template <class Names>
    static std::vector<std::string_view> each_once(const Names& names) {
        std::vector<std::string_view> once;
        once.reserve(names.size());
        for (const std::string_view name : names)
            if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
        return once;
    }

    std::string_view view(std::size_t begin, std::size_t end) const {
        return std::string_view(bytes_).substr(begin, end - begin);
    }

    std::string bytes_;  // of all payloads, end to end
    std::vector<BatchedEvent> events_;
    std::size_t learned_ = 0;
};

}  // namespace manyclass
