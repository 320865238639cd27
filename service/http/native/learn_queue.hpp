// Plain events on their way from the workers to the event loop.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "service/http/native/handover.hpp"
#include "service/http/native/learn_body.hpp"

namespace manyclass::http {

// The request of an event: a worker's number, and its connection, which that worker alone uses.
struct Asker {
    std::size_t worker;
    void* connection;
};

struct QueuedEvent {
    PlainEvent event;
    Asker asker;
};

// Threads: any.
class LearnQueue {
public:
    int fd() const { return wake_.fd(); }

    // Queue an event for the loop. False when the queue is full or closed; then the event is as it
    // was.
    bool offer(QueuedEvent& event) {
        const std::size_t size = event.event.instance.size();
        const std::lock_guard<std::mutex> guard(mutex_);
        if (!is_open_ || bytes_ + size > MOST_BYTES) return false;
        events_.push_back(std::move(event));
        bytes_ += size;
        return true;
    }

    // Make the descriptor readable: there are events.
    void wake() { wake_.wake(); }

    std::vector<QueuedEvent> take() {
        wake_.clear();
        const std::lock_guard<std::mutex> guard(mutex_);
        bytes_ = 0;
        return std::exchange(events_, {});
    }

    void open() { set_open(true); }
    void close() { set_open(false); }

private:
    static constexpr std::size_t MOST_BYTES = 16'777'216;  // of instances

    void set_open(bool is_open) {
        const std::lock_guard<std::mutex> guard(mutex_);
        is_open_ = is_open;
    }

    std::mutex mutex_;
    std::vector<QueuedEvent> events_;
    std::size_t bytes_ = 0;
    bool is_open_ = false;
    Wake wake_;
};

}  // namespace manyclass::http
