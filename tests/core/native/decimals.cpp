// Reads the bits of a number a line and writes the number as JSON.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "text/number.hpp"

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const std::uint64_t bits = std::stoull(line, nullptr, 16);
        double value;
        std::memcpy(&value, &bits, sizeof value);
        std::string text;
        manyclass::append_double(text, value);
        std::puts(text.c_str());
    }
}
