// Plain events on their way from the workers to the event loop.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/native/event_batch.hpp"
#include "service/http/native/handover.hpp"
#include "service/http/native/learn_body.hpp"

namespace manyclass::http {

// The request of an event: a worker's number, and its connection, which that worker alone uses.
struct Asker {
    std::size_t worker;
    void* connection;
};

// Events that came one behind the other, or one that is alone.
struct QueuedPart {
    EventBatch batch;
    PlainEvent alone;
};

// Events in their order, and the request of each.
struct QueuedEvents {
    std::vector<QueuedPart> parts;
    std::vector<Asker> askers;
};

// Threads: any.
class LearnQueue {
public:
    int fd() const { return wake_.fd(); }

    // Queue an event for the loop. False when the queue is full or closed.
    bool offer(const PlainEvent& event, const Asker& asker) {
        const std::size_t size = size_of(event);
        const std::lock_guard<std::mutex> guard(mutex_);
        if (!is_open_ || bytes_ + size > MOST_BYTES) return false;
        auto& [parts, askers] = events_;
        askers.push_back(asker);
        try {
            add(event);
        } catch (...) {
            askers.pop_back();
            throw;
        }
        bytes_ += size;
        return true;
    }

    // Make the descriptor readable: there are events.
    void wake() { wake_.wake(); }

    QueuedEvents take() {
        wake_.clear();
        const std::lock_guard<std::mutex> guard(mutex_);
        bytes_ = 0;
        return std::exchange(events_, {});
    }

    void open() { set_open(true); }
    void close() { set_open(false); }

private:
    static constexpr std::size_t MOST_BYTES = 16'777'216;

    // The bytes that an event takes in the queue, about.
    static std::size_t size_of(const PlainEvent& event) {
        std::size_t size = sizeof(Asker) + sizeof(QueuedPart) + event.instance.size() +
                           event.id.size() + event.source.size() + event.reviewer.size() +
                           event.batch.size() + event.text.size();
        for (const std::string& name : event.classes) size += sizeof name + name.size();
        return size;
    }

    // Add an event to the last batch, or as a part of its own.
    void add(const PlainEvent& event) {
        auto& parts = events_.parts;
        const bool begins = parts.empty() || parts.back().alone.is_alone() || event.is_alone() ||
                            parts.back().batch.bytes() >= FULL_BATCH_BYTES;
        if (!begins) {
            parts.back().batch.add(event.instance, event.classes, event.origin());
            return;
        }
        QueuedPart part;
        if (event.is_alone()) part.alone = event;
        else part.batch.add(event.instance, event.classes, event.origin());
        parts.push_back(std::move(part));
    }

    void set_open(bool is_open) {
        const std::lock_guard<std::mutex> guard(mutex_);
        is_open_ = is_open;
    }

    std::mutex mutex_;
    QueuedEvents events_;
    std::size_t bytes_ = 0;
    bool is_open_ = false;
    Wake wake_;
};

}  // namespace manyclass::http
