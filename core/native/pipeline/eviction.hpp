// Forgets features and classes, by name or at a limit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "learners/algorithm.hpp"
#include "pipeline/eviction_clock.hpp"
#include "pipeline/replay.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// The limits on the sizes of an engine, and on replay.
struct Limits {
    std::uint32_t max_features = 0, max_classes = 0, replay = 0, replay_size = 0;
    std::uint64_t max_bytes = 0;

    template <class V>
    void visit_options(V&& option) {
        option("max_features", max_features);
        option("max_classes", max_classes);
        option("max_bytes", max_bytes);
        option("replay", replay);
        option("replay_size", replay_size);
    }
};

// The limit on bytes applies to bytes computed from counts, so that a reloaded engine, which has
// less free space between blocks, evicts at the same event as one that grew.
class Eviction {
public:
    Eviction(Tables& tables, Algorithm& algorithm, Replay& replay, const Limits& limits)
        : tables_(tables), algorithm_(algorithm), replay_(replay), limits_(limits) {}

    std::uint64_t ids_looked_at() const {  // not part of the state
        return feature_clock_.looked_at() + class_clock_.looked_at();
    }

    std::uint64_t bytes() const {
        return tables_.features.count() * (BYTES_PER_FEATURE + replay_.bytes_per_feature()) +
               tables_.features.name_bytes() + class_bytes() + tables_.postings.edge_bytes() +
               replay_.bytes() + algorithm_.bytes();
    }

    // --- forgetting ----------------------------------------------------------------------------

    void remove_feature(std::uint32_t id) {
        tables_.postings.clear(id);
        algorithm_.forget_feature(id);
        tables_.features.remove(id);
        replay_.feature_removed(id);
    }

    // Forget a class by its name. Edges to it stay in rows until the rows are swept or learned;
    // until then its id is not reused.
    void retire_class(std::uint32_t id) {
        algorithm_.forget_class(id);
        tables_.classes.retire(id);
        tables_.remove_class_record(id);
        if (algorithm_.has_edges()) tables_.retired.add(id);
        else tables_.classes.release(id);
    }

    // Make one more step of the sweep that removes edges to retired classes.
    void sweep() {
        tables_.retired.sweep(
            tables_.postings, [this](Row& row) { algorithm_.remove_retired(row); },
            [this](std::uint32_t id) { tables_.classes.release(id); });
    }

    // --- limits --------------------------------------------------------------------------------

    // Make room for one more feature or class. False if every one is in use now.
    bool make_room_for_feature() {
        return tables_.features.count() < limits_.max_features || evict_feature();
    }
    bool make_room_for_class() {
        return tables_.classes.count() < limits_.max_classes || evict_class();
    }

    // Remember the sizes before an event.
    void begin_event() {
        features_before_ = tables_.features.count();
        classes_before_ = tables_.classes.count();
        bytes_before_ = bytes();
    }

    // Note that the taxonomy changed: a class that had children may be evicted now.
    void classes_placed() { all_classes_in_use_ = NEVER; }

    // Evict as much as the event added beyond the limits, and part of any earlier excess. Classes
    // are evicted if they take more than half of the bytes, or if no feature can be.
    void end_event() {
        const std::uint64_t features =
            goal(limits_.max_features, features_before_, SURPLUS_PER_EVENT);
        while (tables_.features.count() > features && evict_feature()) {}
        const std::uint64_t classes = goal(limits_.max_classes, classes_before_, SURPLUS_PER_EVENT);
        while (tables_.classes.count() > classes && evict_class()) {}
        const std::uint64_t most_bytes =
            goal(limits_.max_bytes, bytes_before_, SURPLUS_BYTES_PER_EVENT);
        while (bytes() > most_bytes ||
               tables_.postings.edges() > tables_.postings.most_edges()) {
            const bool classes_first =
                bytes() > most_bytes && class_bytes() > limits_.max_bytes / 2;
            if (classes_first ? evict_class() || evict_feature()
                              : evict_feature() || evict_class())
                continue;
            return;  // all others are in use by the event just learned
        }
    }

    void visit(SnapshotVisitor& visitor) {
        visit_hand(visitor, Count::feature_hand, feature_clock_, tables_.features.end());
        visit_hand(visitor, Count::class_hand, class_clock_, tables_.classes.end());
    }

private:
    static constexpr std::uint64_t BYTES_PER_FEATURE = 48, BYTES_PER_CLASS = 60;
    // The largest decrease of a size by one event, after a limit was lowered.
    static constexpr std::uint64_t SURPLUS_PER_EVENT = 1000, SURPLUS_BYTES_PER_EVENT = 1 << 16;
    static constexpr std::uint64_t NEVER = ~std::uint64_t{0};

    std::uint64_t class_bytes() const {
        return tables_.classes.count() * BYTES_PER_CLASS + tables_.classes.name_bytes() +
               algorithm_.class_bytes();
    }

    // Return the size to reach after an event, given the size before it.
    static std::uint64_t goal(std::uint64_t limit, std::uint64_t before, std::uint64_t most_less) {
        return std::max(limit, before - std::min(before, most_less));
    }

    // Forget the feature idle longest among some; false if all are active in the present event.
    bool evict_feature() {
        const Postings& postings = tables_.postings;
        const std::uint32_t id =
            pick(feature_clock_, tables_.features, all_features_in_use_, [&](std::uint32_t each) {
                postings.prefetch(each + EvictionClock::WINDOW);  // the next eviction looks at it
                const Row& row = postings[each];
                return idleness(tables_.stamp() - row.last_seen, row.times_seen);
            });
        if (id == NO_ID) return false;
        remove_feature(id);
        ++tables_.evicted_features;
        return true;
    }

    bool evict_class() {
        const std::uint32_t id =
            pick(class_clock_, tables_.classes, all_classes_in_use_, [&](std::uint32_t each) {
                if (algorithm_.is_above_others(each)) return IN_USE;
                const ClassRecord& record = tables_.class_records[each];
                return idleness(tables_.stamp() - record.last_learned, record.learned);
            });
        if (id == NO_ID) return false;
        retire_class(id);
        ++tables_.evicted_classes;
        return true;
    }

    // Return the id to evict; NO_ID, noted in `all_in_use`, if the present event uses every name.
    template <class F>
    std::uint32_t pick(EvictionClock& clock, const Vocabulary& names, std::uint64_t& all_in_use,
                       F&& idleness_of) {
        if (all_in_use == tables_.learned) return NO_ID;
        const std::uint32_t id = clock.pick(names.end(), [&](std::uint32_t each) {
            const Idleness idle = idleness_of(each);
            return names.alive(each) ? idle : IN_USE;
        });
        if (id == NO_ID) all_in_use = tables_.learned;
        return id;
    }

    static void visit_hand(SnapshotVisitor& visitor, Count count, EvictionClock& clock,
                           std::uint32_t end) {
        std::uint64_t hand = clock.hand();
        visitor.word(count, hand);
        if (!visitor.is_loading()) return;
        need(hand == 0 || hand < end, "counts", "a hand of eviction is out of range");
        clock.set_hand(static_cast<std::uint32_t>(hand));
    }

    Tables& tables_;
    Algorithm& algorithm_;
    Replay& replay_;
    const Limits& limits_;
    EvictionClock feature_clock_, class_clock_;
    std::uint64_t features_before_ = 0, classes_before_ = 0, bytes_before_ = 0;  // the event
    // The number of an event that could evict nothing; not part of the state, since a repeated
    // search would find nothing either.
    std::uint64_t all_features_in_use_ = NEVER, all_classes_in_use_ = NEVER;
};

}  // namespace manyclass
