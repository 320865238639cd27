// Byte strings that come and go in order, end to end in blocks:
//
//     blocks_   [ .... oldest ... ]  [ ............. ]  [ ... newest .... ]
//                     begin      end  begin        end   begin     end
//
// Memory for each of them alone would cost more than the copy, and leave holes. A long string has
// memory of its own, so that the unused end of a block is a small part of it.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

namespace manyclass {

// Ownership: the strings are the queue's; their addresses stay until they are popped.
// Threads: one at a time.
class ByteQueue {
public:
    static constexpr std::size_t BLOCK = std::size_t{1} << 18, LONG = BLOCK / 64;  // bytes

    // Append a string of at least one byte, for the caller to write. Throws std::bad_alloc, with
    // nothing changed.
    char* push(std::size_t size) {
        if (size >= LONG)
            return long_.emplace_back(std::unique_ptr<char[]>(new char[size])).get();
        if (blocks_.empty() || BLOCK - blocks_.back().end < size) add_block();
        Block& block = blocks_.back();
        char* const at = block.bytes.get() + block.end;
        block.end += size;
        return at;
    }

    // Remove the newest string, of this size.
    void pop_newest(std::size_t size) {
        if (size >= LONG) return long_.pop_back();
        Block& block = blocks_.back();
        block.end -= size;
        if (block.begin != block.end) return;
        spare_ = std::move(block.bytes);
        blocks_.pop_back();
    }

    // Remove the oldest string, of this size.
    void pop_oldest(std::size_t size) {
        if (size >= LONG) return long_.pop_front();
        Block& block = blocks_.front();
        block.begin += size;
        if (block.begin != block.end) return;
        spare_ = std::move(block.bytes);
        blocks_.pop_front();
    }

private:
    struct Block {
        std::unique_ptr<char[]> bytes;
        std::size_t begin = 0, end = 0;
    };

    void add_block() {
        if (spare_ == nullptr) spare_.reset(new char[BLOCK]);
        blocks_.emplace_back();
        blocks_.back().bytes = std::move(spare_);
    }

    std::deque<Block> blocks_;  // none is empty
    std::unique_ptr<char[]> spare_;
    std::deque<std::unique_ptr<char[]>> long_;
};

}  // namespace manyclass
