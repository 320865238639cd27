// One pass over the whole state: to size its sections, to dump them, or to load them.
//
// Each part of the state has one function that visits its sections, so that a section's name, type
// and size are declared where its values live. The numbers that are no run of their own stand
// together in the section "counts".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace manyclass {

// The positions of numbers in the section "counts".
enum class Count : std::size_t {
    learned,
    counted,
    classes_made,
    evicted_features,
    evicted_classes,
    replay_offered,
    replay_random,
    learner,  // the first of the four numbers of the learner's own
    feature_hand = 11,
    class_hand,
    swept,
    sweeping,
};
constexpr std::size_t COUNTS = 15, LEARNER_COUNTS = 4;

// In the position of a feature or class that a stored example had and that is gone since.
constexpr std::uint32_t GONE_ID = 0xfffffffeu;

// No count of a real state is larger: a million events a second would take 146,000 years.
constexpr std::uint64_t LARGEST_COUNT = std::uint64_t{1} << 62;

constexpr const char* OTHER_LEARNER = "this is the state of another learner";

// Throw std::invalid_argument "section: fault".
[[noreturn]] inline void refuse(const std::string& section, const std::string& fault) {
    throw std::invalid_argument(section + ": " + fault);
}

// Refuse a section unless the condition holds.
inline void need(bool holds, const char* section, const char* fault) {
    if (!holds) refuse(section, fault);
}

// A section: a flat run of `size` values of `type`, a code of numpy (u1, u2, u4, u8, f4, f8).
struct Section {
    std::string name;
    std::string type;
    std::uint64_t size;
    void* data;
};

// The values of a section; no data while sections are sized.
template <class T>
struct Run {
    T* data;
    std::uint64_t size;
};

// Ownership: the memory of the sections is the caller's. A run that is being loaded is only read.
class SnapshotVisitor {
public:
    enum class Pass { size, dump, load };

    SnapshotVisitor() : pass_(Pass::size) { run<std::uint64_t>("counts", COUNTS); }

    // Sections that were sized, with memory.
    SnapshotVisitor(Pass pass, std::vector<Section> sections)
        : pass_(pass), sections_(std::move(sections)) {
        counts_ = matching<std::uint64_t>("counts", COUNTS).data;
    }

    bool is_dumping() const { return pass_ == Pass::dump; }
    bool is_loading() const { return pass_ == Pass::load; }
    const std::vector<Section>& sections() const { return sections_; }

    // A section of `size` values; of as many as it has, if it is loaded.
    template <class T>
    Run<T> run(const std::string& name, std::uint64_t size) {
        if (pass_ == Pass::size) {
            sections_.push_back({name, type_of<T>(), size, nullptr});
            return {nullptr, size};
        }
        const Section& found = section(name);
        return {static_cast<T*>(found.data), found.size};
    }

    // A section of exactly `size` values.
    template <class T>
    Run<T> matching(const std::string& name, std::uint64_t size) {
        const Run<T> found = run<T>(name, size);
        if (found.size != size)
            refuse(name, "it has " + std::to_string(found.size) + " entries, not " +
                             std::to_string(size));
        return found;
    }

    // A number of any value in the section "counts".
    void word(Count position, std::uint64_t& value, std::size_t offset = 0) {
        const std::size_t at = static_cast<std::size_t>(position) + offset;
        if (is_dumping()) counts_[at] = value;
        if (is_loading()) value = counts_[at];
    }

    void count(Count position, std::uint64_t& value, std::size_t offset = 0) {
        word(position, value, offset);
        if (is_loading()) need(value <= LARGEST_COUNT, "counts", "no count can be so large");
    }

private:
    template <class T>
    static const char* type_of() {
        if (static_cast<T>(0.5) != static_cast<T>(0)) return sizeof(T) == 4 ? "f4" : "f8";
        return sizeof(T) == 1 ? "u1" : sizeof(T) == 2 ? "u2" : sizeof(T) == 4 ? "u4" : "u8";
    }

    const Section& section(const std::string& name) const {
        for (const Section& each : sections_)
            if (each.name == name) return each;
        refuse(name, "it is missing");
    }

    const Pass pass_;
    std::vector<Section> sections_;
    std::uint64_t* counts_ = nullptr;
};

}  // namespace manyclass
