// Memory that a reader keeps from text to text, unless it is much.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/wire.hpp"

namespace manyclass {

// Names in blocks that stay where they are.
class NameStore {
public:
    static constexpr std::size_t BLOCK = 65'536;

    // Return memory for a name of `size` bytes, with SHORT_NAME more behind it; `keep` takes it.
    char* room(std::size_t size) {
        if (blocks_.empty() || used_ + size + SHORT_NAME > BLOCK) {
            blocks_.emplace_back(new char[BLOCK]);
            used_ = 0;
        }
        return blocks_.back().get() + used_;
    }

    void keep(std::size_t size) { used_ += size; }

    void clear() {
        if (blocks_.size() > 1) blocks_.resize(1);
        used_ = 0;
    }

private:
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t used_ = 0;
};

// Values end to end.
template <class Value>
class Pile {
public:
    std::size_t size() const { return count_; }
    const Value* data() const { return values_.data(); }
    Value& operator[](std::size_t index) { return values_[index]; }
    const Value& operator[](std::size_t index) const { return values_[index]; }

    // Return memory for `count` more values, which `keep` takes. Addresses of other values change.
    Value* room(std::size_t count) {
        if (count_ + count > values_.size()) values_.resize((count_ + count) * 2);
        return values_.data() + count_;
    }

    void keep(std::size_t count) { count_ += count; }

    void add(const Value& value) {
        *room(1) = value;
        ++count_;
    }

    void clear() {
        constexpr std::size_t MOST_KEPT = 65'536;
        if (values_.size() > MOST_KEPT) std::vector<Value>().swap(values_);
        count_ = 0;
    }

private:
    std::vector<Value> values_;
    std::size_t count_ = 0;
};

}  // namespace manyclass
