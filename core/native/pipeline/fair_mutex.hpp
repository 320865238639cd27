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
};

// A held FairMutex. A thread that has to wait for the mutex first releases the interpreter lock,
// and restores it only after the mutex is unlocked: no thread waits for one of the two locks while
// it holds the other.
template <class Lock>
class Held {
public:
    explicit Held(FairMutex& mutex) : lock_(mutex, std::try_to_lock) {
        if (lock_.owns_lock()) return;
        released_ = Interpreter::release();
        lock_.lock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
        lock_.unlock();
        if (released_ != nullptr) Interpreter::restore(released_);
    }

private:
    Lock lock_;
    void* released_ = nullptr;
};
using Reading = Held<std::shared_lock<FairMutex>>;
using Writing = Held<std::unique_lock<FairMutex>>;

}  // namespace manyclass
