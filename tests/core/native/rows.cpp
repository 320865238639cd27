// Postings that are emptied and filled again while their cells move to and fro. An empty row must point
// to the begin of the cells: other addresses are gone when their half of the cells is released.
#include "storage/postings.hpp"

#include <cstdio>

using namespace manyclass;

int main() {
    constexpr std::uint32_t ROWS = 20000, EDGES = 8, ROUNDS = 6;
    Postings rows;
    for (std::uint32_t feature = 0; feature < ROWS; ++feature) rows.start(feature);
    for (std::uint32_t round = 0; round < ROUNDS; ++round) {
        for (std::uint32_t feature = 0; feature < ROWS; ++feature)
            for (std::uint32_t cls = 0; cls < EDGES; ++cls)
                rows.append(rows[feature], cls, static_cast<float>(feature));
        for (std::uint32_t feature = 0; feature < ROWS; ++feature) {
            Row& row = rows[feature];
            const Postings::Edges edge = rows.edges(row);
            if (edge.classes[EDGES - 1] != EDGES - 1 || edge.masses[0] != static_cast<float>(feature))
                return 1;
            while (row.outdegree > 0) rows.drop_last(row);
            rows.shrink(row);
            if (row.at != 0 || row.half != 0) return 1;
        }
    }
    if (rows.edges() != 0) return 1;
    std::puts("kept");
}
