// Reserved memory, with which a change of a learner that has begun is finished even if the system
// has no memory left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

namespace manyclass {

// A change begins with `refill`, which throws std::bad_alloc before anything changed. If an
// allocation fails later, the reserve is freed and the allocation is tried again, by the new
// handler (`operator new`) and by Arena (`realloc`). The pages of the reserve are never touched:
// they take address space, not memory. Threads: any; all learners of a process share one reserve.
class Reserve {
public:
    // More than one event allocates: large runs grow in place, and their packing can wait.
    static constexpr std::size_t BYTES = std::size_t{64} << 20;

    static void refill() {
        if (!try_refill()) throw std::bad_alloc();
    }

    // Like `refill`, but return false without memory.
    static bool try_refill() {
        if (block().load(std::memory_order_relaxed) != nullptr) return true;
        static std::once_flag once;
        std::call_once(once, [] { previous() = std::set_new_handler(on_failure); });
        void* const made = std::malloc(BYTES);
        if (made == nullptr) return false;
        void* none = nullptr;
        if (!block().compare_exchange_strong(none, made)) std::free(made);  // another was faster
        return true;
    }

    // Free the reserve; false if it was freed already.
    static bool release() {
        void* const given = block().exchange(nullptr);
        std::free(given);
        return given != nullptr;
    }

private:
    static std::atomic<void*>& block() {
        static std::atomic<void*> block{nullptr};
        return block;
    }

    static std::new_handler& previous() {
        static std::new_handler previous = nullptr;
        return previous;
    }

    static void on_failure() {
        if (release()) return;
        if (previous() == nullptr) throw std::bad_alloc();
        previous()();
    }
};

}  // namespace manyclass
