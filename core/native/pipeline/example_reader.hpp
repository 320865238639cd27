// Reads the active features of an instance, from wire form or a row of CSR arrays, and prefetches
// the memory of the next step: slots, rows and names are far apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/columns.hpp"
#include "pipeline/example.hpp"
#include "pipeline/wire.hpp"
#include "storage/tables.hpp"

namespace manyclass {

class ExampleReader {
public:
    // `most_edges`: the largest number of edges that a ranking reads of a row. Without
    // `takes_signs`, values below 0 are absent.
    ExampleReader(const Tables& tables, std::uint32_t most_edges, bool takes_signs)
        : features_(tables.features),
          postings_(tables.postings),
          most_edges_(most_edges),
          takes_signs_(takes_signs) {}

    void read_wire(std::vector<ActiveFeature>& active, std::string_view instance) const {
        active.clear();
        FeatureReader reader(instance);
        while (reader.next()) {
            // Field by field: a copy of the struct would wait for the stores of its fields.
            ActiveFeature& read = active.emplace_back();
            read.feature = NO_ID;
            read.value = reader.value();
            read.name = reader.name();
            read.hash = features_.hash(read.name);
            features_.prefetch(read.hash);
        }
        if (!takes_signs_ && is_signed(instance)) drop_below_0(active);
        for (ActiveFeature& each : active) {
            each.feature = features_.candidate(each.hash);
            if (each.feature == NO_ID) continue;
            features_.prefetch_span(each.feature);
            postings_.prefetch(each.feature);
        }
        for (const ActiveFeature& each : active)
            if (each.feature != NO_ID) features_.prefetch_name(each.feature);
        for (ActiveFeature& each : active)
            if (each.feature != NO_ID && features_.name(each.feature) != each.name)
                each.feature = features_.find(each.name, each.hash);
        prefetch_edges(active);
    }

    // Edges are not prefetched here.
    void read_csr(std::vector<ActiveFeature>& active, const CsrRows& rows, std::int64_t row) const {
        active.clear();
        const CsrRows from = rows;  // a copy stays in registers while `active` grows
        const std::int64_t end = from.indptr[row + 1];
        for (std::int64_t at = from.indptr[row]; at < end; ++at) {
            if (!(from.values[at] >= SMALLEST_VALUE) &&
                !(takes_signs_ && from.values[at] <= -SMALLEST_VALUE))
                continue;
            const auto column = static_cast<std::uint32_t>(from.indices[at]);
            const std::uint32_t feature = from.columns->id(column, features_);
            std::string_view name;
            if (feature != NO_ID) postings_.prefetch(feature);
            else name = from.columns->name(column);
            active.push_back({feature, column, static_cast<double>(from.values[at]), 0, name});
        }
    }

    // Prefetch the ids of the columns of a row, if it exists; call `read_csr` for it soon.
    static void prefetch_ids(const CsrRows& rows, std::int64_t row) {
        if (row >= rows.count) return;
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at)
            rows.columns->prefetch(static_cast<std::uint32_t>(rows.indices[at]));
    }

    // Prefetch the rows of the tables, by the ids that `prefetch_ids` fetched.
    void prefetch_rows(const CsrRows& rows, std::int64_t row) const {
        if (row >= rows.count) return;
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at)
            if (const std::uint32_t feature =
                    rows.columns->id_before(static_cast<std::uint32_t>(rows.indices[at]));
                feature < features_.end())
                postings_.prefetch(feature);
    }

    void prefetch_edges(const std::vector<ActiveFeature>& active) const {
        for (const ActiveFeature& each : active)
            if (each.feature != NO_ID)
                postings_.prefetch_edges(postings_[each.feature], most_edges_);
    }

private:
    static void drop_below_0(std::vector<ActiveFeature>& active) {
        active.erase(std::remove_if(active.begin(), active.end(),
                                    [](const ActiveFeature& each) { return each.value < 0; }),
                     active.end());
    }

    const Vocabulary& features_;
    const Postings& postings_;
    const std::uint32_t most_edges_;
    const bool takes_signs_;
};

}  // namespace manyclass
