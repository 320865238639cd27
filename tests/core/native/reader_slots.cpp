// Threads that read and write two plain numbers behind ReaderSlots. It prints "kept" if no reader
// saw half a change, no change was lost, and both sides came to their end while the other was busy.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "pipeline/reader_slots.hpp"

namespace {

constexpr int READERS = 20, WRITERS = 3;  // more readers than slots
constexpr std::uint64_t TURNS = 50;

struct Guarded {
    manyclass::ReaderSlots lock;
    std::uint64_t one = 0, two = 0;  // the same number while no change is under way
    std::atomic<int> readers{0}, writers{0};  // that have not ended their turns
    std::atomic<bool> is_torn{false};
};

void read(Guarded& guarded) {
    const manyclass::Reading held(guarded.lock);
    if (guarded.one != guarded.two) guarded.is_torn = true;
}

void write(Guarded& guarded) {
    const manyclass::Writing held(guarded.lock);
    ++guarded.one;
    std::this_thread::yield();
    ++guarded.two;
}

// Take turns, and go on until the threads of the other side have ended theirs: they may not need
// that this side pauses.
template <class Turn>
void take_turns(Turn turn, Guarded& guarded, std::atomic<int>& own, const std::atomic<int>& others) {
    for (std::uint64_t done = 0; done < TURNS || others > 0; ++done) {
        turn(guarded);
        std::this_thread::yield();  // there are more threads than cores
        if (done + 1 == TURNS) --own;
    }
}

}  // namespace

int main() {
    Guarded guarded;
    guarded.readers = READERS;
    guarded.writers = WRITERS;
    std::vector<std::thread> threads;
    for (int each = 0; each < READERS; ++each)
        threads.emplace_back([&] { take_turns(read, guarded, guarded.readers, guarded.writers); });
    for (int each = 0; each < WRITERS; ++each)
        threads.emplace_back([&] { take_turns(write, guarded, guarded.writers, guarded.readers); });
    for (std::thread& thread : threads) thread.join();
    const bool is_kept = !guarded.is_torn && guarded.one == guarded.two &&
                         guarded.one >= WRITERS * TURNS && guarded.lock.try_lock();
    std::puts(is_kept ? "kept" : "broken");
    return is_kept ? 0 : 1;
}
