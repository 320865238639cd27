// Rows of CSR arrays as the parts of a committee read them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "pipeline/columns.hpp"
#include "pipeline/wire.hpp"

namespace manyclass {

// Rows with columns of their own for each part of an ensemble: its table, then its members.
class RowsOfParts {
public:
    RowsOfParts(const CsrRows& rows, std::size_t parts) : parts_(parts, rows) {
        for (std::size_t part = 0; part < parts; ++part)
            parts_[part].columns = &rows.columns->of_part(part);
    }

    const CsrRows& of_table() const { return parts_[0]; }
    const CsrRows& of_member(std::size_t member) const { return parts_[1 + member]; }
    std::int64_t count() const { return parts_[0].count; }

    // A row in wire form.
    std::string instance(std::int64_t row) const {
        const CsrRows& rows = parts_[0];
        std::string wire(sizeof(std::uint32_t), '\0');
        std::uint32_t count = 0, sign = 0;
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at) {
            const auto value = static_cast<double>(rows.values[at]);
            if (!(std::fabs(value) >= SMALLEST_VALUE)) continue;
            put_feature(wire, rows.columns->name(static_cast<std::size_t>(rows.indices[at])), value);
            if (value < 0) sign = SIGNED;
            ++count;
        }
        count |= sign;
        std::memcpy(wire.data(), &count, sizeof count);
        return wire;
    }

private:
    std::vector<CsrRows> parts_;
};

// Labelled rows, to be learned. The table learns their classes, but of instances without features.
class LabelledRows {
public:
    LabelledRows(const CsrRows& rows, const CsrRows& classes, std::size_t parts)
        : rows(rows, parts),
          classes(classes, parts),
          zeros_(static_cast<std::size_t>(rows.count) + 1, 0) {
        without_features = this->rows.of_table();
        without_features.indptr = zeros_.data();
    }
    LabelledRows(const LabelledRows&) = delete;
    LabelledRows& operator=(const LabelledRows&) = delete;

    const RowsOfParts rows, classes;
    CsrRows without_features;  // as many rows

private:
    const std::vector<std::int64_t> zeros_;
};

}  // namespace manyclass
