// Rows of named values as CSR arrays: each new name takes the next number.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "storage/arena.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

class NamedRows {
public:
    NamedRows() : names_(0) { end_row(); }

    // Add a value to the row at the end.
    void add(std::string_view name, double value) { add(name, names_.hash(name), value); }

    void end_row() { indptr_.append(static_cast<std::int64_t>(indices_.size())); }

    // Add an instance as a row, and end it. The table of names is prefetched.
    void add_instance(std::string_view instance) {
        found_.clear();
        FeatureReader features(instance);
        while (features.next()) {
            found_.push_back({features.name(), names_.hash(features.name()), features.value()});
            names_.prefetch(found_.back().hash);
        }
        for (std::size_t at = 0; at < found_.size(); ++at) {
            fetch_span(at + 2 * AHEAD);
            fetch_name(at + AHEAD);
            add(found_[at].name, found_[at].hash, found_[at].value);
        }
        end_row();
    }

    std::size_t name_count() const { return names_.end(); }
    std::string_view name(std::size_t id) const {
        return names_.name(static_cast<std::uint32_t>(id));
    }
    std::size_t row_count() const { return indptr_.size() - 1; }
    std::size_t size() const { return indices_.size(); }
    const std::int64_t* indptr() const { return indptr_.data(); }
    const std::int32_t* indices() const { return indices_.data(); }
    const float* values() const { return values_.data(); }

private:
    static constexpr std::size_t AHEAD = 8;  // names, while memory is read
    static constexpr std::uint32_t MOST_NAMES = std::numeric_limits<std::int32_t>::max();

    struct Found {
        std::string_view name;
        std::uint64_t hash;
        double value;
    };

    void add(std::string_view name, std::uint64_t hash, double value) {
        std::uint32_t id = names_.find(name, hash);
        if (id == NO_ID) {
            if (names_.end() >= MOST_NAMES) throw std::length_error("too many names for a table");
            id = names_.add(name);
        }
        indices_.append(static_cast<std::int32_t>(id));
        values_.append(static_cast<float>(value));
    }

    void fetch_span(std::size_t at) const {
        if (at >= found_.size()) return;
        const std::uint32_t id = names_.candidate(found_[at].hash);
        if (id != NO_ID) names_.prefetch_span(id);
    }

    void fetch_name(std::size_t at) const {
        if (at >= found_.size()) return;
        const std::uint32_t id = names_.candidate(found_[at].hash);
        if (id != NO_ID) names_.prefetch_name(id);
    }

    Vocabulary names_;
    Arena<std::int64_t> indptr_;
    Arena<std::int32_t> indices_;
    Arena<float> values_;
    std::vector<Found> found_;  // of the instance that is added
};

}  // namespace manyclass
