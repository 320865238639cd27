// Operating points of the kept outcomes: of all, by the class ranked first, and by the source.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calibration.hpp"
#include "kept_outcomes.hpp"
#include "operating_points.hpp"

namespace manyclass {

// The name of an outcome that is the key of its group.
enum class GroupedBy { cls, source };

// The points of a curve, the highest limit first. `groups` counts, for each point, the different
// classes ranked first at or above its limit.
struct OutcomeCurve {
    std::uint64_t outcomes = 0, right = 0;
    std::vector<OperatingPoint> points;
    std::vector<std::uint32_t> groups;
};

// The outcomes with one key: for each target the point of its least limit, with 0 answers if there
// is none, and the best point.
struct OutcomeGroup {
    std::uint32_t id = NO_ID;
    std::uint64_t outcomes = 0, right = 0;
    std::vector<OperatingPoint> reached;
    OperatingPoint best{0, 0, 0};
};

// A former name of a class, and its present one.
using Alias = std::pair<std::string, std::string>;

// Reads the newest outcomes, at most `newest`, under the present names of renamed classes.
//
// Ownership: outcomes and aliases are the caller's; neither may change meanwhile.
class OutcomeGroups {
public:
    OutcomeGroups(const KeptOutcomes& kept, std::size_t newest, const std::vector<Alias>& aliases)
        : kept_(kept),
          present_(kept.ids_end()),
          begin_(kept.size() - std::min(kept.size(), newest)) {
        std::iota(present_.begin(), present_.end(), 0u);
        std::unordered_map<std::string_view, std::uint32_t> ids;  // of present names
        for (const auto& [former, now] : aliases) {
            const std::uint32_t id = kept.id(former);
            if (id == NO_ID) continue;
            std::uint32_t present = kept.id(now);
            if (present == NO_ID) present = ids.emplace(now, id).first->second;
            present_[id] = present;
            renamed_.emplace(present, now);
        }
    }

    // The present name of the class of a group, or the source.
    std::string_view name(GroupedBy by, std::uint32_t id) const {
        const auto found = renamed_.find(id);
        const bool is_renamed = by == GroupedBy::cls && found != renamed_.end();
        return is_renamed ? found->second : kept_.name(id);
    }

    OutcomeCurve curve() const {
        constexpr std::size_t LIMITS = LimitCounts::LIMITS;
        LimitCounts counts;
        std::vector<std::int16_t> highest(kept_.ids_end(), -1);  // limit that a class reached
        for (std::size_t at = begin_; at < kept_.size(); ++at) {
            const KeptOutcome& each = kept_[at];
            counts.add(each.confidence, each.is_right);
            if (each.cls == NO_ID || each.confidence < 0) continue;
            std::int16_t& limit = highest[present_[each.cls]];
            limit = std::max(limit, static_cast<std::int16_t>(LimitCounts::limit_of(each.confidence)));
        }
        OutcomeCurve curve;
        curve.outcomes = counts.outcomes();
        curve.right = counts.right();
        counts.take_points(curve.points);
        std::array<std::uint32_t, LIMITS + 1> reached{};  // classes, by their highest limit
        for (const std::int16_t limit : highest)
            if (limit >= 0) ++reached[static_cast<std::size_t>(limit)];
        std::uint32_t classes = 0;
        std::size_t next = LIMITS + 1;
        for (const OperatingPoint& point : curve.points) {
            const auto limit = static_cast<std::size_t>(point.limit * LIMITS + 0.5);
            while (next > limit) classes += reached[--next];
            curve.groups.push_back(classes);
        }
        return curve;
    }

