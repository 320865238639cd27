#include "service/ingest/native/pending_instances.hpp"

namespace manyclass {

void PendingInstances::keep(double now, std::string_view instance, const ServedRanking& served,
                            InstanceNote note, std::string_view given, std::string& id) {
    if (note.text.empty()) note.reading = {};
    if (!keeps_texts_) note.text = {};
    Entry entry(now, instance, served, note);
    const Held lock(mutex_);
    if (given.empty()) id.assign(prefix_).append(std::to_string(last_ + 1));
    else id.assign(given);
    char* const bytes = queue_.push(entry.size);
    try {
        entries_.push_back(entry);
        if (!given.empty()) hold_given(id);
    } catch (...) {
        if (entries_.size() > last_ + 1 - first_) entries_.pop_back();
        queue_.pop_newest(entry.size);
        throw;
    }
    entries_.back().write(bytes, instance, served, note);
    ++last_;
    bytes_ += ENTRY_BYTES + entry.size;
    if (bytes_ > most_bytes_ || is_outdated(entries_.front(), now)) evict(now);
}

PendingInstances::Found PendingInstances::find(double now, std::string_view id, Stored& stored) {
    const Held lock(mutex_);
    evict(now);
    const std::uint64_t number = number_of(id);
    if (number == 0)
        return forgotten_.count(hash_(id)) > 0 ? Found::too_late : Found::never_seen;
    if (number < first_ || is_outdated(entry_of(number), now) || entry_of(number).erased)
        return Found::too_late;
    copy(number, entry_of(number).text(), stored);
    return Found::stored;
}

bool PendingInstances::label(std::uint64_t number, Stored& stored) {
    const Held lock(mutex_);
    if (!holds(number) || entry_of(number).labelled || entry_of(number).erased) return false;
    copy(number, {}, stored);
    entry_of(number).labelled = true;
    return true;
}

template <class F>
void PendingInstances::scan(std::uint64_t after, F&& visit) {
    std::uint64_t next = after + 1, last = 0;
    do {
        const Held lock(mutex_);
        next = std::max(next, first_);
        last = last_;
        const std::uint64_t end = std::min(last + 1, next + SCANNED_AT_ONCE);
        for (; next < end; ++next) visit(next);
    } while (next <= last);
}

std::size_t PendingInstances::erase_source(std::string_view source) {
    std::size_t erased = 0;
    scan(0, [&](std::uint64_t number) {
        if (entry_of(number).source() != source) return;
        entry_of(number).erase();
        ++erased;
    });
    return erased;
}

bool PendingInstances::erase(std::string_view id) {
    const Held lock(mutex_);
    const std::uint64_t number = number_of(id);
    if (!holds(number) || entry_of(number).erased) return false;
    entry_of(number).erase();
    return true;
}

std::vector<std::uint64_t> PendingInstances::least_certain(double now, std::size_t most,
                                                           std::string_view source,
                                                           std::uint64_t after) {
    if (most == 0) return {};
    std::vector<Candidate> best;  // a heap, with the most certain in front
    scan(after, [&](std::uint64_t number) {
        if (!is_waiting(number, now)) return;
        if (!source.empty() && entry_of(number).source() != source) return;
        const Candidate candidate{entry_of(number).confidence, number};
        if (best.size() == most && !(candidate < best.front())) return;
        best.push_back(candidate);
        std::push_heap(best.begin(), best.end());
        if (best.size() <= most) return;
        std::pop_heap(best.begin(), best.end());
        best.pop_back();
    });
    std::sort_heap(best.begin(), best.end());
    std::vector<std::uint64_t> numbers;
    for (const Candidate& each : best) numbers.push_back(each.number);
    return numbers;
}

bool PendingInstances::read(double now, std::uint64_t number, Stored& stored, std::string& id) const {
    const Held lock(mutex_);
    if (!holds(number) || !is_waiting(number, now)) return false;
    const Entry& entry = entry_of(number);
    copy(number, beginning_of(entry.text()), stored);
    id = entry.given != nullptr ? entry.given->first : prefix_ + std::to_string(number);
    return true;
}

}  // namespace manyclass
