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

// Small blocks come in four sizes an octave: a block that was freed fits the next one of its size.
// Blocks of any size, moved when they grow or shrink a little, leave holes as large as all of them.
constexpr std::size_t SMALL_BLOCK = 1 << 16;  // bytes
inline std::size_t size_class_bytes(std::size_t bytes) {
    if (bytes >= SMALL_BLOCK) return bytes;
    std::size_t octave = 64;
    while (octave < bytes) octave *= 2;
    const std::size_t step = octave / 8;
    return (bytes + step - 1) / step * step;
}

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
        capacity = size_class_bytes(capacity * sizeof(T)) / sizeof(T);
        void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (moved == nullptr) return false;
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
        return true;
    }

    // Give room for so many values back to the system; there is more than that to spare.
    void give_back(std::size_t count) {
        const std::size_t capacity = size_class_bytes((capacity_ - count) * sizeof(T)) / sizeof(T);
        if (capacity >= capacity_) return;
        const bool is_small = capacity_ * sizeof(T) < SMALL_BLOCK;
        void* moved = is_small ? std::malloc(capacity * sizeof(T))
                               : std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (moved == nullptr) return;  // it stays as it is
        if (is_small) {  // shrunk in place, it would leave a hole behind it
            std::memcpy(moved, static_cast<const void*>(data_), size_ * sizeof(T));
            std::free(data_);
        }
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
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
