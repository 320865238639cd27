// The wire form of an instance, which events store and learners read. Little-endian.
//
//   count u32, and SIGNED if a value is below 0, and WITH_VECTOR; then for each feature:
//       header u16 = size << 1 | has_value,  name (size bytes),  value f64 when has_value, else it is 1
//   and of an instance with a vector: its numbers i16 (vector.hpp), and how many they are u16
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace manyclass {

constexpr std::size_t LONGEST_NAME = 4096;
// The range of magnitudes of values; their squares are representable too.
constexpr double LARGEST_VALUE = 1e30, SMALLEST_VALUE = 1e-30;
constexpr std::uint32_t SIGNED = 1u << 31, WITH_VECTOR = 1u << 30;
constexpr double LEAST_EXAMPLE_WEIGHT = 0.001, MOST_EXAMPLE_WEIGHT = 1000;  // as in core/event.pyx

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The first word of an instance: how many features it has, and marks.
inline std::uint32_t head_of(std::string_view instance) {
    std::uint32_t head = 0;
    if (instance.size() >= sizeof head) std::memcpy(&head, instance.data(), sizeof head);
    return head;
}

// True if a value of the instance is below 0.
inline bool is_signed(std::string_view instance) { return (head_of(instance) & SIGNED) != 0; }

inline bool has_vector(std::string_view instance) {
    return (head_of(instance) & WITH_VECTOR) != 0;
}

inline std::uint32_t feature_count(std::string_view instance) {
    return head_of(instance) & ~(SIGNED | WITH_VECTOR);
}

// The largest number of bytes of one feature.
inline std::size_t most_bytes(std::string_view name) {
    return sizeof(std::uint16_t) + name.size() + sizeof(double);
}

// Write the header of a feature; where its name goes.
inline char* write_header(char* at, std::size_t name_bytes, double value) {
    const auto header = static_cast<std::uint16_t>(name_bytes << 1 | (value != 1.0 ? 1 : 0));
    std::memcpy(at, &header, sizeof header);
    return at + sizeof header;
}

// Write what comes behind the name of a feature; where the next feature goes. A value of 1 is
// overwritten by that: the branch would be a guess.
inline char* write_value(char* at, double value) {
    std::memcpy(at, &value, sizeof value);
    return at + (value != 1.0 ? sizeof value : 0);
}

// Write a feature to memory that has room for it; where the next one goes.
inline char* write_feature(char* at, std::string_view name, double value) {
    at = write_header(at, name.size(), value);
    std::memcpy(at, name.data(), name.size());
    return write_value(at + name.size(), value);
}

// The same of a name of at most SHORT_NAME bytes, in memory that is as long, to memory that has
// room for it with such a name: the length of the copy is known.
constexpr std::size_t SHORT_NAME = 16;
inline char* write_short(char* at, std::string_view name, double value) {
    at = write_header(at, name.size(), value);
    std::memcpy(at, name.data(), SHORT_NAME);
    return write_value(at + name.size(), value);
}

inline void put_feature(std::string& out, std::string_view name, double value) {
    const std::size_t begin = out.size();
    out.resize(begin + most_bytes(name));
    const char* const end = write_feature(&out[begin], name, value);
    out.resize(static_cast<std::size_t>(end - out.data()));
}

// Walks over the features of an instance; its bytes must outlive it.
class FeatureReader {
public:
    explicit FeatureReader(std::string_view instance)
        : at_(instance.data()), end_(at_ + instance.size()) {
        left_ = take<std::uint32_t>() & ~(SIGNED | WITH_VECTOR);
    }

    std::uint32_t left() const { return left_; }

    // Move to the next feature; false at the end, or if the bytes are not a feature.
    bool next() {
        if (left_ == 0) return false;
        const auto header = take<std::uint16_t>();
        const std::size_t size = header >> 1;
        if (broken_ || size == 0 || static_cast<std::size_t>(end_ - at_) < size) return fail();
        name_ = {at_, size};
        at_ += size;
        if (!take_value(header & 1)) return fail();
        --left_;
        return true;
    }

    std::string_view name() const { return name_; }
    double value() const { return value_; }
    // After the last feature: true if the bytes are whole features, with so many bytes behind them.
    bool whole(std::size_t behind = 0) const {
        return !broken_ && left_ == 0 && static_cast<std::size_t>(end_ - at_) == behind;
    }

private:
    template <class T>
    T take() {
        T value{};
        if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
            broken_ = true;
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    // Read the value of a feature, 1 if it has none. Except at the last bytes this has no branch,
    // which would be mispredicted.
    bool take_value(bool is_there) {
        std::uint64_t bits;
        if (static_cast<std::size_t>(end_ - at_) < sizeof bits) {
            value_ = is_there ? take<double>() : 1.0;
            return !broken_;
        }
        std::memcpy(&bits, at_, sizeof bits);
        const std::uint64_t mask = -static_cast<std::uint64_t>(is_there);
        bits = (bits & mask) | (BITS_OF_ONE & ~mask);
        std::memcpy(&value_, &bits, sizeof bits);
        at_ += sizeof bits & mask;
        return true;
    }

    bool fail() {
        broken_ = true;
        return false;
    }

    static constexpr std::uint64_t BITS_OF_ONE = 0x3ff0000000000000u;

    const char* at_;
    const char* end_;
    std::uint32_t left_ = 0;
    bool broken_ = false;
    std::string_view name_;
    double value_ = 1.0;
};

}  // namespace manyclass
