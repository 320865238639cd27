// Postings that are packed while a long row outgrows its block: no one change may move many of them.
#include "storage/postings.hpp"

#include <algorithm>
#include <cstdio>

using namespace manyclass;

int main() {
    constexpr std::uint32_t ROWS = 60000, EDGES = 4, LONG = ROWS, LONG_EDGES = 8000, MOST = 1000;
    Postings rows;
    for (std::uint32_t feature = 0; feature <= ROWS; ++feature) rows.start(feature);
    for (std::uint32_t feature = 0; feature < ROWS; ++feature)
        for (std::uint32_t cls = 0; cls < EDGES; ++cls) rows.append(rows[feature], cls, 1);
    const auto in_half = [&](std::uint8_t half) {
        std::uint32_t count = 0;
        for (std::uint32_t feature = 0; feature < ROWS; ++feature)
            count += rows[feature].outdegree > 0 && rows[feature].half == half;
        return count;
    };
    std::uint32_t cleared = 0;  // until a quarter of the cells is free, and the first rows move
    while (in_half(1) == 0 && cleared < ROWS) rows.clear(cleared++);
    std::uint32_t most = 0, before = in_half(1), grown = 0;
    for (; in_half(0) > 0 && grown < LONG_EDGES; ++grown) {
        rows.append(rows[LONG], grown, 1);
        const std::uint32_t now = in_half(1);
        most = std::max(most, now - before);
        before = now;
    }
    for (std::uint32_t feature = cleared; feature < ROWS; ++feature)
        if (rows.edges(rows[feature]).classes[EDGES - 1] != EDGES - 1) return 1;
    std::printf("%u rows cleared, %u edges, at most %u rows moved by one\n", cleared, grown, most);
    return grown < 1000 || most > MOST;
}
