// A growable run of plain values, addressed by offset so that it may move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "pipeline/memory_reserve.hpp"

namespace manyclass {

// Grows by an eighth: for large runs realloc moves pages, not bytes, so small steps cost little and
// waste little. Values are not initialised.
template <class T>
class Arena {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    Arena(Arena&& other) noexcept { swap(other); }
    Arena& operator=(Arena&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Arena() { std::free(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t resident_bytes() const { return capacity_ * sizeof(T); }
    T& operator[](std::size_t at) { return data_[at]; }
    const T& operator[](std::size_t at) const { return data_[at]; }

    // Make room for `count` more values and return the offset of the first.
    std::size_t extend(std::size_t count) {
        const std::size_t at = size_;
        if (at + count > capacity_ && !try_reserve(at + count + (at + count) / 8 + 16))
            reserve(at + count);
        size_ = at + count;
        return at;
    }

    void append(const T& value) {
        const T copy = value;  // it may live in the run that moves
        const std::size_t at = extend(1);
        data_[at] = copy;
    }

    // Take the last `count` values away; their room stays.
    void shrink(std::size_t count) { size_ -= count; }

    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        while (!try_reserve(capacity))
            if (!Reserve::release()) throw std::bad_alloc();
    }

    // The same without the reserve; false when the system has no memory. Not inlined: GCC takes a
    // second try for a use of what the first has freed.
    [[gnu::noinline]] bool try_reserve(std::size_t capacity) {
        if (capacity <= capacity_) return true;
        void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (moved == nullptr) return false;
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
        return true;
    }

    // Give room for so many values back to the system; there is more than that to spare.
    void give_back(std::size_t count) {
        void* moved = std::realloc(static_cast<void*>(data_), (capacity_ - count) * sizeof(T));
        if (moved == nullptr) return;  // it stays as it is
        data_ = static_cast<T*>(moved);
        capacity_ -= count;
    }

    void swap(Arena& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace manyclass
