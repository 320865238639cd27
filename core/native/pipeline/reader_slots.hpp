// A shared mutex for readers on many cores, fair to readers and writers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace manyclass {

// A reader writes only to the slot of its thread, a cache line that other readers do not touch: a
// shared line would move between cores. A writer marks the mutex and waits until every slot is
// empty. Readers that meet a writer wait, and enter before the next writer.
class ReaderSlots {
public:
    void lock() {
        begin_writing();
        for (Slot& slot : slots_) wait_until_empty(slot);
    }
    bool try_lock() {
        {
            const std::lock_guard<std::mutex> guard(turn_);
            if (writes_ || waiting_readers_ > 0) return false;
            writes_ = true;
        }
        for (const Slot& slot : slots_)
            if (slot.readers.load() != 0) {
                unlock();
                return false;
            }
        return true;
    }
    void unlock() {
        const std::lock_guard<std::mutex> guard(turn_);
        writes_ = false;
        turned_.notify_all();
    }

    void lock_shared() {
        if (try_lock_shared()) return;
        std::unique_lock<std::mutex> guard(turn_);
        ++waiting_readers_;
        turned_.wait(guard, [this] { return !writes_; });
        mine().readers.fetch_add(1);
        if (--waiting_readers_ == 0) turned_.notify_all();
    }
    bool try_lock_shared() {
        // Both sides write before they read, in one order for all threads: either the reader sees
        // the writer's mark, or the writer sees the reader's slot.
        Slot& slot = mine();
        slot.readers.fetch_add(1);
        if (!writes_) return true;
        slot.readers.fetch_sub(1, std::memory_order_release);
        return false;
    }
    void unlock_shared() { mine().readers.fetch_sub(1, std::memory_order_release); }

private:
    static constexpr std::size_t SLOTS = 16;  // threads beyond these share them

    struct alignas(64) Slot {
        std::atomic<std::uint32_t> readers{0};
    };

    Slot& mine() {
        static std::atomic<std::size_t> threads{0};
        static thread_local const std::size_t number = threads++ % SLOTS;
        return slots_[number];
    }

    void begin_writing() {
        std::unique_lock<std::mutex> guard(turn_);
        turned_.wait(guard, [this] { return !writes_ && waiting_readers_ == 0; });
        writes_ = true;
    }

    // A ranking takes microseconds, so polling is faster than sleeping, unless the reader was
    // descheduled.
    static void wait_until_empty(const Slot& slot) {
        constexpr int QUICK_LOOKS = 100, LOOKS = 200;
        for (int look = 0; slot.readers.load() != 0; ++look) {
            if (look < QUICK_LOOKS) continue;
            if (look < LOOKS) std::this_thread::yield();
            else std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

    std::array<Slot, SLOTS> slots_;
    std::atomic<bool> writes_{false};  // changed with `turn_` held
    std::mutex turn_;
    std::condition_variable turned_;
    std::uint64_t waiting_readers_ = 0;  // readers that wait for a writer
};

// An interpreter lock that a caller may hold. `release` returns what `restore` takes, nullptr if
// this thread does not hold it. The embedding module sets both once, before any learner exists.
struct Interpreter {
    static inline void* (*release)() = [] { return static_cast<void*>(nullptr); };
    static inline void (*restore)(void*) = [](void*) {};

    // The mutexes that this thread holds, and the state to restore when it unlocks the last of
    // them.
    static inline thread_local int mutexes = 0;
    static inline thread_local void* released = nullptr;
};

// A held mutex. A thread that has to wait for a mutex first releases the interpreter lock, and
// restores it only after every mutex that it holds is unlocked: no thread waits for a mutex while
// it holds the interpreter lock, or for the interpreter lock while it holds a mutex.
template <class Lock>
class Held {
public:
    explicit Held(typename Lock::mutex_type& mutex) : lock_(mutex, std::try_to_lock) {
        if (!lock_.owns_lock()) {
            if (Interpreter::released == nullptr) Interpreter::released = Interpreter::release();
            lock_.lock();
        }
        ++Interpreter::mutexes;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
        lock_.unlock();
        if (--Interpreter::mutexes > 0 || Interpreter::released == nullptr) return;
        void* const released = Interpreter::released;
        Interpreter::released = nullptr;
        Interpreter::restore(released);
    }

private:
    Lock lock_;
};
using Reading = Held<std::shared_lock<ReaderSlots>>;
using Writing = Held<std::unique_lock<ReaderSlots>>;

}  // namespace manyclass
