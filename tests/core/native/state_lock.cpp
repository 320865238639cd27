// Reads and changes behind a StateLock. It prints "kept" if other threads read before a change begins,
// and none from then on until it is over, and if a change that ends before it begins breaks nothing.
#include <chrono>
#include <cstdio>
#include <future>
#include <optional>
#include <thread>

#include "pipeline/state_lock.hpp"

namespace {

using manyclass::StateLock;

void read(const StateLock& lock) { const StateLock::Read held(lock); }

bool ends(std::future<void>& call) {
    return call.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready;
}

}  // namespace

int main() {
    StateLock lock;
    bool is_kept = true;
    { StateLock::Change given_up(lock); }
    is_kept &= lock.changes() == 0;
    std::optional<StateLock::Change> change(std::in_place, lock);
    std::async(std::launch::async, read, std::cref(lock)).get();
    change->begin();
    std::future<void> waiting = std::async(std::launch::async, read, std::cref(lock));
    std::future<void> second = std::async(std::launch::async, [&] {
        StateLock::ChangeNow now(lock);
        now.done();
    });
    is_kept &= !ends(waiting) && !ends(second);
    change->done();
    is_kept &= !ends(waiting);
    change.reset();
    waiting.get();
    second.get();
    is_kept &= lock.changes() == 2;
    { StateLock::ChangeNow broken(lock); }  // ended by an error
    try {
        read(lock);
        is_kept = false;
    } catch (const manyclass::StateHalfChanged&) {
    }
    std::puts(is_kept ? "kept" : "broken");
    return is_kept ? 0 : 1;
}
