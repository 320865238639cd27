// The lock of an engine: shared while its state is read, exclusive while it changes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "pipeline/reader_slots.hpp"
#include "pipeline/memory_reserve.hpp"

namespace manyclass {

// An error, such as a failed allocation, interrupted a change of the state, which is not read any
// more.
struct StateHalfChanged : std::exception {};

class StateLock {
public:
    // Held while the state is read. Throws StateHalfChanged if an error interrupted a change: the
    // state has to be loaded again.
    class Read {
    public:
        explicit Read(const StateLock& lock) : held_(lock.mutex_) { lock.check_whole(); }

    private:
        Reading held_;
    };

    // Held while the state is changed, from `begin` until `done`. Before `begin`, this and other
    // threads may read the state; no other thread changes it.
    class Change {
    public:
        explicit Change(StateLock& lock) : lock_(lock), turn_(lock.turn_) {
            lock.check_whole();
            Reserve::refill();
        }
        void begin() {
            held_.emplace(lock_.mutex_);
            lock_.half_changed_ = true;
        }
        void done() {
            ++lock_.changes_;
            lock_.half_changed_ = false;
        }

    private:
        StateLock& lock_;
        Held<std::unique_lock<std::mutex>> turn_;
        std::optional<Writing> held_;
    };

    // A change without a phase of reading.
    class ChangeNow : public Change {
    public:
        explicit ChangeNow(StateLock& lock) : Change(lock) { begin(); }
    };

    // The number of changes so far; call with the lock held.
    std::uint64_t changes() const { return changes_; }

    // Hold the lock as a change does, until `let_go` or for this time. For tests of waiting
    // threads.
    void hold(std::uint32_t milliseconds) {
        const Writing held(mutex_);
        is_held_ = true;
        for (; milliseconds > 0 && is_held_; --milliseconds)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        is_held_ = false;
    }
    void let_go() { is_held_ = false; }
    bool is_held() const { return is_held_; }

private:
    void check_whole() const {
        if (half_changed_) throw StateHalfChanged();
    }

    mutable ReaderSlots mutex_;
    std::mutex turn_;  // of threads that change the state
    std::uint64_t changes_ = 0;
    bool half_changed_ = false;
    std::atomic<bool> is_held_{false};
};

}  // namespace manyclass
