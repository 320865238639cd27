// Reads a number a line and writes its bits, or - for none.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "text/number.hpp"

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        double value = 0;
        std::uint64_t bits;
        if (!manyclass::read_double(line, value)) {
            std::puts("-");
            continue;
        }
        std::memcpy(&bits, &value, sizeof bits);
        std::printf("%016" PRIx64 "\n", bits);
    }
}
