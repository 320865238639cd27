// The last outcomes of a learner: its confidence in the class ranked first before an event was
// learned, whether that class was right, its name, and the source of the event.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "snapshot/visitor.hpp"
#include "storage/vocabulary.hpp"
#include "text/utf8.hpp"

namespace manyclass {

// The class ranked first and the source of an outcome; NO_ID: unknown, or none. `confidence` is
// below 0 for an instance for which no class was ranked.
struct KeptOutcome {
    float confidence;
    std::uint32_t cls, source;
    bool is_right;
};

// Keeps outcomes in the order of the log: at most MOST, and fewer if their names are long. 16 bytes
// an outcome, and each name once.
//
// Threads: one at a time; any number may call const functions at once.
class KeptOutcomes {
public:
    static constexpr std::size_t MOST = 100'000, MOST_NAME_BYTES = 8'388'608;

    // The seed salts the table of names and has no effect on the state.
    explicit KeptOutcomes(std::uint64_t hash_seed) : names_(hash_seed) {}

    // Add an outcome; an empty name stands for none. The oldest leave if there are too many.
    void add(double confidence, bool is_right, std::string_view cls, std::string_view source) {
        const std::uint32_t cls_id = use(cls), source_id = use(source);
        outcomes_.push_back({static_cast<float>(confidence), cls_id, source_id, is_right});
        ++added_;
        while (outcomes_.size() > MOST || names_.name_bytes() > MOST_NAME_BYTES) drop_oldest();
    }

    // Remove the name of a class from the outcomes; these stay.
    void forget_class(std::string_view name) {
        const std::uint32_t id = names_.find(name);
        if (id == NO_ID) return;
        for (KeptOutcome& each : outcomes_) {
            if (each.cls != id) continue;
            each.cls = NO_ID;
            leave(id);
        }
    }

    std::uint64_t added() const { return added_; }  // ever, also outcomes that have left
    std::size_t size() const { return outcomes_.size(); }
    const KeptOutcome& operator[](std::size_t at) const { return outcomes_[at]; }  // 0: the oldest

    // Names by the ids of outcomes; an id below the end may be free, and then has no outcomes.
    std::uint32_t ids_end() const { return names_.end(); }
    std::string_view name(std::uint32_t id) const { return names_.name(id); }
    std::uint32_t id(std::string_view name) const { return names_.find(name); }  // NO_ID: unused

    std::size_t resident_bytes() const {
        return outcomes_.size() * sizeof(KeptOutcome) + names_.resident_bytes() +
               uses_.capacity() * sizeof(std::uint32_t);
    }

    // --- state ---------------------------------------------------------------------------------

    // The names of a dump have ids in the order in which outcomes name them, oldest first, the class
    // before the source: equal outcomes make equal dumps. 0 stands for none.
    struct Sizes {
        std::size_t outcomes, names, name_bytes;
    };
    struct Arrays {
        float* confidences;
        std::uint8_t* rights;
        std::uint32_t* classes;
        std::uint32_t* sources;
        std::uint16_t* name_sizes;
        char* names;
    };

    Sizes sizes() const { return {outcomes_.size(), names_.count(), names_.name_bytes()}; }

    void dump(const Arrays& to) const {
        std::vector<std::uint32_t> numbers(names_.end(), 0);
        std::uint32_t last = 0;
        char* bytes = to.names;
        const auto number_of = [&](std::uint32_t id) -> std::uint32_t {
            if (id == NO_ID) return 0;
            if (numbers[id] == 0) {
                const std::string_view name = names_.name(id);
                to.name_sizes[last] = static_cast<std::uint16_t>(name.size());
                bytes = std::copy(name.begin(), name.end(), bytes);
                numbers[id] = ++last;
            }
            return numbers[id];
        };
        for (std::size_t at = 0; at < outcomes_.size(); ++at) {
            to.confidences[at] = outcomes_[at].confidence;
            to.rights[at] = outcomes_[at].is_right;
            to.classes[at] = number_of(outcomes_[at].cls);
            to.sources[at] = number_of(outcomes_[at].source);
        }
    }

    // Load a dumped state into new outcomes; throw std::invalid_argument "section: fault" if no
    // outcomes can lead to it.
    void load(std::uint64_t added, const Sizes& sizes, const Arrays& from) {
        need(added <= LARGEST_COUNT, "calibration_outcomes", "no count can be so large");
        need(sizes.outcomes <= std::min<std::uint64_t>(added, MOST), "calibration_confidences",
             "more outcomes are kept than there can be");
        need(sizes.name_bytes <= MOST_NAME_BYTES, "calibration_names", "the names are too long");
        std::vector<std::string_view> names;
        const char* next = from.names;
        for (std::size_t at = 0; at < sizes.names; ++at) {
            const std::uint16_t size = from.name_sizes[at];
            need(size > 0 && size <= LONGEST_NAME &&
                     size <= static_cast<std::size_t>(from.names + sizes.name_bytes - next),
                 "calibration_name_sizes", "a name cannot be so long");
            names.emplace_back(next, size);
            need(is_utf8(names.back()), "calibration_names", "a name is not UTF-8");
            next += size;
        }
        need(next == from.names + sizes.name_bytes, "calibration_name_sizes",
             "more name bytes than names");
        const auto name_of = [&](std::uint32_t number, const char* section) -> std::string_view {
            // a name comes first where its number does
            need(number <= names_.count() + 1 && number <= names.size(), section,
                 "an outcome has a name that is not there");
            return number == 0 ? std::string_view() : names[number - 1];
        };
        for (std::size_t at = 0; at < sizes.outcomes; ++at) {
            const float confidence = from.confidences[at];
            need((confidence >= 0 && confidence <= 1) || confidence == -1,
                 "calibration_confidences", "a confidence kept is not between 0 and 1");
            need(from.rights[at] <= (confidence >= 0 ? 1 : 0), "calibration_right",
                 "an outcome is neither right nor wrong");
            const std::uint32_t cls = use(name_of(from.classes[at], "calibration_classes"));
            const std::uint32_t source = use(name_of(from.sources[at], "calibration_sources"));
            outcomes_.push_back({confidence, cls, source, from.rights[at] == 1});
        }
        need(names_.count() == names.size(), "calibration_names",
             "a name is without an outcome, or there twice");
        added_ = added;
    }

private:
    // Return the id of a name, which one more outcome uses; NO_ID for the empty name.
    std::uint32_t use(std::string_view name) {
        if (name.empty()) return NO_ID;
        const std::uint64_t hash = names_.hash(name);
        std::uint32_t id = names_.find(name, hash);
        if (id == NO_ID) id = names_.add(name);
        if (id >= uses_.size()) uses_.resize(id + 1, 0);
        ++uses_[id];
        return id;
    }

    void leave(std::uint32_t id) {
        if (id != NO_ID && --uses_[id] == 0) names_.remove(id);
    }

    void drop_oldest() {
        leave(outcomes_.front().cls);
        leave(outcomes_.front().source);
        outcomes_.pop_front();
    }

    std::deque<KeptOutcome> outcomes_;
    std::uint64_t added_ = 0;
    Vocabulary names_;
    std::vector<std::uint32_t> uses_;  // outcomes that name an id, by id
};

}  // namespace manyclass
