// The features of an instance while it is read: names, made unique, and the sums of their values.
//
//   slots_     [ tag | place+1 ][ 0 ][ tag | place+1 ] ...
//                        |
//   features_  [ name, key, value ] ...      in the order of their first occurrence
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// A key with this bit is a hash, and names with equal keys have to be compared.
constexpr std::uint64_t IS_HASH = std::uint64_t{1} << 63;

class FeatureTable {
public:
    struct Feature {
        std::string_view name;
        std::uint64_t key;
        double value;
    };

    // The key of any name. No client foresees which names have equal ones, and no result depends
    // on it.
    std::uint64_t key_of(std::string_view name) const { return hash_name(name, seed_) | IS_HASH; }

    std::size_t size() const { return features_.size(); }
    std::vector<Feature>& features() { return features_; }

    // Forget all features, and give back the memory of many.
    void clear() {
        constexpr std::size_t MOST_KEPT = 65'536;
        features_.clear();
        if (features_.capacity() > MOST_KEPT) std::vector<Feature>().swap(features_);
        if (slots_.capacity() > 4 * MOST_KEPT) std::vector<Slot>().swap(slots_);
    }

    // Begin to merge: the features from the present end on are apart from those before it.
    void begin(std::size_t expected) {
        first_ = features_.size();
        std::size_t size = 64;
        while (size < expected * 2) size *= 2;
        slots_.assign(size, Slot{0, 0});
    }

    // Add to the value of the feature with this key for which `is_same(name)`, if there is one.
    template <class IsSame>
    bool add(std::uint64_t key, double value, IsSame&& is_same) {
        hash_ = mix(key ^ seed_, HASHED);
        at_ = hash_ & (slots_.size() - 1);
        for (; slots_[at_].place_1 != 0; at_ = (at_ + 1) & (slots_.size() - 1)) {
            if (slots_[at_].tag != tag_of(hash_)) continue;
            Feature& feature = features_[slots_[at_].place_1 - 1];
            if (feature.key != key || ((key & IS_HASH) && !is_same(feature.name))) continue;
            feature.value += value;
            return true;
        }
        return false;
    }

    // Append the feature that `add` did not find just before.
    void append(std::string_view name, std::uint64_t key, double value) {
        features_.push_back({name, key, value});
        slots_[at_] = {tag_of(hash_), static_cast<std::uint32_t>(features_.size())};
        if ((features_.size() - first_) * 2 > slots_.size()) grow();
    }

    // Write the instance in wire form, as stored by Instance, without values of a size below
    // SMALLEST_VALUE; return how many are left. SHORT_NAME bytes of memory may be read at each name
    // that begins before `padded`.
    std::uint32_t write(std::string& out, const char* padded = nullptr) const {
        std::uint32_t count = 0, sign = 0;
        std::size_t room = sizeof count;
        for (const Feature& feature : features_) room += most_bytes(feature.name);
        out.resize(room + SHORT_NAME);  // once, not as it grows
        char* at = &out[sizeof count];
        for (const Feature& feature : features_) {
            if (!(feature.value >= SMALLEST_VALUE)) {
                if (!(feature.value <= -SMALLEST_VALUE)) continue;
                sign = SIGNED;
            }
            const bool is_short = feature.name.size() <= SHORT_NAME &&
                                  (padded == nullptr || feature.name.data() <= padded);
            at = is_short ? write_short(at, feature.name, feature.value)
                          : write_feature(at, feature.name, feature.value);
            ++count;
        }
        const std::uint32_t begin = count | sign;
        std::memcpy(&out[0], &begin, sizeof begin);
        out.resize(static_cast<std::size_t>(at - out.data()));
        return count;
    }

private:
    struct Slot {
        std::uint32_t tag, place_1;
    };

    static constexpr std::uint64_t HASHED = 0x9e3779b97f4a7c15ull;

    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

    void grow() {
        const std::size_t size = slots_.size() * 4;
        slots_.assign(size, Slot{0, 0});
        for (std::size_t place = first_; place < features_.size(); ++place) {
            const std::uint64_t hash = mix(features_[place].key ^ seed_, HASHED);
            std::size_t at = hash & (size - 1);
            while (slots_[at].place_1 != 0) at = (at + 1) & (size - 1);
            slots_[at] = {tag_of(hash), static_cast<std::uint32_t>(place + 1)};
        }
    }

    static std::uint64_t random_seed() {
        std::random_device device;
        return std::uint64_t{device()} << 32 | device();
    }

    std::uint64_t seed_ = random_seed();
    std::vector<Feature> features_;
    std::vector<Slot> slots_;
    std::size_t first_ = 0;   // merged features begin here
    std::uint64_t hash_ = 0;  // of the last `add`
    std::size_t at_ = 0;      // its slot
};

}  // namespace manyclass
