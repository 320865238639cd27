// A shared mutex under which readers cannot keep a writer waiting for ever.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace manyclass {

// The system's shared mutex lets readers pass a waiting writer. Here everybody goes through a gate,
// and a writer keeps it shut until the readers inside have left.
class FairMutex {
public:
    void lock() {
        gate_.lock();
        shared_.lock();
        gate_.unlock();
    }
    void unlock() { shared_.unlock(); }
    void lock_shared() {
        gate_.lock();
        gate_.unlock();
        shared_.lock_shared();
    }
    void unlock_shared() { shared_.unlock_shared(); }

private:
    std::mutex gate_;
    std::shared_mutex shared_;
};

}  // namespace manyclass