    // Find the groups, the one with most outcomes first, equal ones by name; only the first `sorted`
    // are in order.
    std::vector<OutcomeGroup> groups(GroupedBy by, const std::vector<double>& targets,
                                     std::size_t sorted) const {
        const auto key = [&](const KeptOutcome& each) {
            const std::uint32_t id = by == GroupedBy::cls ? each.cls : each.source;
            return by == GroupedBy::cls && id != NO_ID ? present_[id] : id;
        };
        std::vector<std::uint32_t> ends(kept_.ids_end() + std::size_t{1}, 0);
        for (std::size_t at = begin_; at < kept_.size(); ++at)
            if (const std::uint32_t id = key(kept_[at]); id != NO_ID) ++ends[id + 1];
        for (std::size_t id = 1; id < ends.size(); ++id) ends[id] += ends[id - 1];
        std::vector<std::uint32_t> order(ends.back());
        std::vector<std::uint32_t> next(ends);
        for (std::size_t at = begin_; at < kept_.size(); ++at)
            if (const std::uint32_t id = key(kept_[at]); id != NO_ID)
                order[next[id]++] = static_cast<std::uint32_t>(at);
        std::vector<OutcomeGroup> found;
        LimitCounts counts;
        std::vector<OperatingPoint> points;
        for (std::uint32_t id = 0; id < kept_.ids_end(); ++id) {
            if (ends[id] == ends[id + 1]) continue;
            for (std::uint32_t at = ends[id]; at < ends[id + 1]; ++at)
                counts.add(kept_[order[at]].confidence, kept_[order[at]].is_right);
            OutcomeGroup& group = found.emplace_back();
            group.id = id;
            group.outcomes = counts.outcomes();
            group.right = counts.right();
            counts.take_points(points);
            for (const double target : targets) {
                const OperatingPoint* const point = least_limit(points, target);
                group.reached.push_back(point == nullptr ? OperatingPoint{0, 0, 0} : *point);
            }
            if (const OperatingPoint* const best = best_point(points)) group.best = *best;
        }
        const auto precedes = [this](const OutcomeGroup& one, const OutcomeGroup& other) {
            if (one.outcomes != other.outcomes) return one.outcomes > other.outcomes;
            return kept_.name(one.id) < kept_.name(other.id);
        };
        const auto middle = static_cast<std::ptrdiff_t>(std::min(sorted, found.size()));
        std::partial_sort(found.begin(), found.begin() + middle, found.end(), precedes);
        return found;
    }

private:
    const KeptOutcomes& kept_;
    std::vector<std::uint32_t> present_;  // the id that stands for a class, by its id
    std::unordered_map<std::uint32_t, std::string_view> renamed_;  // present names by that id
    const std::size_t begin_;
};

// A page of groups with their names; of all groups the number, and the numbers that reach each
// target.
struct GroupPage {
    std::vector<OutcomeGroup> groups;
    std::vector<std::string> names;
    std::uint64_t total = 0;
    std::vector<std::uint64_t> reached;
};

// Read the curve of a learner's newest outcomes.
inline OutcomeCurve read_curve(const Calibration& calibration, std::size_t newest,
                               const std::vector<Alias>& aliases) {
    OutcomeCurve curve;
    calibration.read_kept([&](const KeptOutcomes& kept) {
        curve = OutcomeGroups(kept, newest, aliases).curve();
    });
    return curve;
}

// Read `limit` groups of a learner's newest outcomes, from the position `offset` on.
inline GroupPage read_groups(const Calibration& calibration, std::size_t newest,
                             const std::vector<Alias>& aliases, GroupedBy by,
                             const std::vector<double>& targets, std::size_t offset,
                             std::size_t limit) {
    GroupPage page;
    page.reached.resize(targets.size(), 0);
    calibration.read_kept([&](const KeptOutcomes& kept) {
        const OutcomeGroups groups(kept, newest, aliases);
        std::vector<OutcomeGroup> found = groups.groups(by, targets, offset + limit);
        page.total = found.size();
        for (const OutcomeGroup& each : found)
            for (std::size_t at = 0; at < targets.size(); ++at)
                page.reached[at] += each.reached[at].answers > 0;
        for (std::size_t at = offset; at < std::min(offset + limit, found.size()); ++at) {
            page.names.emplace_back(groups.name(by, found[at].id));
            page.groups.push_back(std::move(found[at]));
        }
    });
    return page;
}

}  // namespace manyclass
