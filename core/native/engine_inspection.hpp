// The inspection of an engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "inspection.hpp"
#include "learners/algorithm.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/eviction.hpp"
#include "pipeline/neighbors.hpp"
#include "pipeline/replay.hpp"
#include "pipeline/state_lock.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// Inspection says what each function does.
class EngineInspection final : public Inspection {
public:
    EngineInspection(const StateLock& lock, const Tables& tables, const Algorithm& algorithm,
                     const Replay& replay, const Eviction& eviction, const Neighbors& neighbors)
        : lock_(lock),
          tables_(tables),
          algorithm_(algorithm),
          replay_(replay),
          eviction_(eviction),
          neighbors_(neighbors) {}

    Sizes sizes() const override {
        const StateLock::Read lock(lock_);
        return {tables_.features.count(), tables_.classes.count(), algorithm_.weights(),
                tables_.learned, tables_.evicted_features, tables_.evicted_classes,
                eviction_.bytes()};
    }

    std::uint64_t resident_bytes() const override {
        const StateLock::Read lock(lock_);
        return tables_.resident_bytes() + replay_.resident_bytes() + algorithm_.resident_bytes();
    }

    Work work() const override {
        const StateLock::Read lock(lock_);
        const RetrievalWork& retrieval = algorithm_.work();
        return {retrieval.active_features, retrieval.edges,
                tables_.feature_order.visited() + tables_.class_order.visited(),
                eviction_.ids_looked_at(), tables_.retired.rows_swept(), retrieval.nodes,
                algorithm_.nodes_visited()};
    }

    void outdegrees(std::int64_t* counts) const override {
        const StateLock::Read lock(lock_);
        const Outdegrees& degrees = algorithm_.outdegrees();
        std::copy(degrees.begin() + 1, degrees.end(), counts + 1);
        counts[0] = static_cast<std::int64_t>(tables_.features.count()) -
                    std::accumulate(counts + 1, counts + OUTDEGREES, std::int64_t{0});
    }

    double neighbor_weight() const override {
        const StateLock::Read lock(lock_);
        return neighbors_.weight();
    }

    bool feature(std::string_view name, Feature& feature) const override {
        const StateLock::Read lock(lock_);
        const std::uint32_t id = tables_.features.find(name);
        if (id == NO_ID) return false;
        const Row& row = tables_.postings[id];
        feature = {row.times_seen, row.mass, algorithm_.rating(row), {}};
        algorithm_.each_weight(id, [&](std::uint32_t cls, double weight) {
            feature.weights.emplace_back(std::string(tables_.classes.name(cls)), weight);
        });
        keep_heaviest(feature.weights, feature.weights.size());
        return true;
    }

    bool has_class(std::string_view name) const override {
        const StateLock::Read lock(lock_);
        return tables_.classes.find(name) != NO_ID;
    }
    bool has_feature(std::string_view name) const override {
        const StateLock::Read lock(lock_);
        return tables_.features.find(name) != NO_ID;
    }

    bool cls(std::string_view name, std::size_t limit, std::uint64_t& learned,
             Contributions& weights) const override {
        Found found;
        for (std::uint32_t begin = 0, end = 1; begin < end; begin += BLOCK) {
            const StateLock::Read lock(lock_);
            end = tables_.postings.end();
            const std::uint32_t id = tables_.classes.find(name);
            if (id == NO_ID) continue;
            for (std::uint32_t feature = begin; feature < std::min(end, begin + BLOCK); ++feature)
                if (const double weight = algorithm_.weight(feature, id); weight != 0)
                    found.emplace_back(-std::fabs(weight), feature);
        }
        const StateLock::Read lock(lock_);
        const std::uint32_t id = tables_.classes.find(name);
        if (id == NO_ID) return false;
        learned = tables_.class_records[id].learned;
        const auto kept = static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
        std::partial_sort(found.begin(), found.begin() + kept, found.end());
        found.resize(static_cast<std::size_t>(kept));
        for (auto& [order, feature] : found) order = -std::fabs(algorithm_.weight(feature, id));
        std::sort(found.begin(), found.end());
        for (const auto& [order, feature] : found)
            if (order < 0)
                weights.emplace_back(std::string(tables_.features.name(feature)),
                                     algorithm_.weight(feature, id));
        return true;
    }

    void class_page(std::string_view prefix, std::string_view after, std::size_t limit,
                    Page& page) const override {
        read_names(tables_.classes, tables_.class_order, prefix, after, limit, page,
                   [this](std::uint32_t id) { return tables_.class_records[id].learned; });
    }

    void classes_by(bool is_newest_first, std::string_view prefix, std::string_view after,
                    std::size_t limit, Page& page) const override {
        // By what the classes are ordered, then the oldest first.
        using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;
        const auto key_of = [&](std::uint32_t id) {
            const ClassRecord& record = tables_.class_records[id];
            const std::uint64_t least_first = is_newest_first ? record.creation_order : record.learned;
            return Key(~least_first, record.creation_order, id);
        };
        Key least{};
        if (!after.empty()) {
            const StateLock::Read lock(lock_);
            const std::uint32_t id = tables_.classes.find(after);
            if (id == NO_ID) return;
            least = key_of(id);
        }
        std::vector<Key> found;
        for (std::uint32_t begin = 0, end = 1; begin < end; begin += BLOCK) {
            const StateLock::Read lock(lock_);
            end = tables_.classes.end();
            for (std::uint32_t id = begin; id < std::min(end, begin + BLOCK); ++id) {
                if (!tables_.classes.alive(id)) continue;
                if (tables_.classes.name(id).substr(0, prefix.size()) != prefix) continue;
                if (const Key key = key_of(id); after.empty() || least < key) found.push_back(key);
            }
        }
        const auto kept = static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
        std::partial_sort(found.begin(), found.begin() + kept, found.end());
        found.resize(static_cast<std::size_t>(kept));
        const StateLock::Read lock(lock_);
        for (const auto& [order, created, id] : found)
            if (tables_.classes.alive(id))
                page.emplace_back(std::string(tables_.classes.name(id)),
                                  tables_.class_records[id].learned);
    }

    void feature_page(std::string_view prefix, std::string_view after, std::size_t limit,
                      Page& page) const override {
        read_names(tables_.features, tables_.feature_order, prefix, after, limit, page,
                   [this](std::uint32_t id) { return tables_.postings[id].times_seen; });
    }

    void class_ids(Columns& columns, std::int32_t* ids) const override {
        const StateLock::Read lock(lock_);
        for (std::size_t column = 0; column < columns.size(); ++column)
            ids[column] = static_cast<std::int32_t>(tables_.classes.find(columns.name(column)));
    }

private:
    static constexpr std::uint32_t BLOCK = 16384;  // rows read under one lock
    using Found = std::vector<std::pair<double, std::uint32_t>>;  // -|weight|; feature

    template <class F>
    void read_names(const Vocabulary& names, NameOrder& order, std::string_view prefix,
                    std::string_view after, std::size_t limit, Page& page, F&& count) const {
        read_page(names, order, prefix, after, limit, page,
                  [this] { return StateLock::Read(lock_); },
                  [&](std::uint32_t id) { return std::optional<std::uint64_t>(count(id)); });
    }

    const StateLock& lock_;
    const Tables& tables_;
    const Algorithm& algorithm_;
    const Replay& replay_;
    const Eviction& eviction_;
    const Neighbors& neighbors_;
};

}  // namespace manyclass
