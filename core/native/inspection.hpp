// Shows sizes, counters, weights and names of a model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "learners/explanation.hpp"
#include "storage/name_page.hpp"

namespace manyclass {

class Columns;

// Sort contributions by size, heaviest first, and keep at most `limit`.
inline void keep_heaviest(Contributions& contributions, std::size_t limit) {
    std::stable_sort(contributions.begin(), contributions.end(), [](const auto& a, const auto& b) {
        return std::fabs(a.second) > std::fabs(b.second);
    });
    if (contributions.size() > limit) contributions.resize(limit);
}

// Threads: any number at once; each call takes the locks for reading itself.
class Inspection {
public:
    virtual ~Inspection() = default;
    Inspection(const Inspection&) = delete;
    Inspection& operator=(const Inspection&) = delete;

    struct Sizes {
        std::uint64_t features, classes, edges, learned, evicted_features, evicted_classes, bytes;
    };
    virtual Sizes sizes() const = 0;

    virtual std::uint64_t resident_bytes() const = 0;

    // Work done by all calls so far, to be compared with what was asked of them. No state.
    struct Work {
        std::uint64_t active_features_ranked, edges_touched;  // by retrievals
        std::uint64_t names_visited;  // to put them in order, and to list them in it
        std::uint64_t ids_looked_at;  // by evictions
        std::uint64_t rows_swept;     // for retired classes
        std::uint64_t nodes_opened;   // of a hierarchy, by retrievals
        std::uint64_t nodes_visited;  // of a hierarchy, to forget features
    };
    virtual Work work() const = 0;

    // Count the features with 0, 1, ... OUTDEGREES - 2 edges; those with more count in the last.
    virtual void outdegrees(std::int64_t* counts) const = 0;

    // The weight of the vote of neighbors; 0 without neighbors, or while they do not help.
    virtual double neighbor_weight() const = 0;

    struct Feature {
        std::uint32_t times_seen;
        double mass, rating;
        Contributions weights;  // by class, heaviest first
    };

    // Read a feature; false when it is not known.
    virtual bool feature(std::string_view name, Feature& feature) const = 0;

    virtual bool has_class(std::string_view name) const = 0;
    virtual bool has_feature(std::string_view name) const = 0;

    // Read how often a class was learned and the features with a weight for it, heaviest first.
    // Rows are read block by block, so that a change need not wait for all of them; what it removes
    // meanwhile is left out.
    virtual bool cls(std::string_view name, std::size_t limit, std::uint64_t& learned,
                     Contributions& weights) const = 0;

    using Page = NamePage;

    // The next classes by name, after `after`, and how often each was learned.
    virtual void class_page(std::string_view prefix, std::string_view after, std::size_t limit,
                            Page& page) const = 0;

    // The next classes after `after`, those learned most often first, or those made last first; none
    // after a class that is gone. Records are read block by block, as by `cls`.
    virtual void classes_by(bool is_newest_first, std::string_view prefix, std::string_view after,
                            std::size_t limit, Page& page) const = 0;

    // The same as `class_page` of features, and how often each was seen.
    virtual void feature_page(std::string_view prefix, std::string_view after, std::size_t limit,
                              Page& page) const = 0;

    virtual void class_ids(Columns& columns, std::int32_t* ids) const = 0;

protected:
    Inspection() = default;
};

}  // namespace manyclass
