// The classes in the order of how often each was learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace manyclass {

class Popular {
public:
    struct Entry {
        std::uint64_t learned, born;
        std::uint32_t cls;
        bool operator<(const Entry& other) const {  // of equal ones the older class first
            if (learned != other.learned) return learned > other.learned;
            return born < other.born;
        }
    };

    void insert(const Entry& entry) { entries_.insert(entry); }
    std::size_t size() const { return entries_.size(); }
    void erase(const Entry& entry) { entries_.erase(entry); }

    // The first of them, at most so many.
    std::vector<Entry> first(std::uint32_t most) const {
        std::vector<Entry> found;
        for (auto each = entries_.begin(); each != entries_.end() && found.size() < most; ++each)
            found.push_back(*each);
        return found;
    }

private:
    std::set<Entry> entries_;
};

}  // namespace manyclass
