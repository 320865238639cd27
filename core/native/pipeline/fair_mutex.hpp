// A shared mutex that is fair to writers.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace manyclass {

// The system's shared mutex lets readers pass a waiting writer. Here readers and writers enter
// through a gate, and a writer keeps it shut until the readers inside have left.
class FairMutex {
public:
    void lock() {
        gate_.lock();
        shared_.lock();
        gate_.unlock();
    }
    bool try_lock() {
        const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
        return gate.owns_lock() && shared_.try_lock();
    }
    void unlock() { shared_.unlock(); }
    void lock_shared() {
        gate_.lock();
        gate_.unlock();
        shared_.lock_shared();
    }
    bool try_lock_shared() {
        const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
        return gate.owns_lock() && shared_.try_lock_shared();
    }
    void unlock_shared() { shared_.unlock_shared(); }

private:
    std::mutex gate_;
    std::shared_mutex shared_;
};

// An interpreter lock that a caller may hold. `release` returns what `restore` takes, nullptr if
// this thread does not hold it. The embedding module sets both once, before any index exists.
struct Interpreter {
    static inline void* (*release)() = [] { return static_cast<void*>(nullptr); };
    static inline void (*restore)(void*) = [](void*) {};

    // Of this thread: the mutexes it holds, and what to restore when it unlocks the last of them.
    static inline thread_local int mutexes = 0;
    static inline thread_local void* released = nullptr;
};

// A held FairMutex. A thread that has to wait for a mutex first releases the interpreter lock, and
// restores it only after every mutex that it holds is unlocked: no thread waits for the interpreter
// lock while it holds a mutex, or the other way round.
template <class Lock>
class Held {
public:
    explicit Held(FairMutex& mutex) : lock_(mutex, std::try_to_lock) {
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
using Reading = Held<std::shared_lock<FairMutex>>;
using Writing = Held<std::unique_lock<FairMutex>>;

}  // namespace manyclass
