// Pseudorandom numbers that follow from a seed and a number alone: BLAKE2b (RFC 7693) of both, with a
// digest of 8 bytes and the purpose of the draw as its personalization.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace manyclass {

// One block of BLAKE2b is enough for 16 bytes.
class Draw {
public:
    // Purposes have at most 16 bytes.
    explicit Draw(std::string_view purpose) : start_(IV) {
        constexpr std::uint64_t ONE_LEAF_OF_8_BYTES = 0x01010008;
        std::array<char, 16> person{};
        std::memcpy(person.data(), purpose.data(), purpose.size());
        start_[0] ^= ONE_LEAF_OF_8_BYTES;
        start_[6] ^= word(person.data());
        start_[7] ^= word(person.data() + 8);
    }

    std::uint64_t operator()(std::uint64_t seed, std::uint64_t number) const {
        constexpr std::uint64_t BYTES = 16;
        const std::array<std::uint64_t, 16> message{seed, number};
        std::array<std::uint64_t, 16> v;
        for (std::size_t i = 0; i < 8; ++i) {
            v[i] = start_[i];
            v[i + 8] = IV[i];
        }
        v[12] ^= BYTES;
        v[14] = ~v[14];  // the block is the last
        for (std::size_t round = 0; round < 12; ++round) {
            const std::array<std::uint8_t, 16>& order = ORDERS[round % 10];
            const auto mix = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d,
                                 std::size_t pair) {
                v[a] += v[b] + message[order[2 * pair]];
                v[d] = rotated(v[d] ^ v[a], 32);
                v[c] += v[d];
                v[b] = rotated(v[b] ^ v[c], 24);
                v[a] += v[b] + message[order[2 * pair + 1]];
                v[d] = rotated(v[d] ^ v[a], 16);
                v[c] += v[d];
                v[b] = rotated(v[b] ^ v[c], 63);
            };
            for (std::size_t i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, i);
            for (std::size_t i = 0; i < 4; ++i)
                mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, i + 4);
        }
        return start_[0] ^ v[0] ^ v[8];
    }

private:
    static std::uint64_t word(const char* bytes) {
        std::uint64_t value;
        std::memcpy(&value, bytes, sizeof value);
        return value;
    }
    static std::uint64_t rotated(std::uint64_t word, unsigned right) {
        return word >> right | word << (64 - right);
    }

    static constexpr std::array<std::uint64_t, 8> IV{
        0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    static constexpr std::array<std::array<std::uint8_t, 16>, 10> ORDERS{{
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    }};

    std::array<std::uint64_t, 8> start_;
};

}  // namespace manyclass
