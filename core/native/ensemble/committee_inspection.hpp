// The inspection of a committee: sums and means over its members, and its table of classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ensemble/member.hpp"
#include "inspection.hpp"
#include "pipeline/state_lock.hpp"

namespace manyclass {

// Weights by name, summed, in the order in which the names came.
class WeightSums {
public:
    void add(const std::string& name, double weight) {
        const auto [found, is_new] = positions_.try_emplace(name, sums_.size());
        if (is_new) sums_.emplace_back(name, weight);
        else sums_[found->second].second += weight;
    }

    Contributions heaviest(std::size_t limit) && {
        keep_heaviest(sums_, limit);
        return std::move(sums_);
    }

    std::size_t size() const { return sums_.size(); }

private:
    Contributions sums_;
    std::unordered_map<std::string, std::size_t> positions_;
};

// Features are those of the member with most. The other sizes, evictions and work are sums over the
// members; ratings, masses and weights are means, a member without a weight having one of 0.
// Classes, and how often they were learned, are those of the table.
class CommitteeInspection final : public Inspection {
public:
    CommitteeInspection(const StateLock& lock, const Engine& table,
                        const std::vector<Member>& members)
        : lock_(lock), table_(table.inspection()), members_(members) {}

    Sizes sizes() const override {
        const StateLock::Read lock(lock_);
        const Sizes of_table = table_.sizes();
        Sizes all{0, of_table.classes, 0, of_table.learned, 0, of_table.evicted_classes,
                  of_table.bytes};
        for (const Member& each : members_) {
            const Sizes own = inspection_of(each).sizes();
            all.features = std::max(all.features, own.features);
            all.edges += own.edges;
            all.evicted_features += own.evicted_features;
            all.evicted_classes += own.evicted_classes;
            all.bytes += own.bytes + each.waiting().bytes();
        }
        return all;
    }

    std::uint64_t resident_bytes() const override {
        const StateLock::Read lock(lock_);
        std::uint64_t bytes = table_.resident_bytes();
        for (const Member& each : members_)
            bytes += inspection_of(each).resident_bytes() + each.waiting().bytes();
        return bytes;
    }

    Work work() const override {
        Work all{};
        for (const Member& each : members_) {
            const Work own = inspection_of(each).work();
            all.active_features_ranked += own.active_features_ranked;
            all.edges_touched += own.edges_touched;
            all.names_visited += own.names_visited;
            all.ids_looked_at += own.ids_looked_at;
            all.rows_swept += own.rows_swept;
            all.nodes_opened += own.nodes_opened;
            all.nodes_visited += own.nodes_visited;
        }
        return all;
    }

    void outdegrees(std::int64_t* counts) const override {
        std::vector<std::int64_t> own(OUTDEGREES);
        std::fill(counts, counts + OUTDEGREES, 0);
        for (const Member& each : members_) {
            inspection_of(each).outdegrees(own.data());
            for (std::size_t at = 0; at < OUTDEGREES; ++at) counts[at] += own[at];
        }
    }

    double neighbor_weight() const override {
        double sum = 0;
        for (const Member& each : members_) sum += inspection_of(each).neighbor_weight();
        return sum / count();
    }

    bool feature(std::string_view name, Feature& feature) const override {
        feature = {0, 0, 0, {}};
        WeightSums weights;
        bool is_known = false;
        for (const Member& each : members_) {
            Feature own;
            if (!inspection_of(each).feature(name, own)) continue;
            is_known = true;
            feature.times_seen = std::max(feature.times_seen, own.times_seen);
            feature.mass += own.mass;
            feature.rating += own.rating;
            for (const auto& [cls, weight] : own.weights) weights.add(cls, weight / count());
        }
        feature.mass /= count();
        feature.rating /= count();
        feature.weights = std::move(weights).heaviest(weights.size());
        return is_known;
    }

    // A class of an event that waits, or of one that the table has evicted, is there too.
    bool has_class(std::string_view name) const override {
        const StateLock::Read lock(lock_);
        return table_.has_class(name) ||
               std::any_of(members_.begin(), members_.end(),
                           [&](const Member& each) { return each.has_class(name); });
    }
    bool has_feature(std::string_view name) const override {
        const StateLock::Read lock(lock_);
        return std::any_of(members_.begin(), members_.end(),
                           [&](const Member& each) { return each.has_feature(name); });
    }

    bool cls(std::string_view name, std::size_t limit, std::uint64_t& learned,
             Contributions& weights) const override {
        Contributions none;
        if (!table_.cls(name, 0, learned, none)) return false;
        WeightSums sums;
        for (const Member& each : members_) {
            std::uint64_t own_learned;
            Contributions own;
            inspection_of(each).cls(name, ALL, own_learned, own);
            for (const auto& [feature, weight] : own) sums.add(feature, weight / count());
        }
        weights = std::move(sums).heaviest(limit);
        return true;
    }

    void class_page(std::string_view prefix, std::string_view after, std::size_t limit,
                    Page& page) const override {
        table_.class_page(prefix, after, limit, page);
    }

    void classes_by(bool is_newest_first, std::string_view prefix, std::string_view after,
                    std::size_t limit, Page& page) const override {
        table_.classes_by(is_newest_first, prefix, after, limit, page);
    }

    // With the most times that a member has seen each feature.
    void feature_page(std::string_view prefix, std::string_view after, std::size_t limit,
                      Page& page) const override {
        std::map<std::string, std::uint64_t> times;
        for (const Member& each : members_) {
            Page own;
            inspection_of(each).feature_page(prefix, after, limit, own);
            for (const auto& [name, seen] : own) times[name] = std::max(times[name], seen);
        }
        for (const auto& each : times) {
            if (page.size() == limit) break;
            page.push_back(each);
        }
    }

    void class_ids(Columns& columns, std::int32_t* ids) const override {
        table_.class_ids(columns, ids);
    }

private:
    static constexpr std::size_t ALL = static_cast<std::size_t>(-1);

    static const Inspection& inspection_of(const Member& member) {
        return member.engine().inspection();
    }
    double count() const { return static_cast<double>(members_.size()); }

    const StateLock& lock_;
    const Inspection& table_;
    const std::vector<Member>& members_;
};

}  // namespace manyclass
