// Ranked instances whose label has not come yet, by id, for a time and within a byte limit.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/native/pipeline/reader_slots.hpp"
#include "core/native/storage/vocabulary.hpp"
#include "service/ingest/native/byte_queue.hpp"
#include "service/ingest/native/served_ranking.hpp"

namespace manyclass {

// Instances are numbered as they come. An id made here holds the number; a table has the numbers of
// clients' ids. The oldest instances go first, so the stored numbers are without a gap:
//
//     number     first ............ last
//     entries    [entry, entry, ... entry]
//     bytes      [bytes of the first, ...]      in a queue of their own
//
// An entry also holds the first classes that were ranked, the source and the text if there are any,
// and whether a label has come.
// Ids whose instance is gone are remembered (those made here by their number, the last
// others by a hash), so that "too late" differs from "never seen".
// Threads: any; each call holds the lock of the object.
class PendingInstances {
public:
    // The memory of an entry beside its bytes, with its part of the unused end of a block, and of a
    // client's id beside its text.
    static constexpr std::size_t ENTRY_BYTES = 80, GIVEN_BYTES = 120;
    static constexpr std::uint64_t SCANNED_AT_ONCE = 4096;  // entries, while others wait

    enum class Found { stored, never_seen, too_late };

    // A copy of an entry, with its text or the beginning of it.
    struct Stored {
        std::string instance, names;  // names: of the classes served, size u32 and bytes of each
        double ranked_at, confidence;  // negative: unknown
        std::uint64_t number;
        std::string source, text;  // empty: none; the text as it is stored
        bool abstained, is_text_cut;
    };

    // Texts are dropped unless it `keeps_texts`. `prefix` begins the ids made here; `seed` salts
    // the tables. Of clients' ids whose instance is gone so many are remembered; a call forgets at
    // most so many that are only outdated.
    PendingInstances(double seconds, std::size_t most_bytes, bool keeps_texts,
                     std::size_t most_forgotten, std::size_t aged_at_once, std::string prefix,
                     std::uint64_t seed)
        : seconds_(seconds),
          most_bytes_(most_bytes),
          keeps_texts_(keeps_texts),
          most_forgotten_(most_forgotten),
          aged_at_once_(aged_at_once),
          prefix_(std::move(prefix)),
          hash_{seed},
          given_(0, hash_) {}

    // Store an instance with its ranking, its source and its text, and set `id` to a new one; or
    // under the id of a client, where the newest instance counts. A change that memory is too short
    // for has no effect.
    void keep(double now, std::string_view instance, const ServedRanking& served,
              InstanceNote note, std::string_view given, std::string& id);

    // Copy the entry of an id, with its whole text.
    Found find(double now, std::string_view id, Stored& stored);

    // Note that the label of an entry has come, and copy it without its text. False if one had come
    // before, or the entry is gone.
    bool label(std::uint64_t number, Stored& stored);

    // Overwrite the entries of a source; return how many there were. Their ids are too late then.
    std::size_t erase_source(std::string_view source);

    // Overwrite the entry of an id. False if it has none.
    bool erase(std::string_view id);

    // The numbers of the entries that wait for a label, those of the lowest confidence first: an
    // unknown one is the lowest, and of equal ones the oldest entry is first, as it is the first to
    // go. Those without features and vector are left out, those whose id has a newer one, and with a
    // `source` those of another. Only entries behind the number `after` count.
    std::vector<std::uint64_t> least_certain(double now, std::size_t most, std::string_view source,
                                             std::uint64_t after);

    // The number of the newest entry, 0 before the first.
    std::uint64_t newest() const {
        const Held lock(mutex_);
        return last_;
    }

    // Copy an entry that waits for a label, with its id and the beginning of its text. False if it
    // does not wait.
    bool read(double now, std::uint64_t number, Stored& stored, std::string& id) const;

    std::size_t count() const {
        const Held lock(mutex_);
        return entries_.size();
    }
    std::size_t bytes() const {
        const Held lock(mutex_);
        return bytes_;
    }

private:
    using Held = manyclass::Held<std::unique_lock<std::mutex>>;

    struct Hash {
        std::uint64_t seed;
        std::size_t operator()(std::string_view id) const { return hash_name(id, seed); }
    };
    using Given = std::unordered_map<std::string, std::uint64_t, Hash>;

    struct Entry {
        Entry(double now, std::string_view instance, const ServedRanking& served,
              const InstanceNote& note)
            : ranked_at(now),
              confidence(static_cast<float>(served.confidence)),
              names_bytes(static_cast<std::uint32_t>(served.names.size())),
              text_bytes(static_cast<std::uint32_t>(note.reading.size() + note.text.size())),
              source_bytes(static_cast<std::uint32_t>(note.source.size())),
              abstained(served.abstained),
              labelled(false),
              erased(false),
              size(instance.size() + names_bytes + note_bytes()) {}

        // Write the bytes to memory that has room for them and outlives the entry.
        void write(char* to, std::string_view instance, const ServedRanking& served,
                   const InstanceNote& note) {
            bytes = to;
            for (const std::string_view each :
                 {instance, served.names, note.source, note.reading, note.text})
                to = std::copy(each.begin(), each.end(), to);
        }

        // Overwrite the bytes, as one instance without features.
        void erase() {
            std::fill_n(bytes, size, '\0');
            names_bytes = text_bytes = 0;
            source_bytes = 0;
            erased = true;
        }

        std::string_view instance() const {
            return part(size, size - names_bytes - note_bytes());
        }
        std::string_view names() const { return part(names_bytes + note_bytes(), names_bytes); }
        std::string_view source() const { return part(note_bytes(), source_bytes); }
        std::string_view text() const { return part(text_bytes, text_bytes); }  // as it is stored

        double ranked_at;
        Given::value_type* given = nullptr;  // id of the client and its newest number; nullptr: id
                                             // made here
        char* bytes = nullptr;  // of the instance, the classes served, the source and the text
        float confidence;             // negative: unknown
        std::uint32_t names_bytes, text_bytes;  // a body has less than 4 GiB
        std::uint32_t source_bytes : 14, abstained : 1, labelled : 1, erased : 1;  // LONGEST_NAME
        std::size_t size;                                                          // of the bytes

    private:
        std::size_t note_bytes() const { return std::size_t{text_bytes} + source_bytes; }

        // So many bytes, which begin so far before the end.
        std::string_view part(std::size_t before_end, std::size_t count) const {
            return {bytes + size - before_end, count};
        }
    };

    struct Candidate {
        float confidence;
        std::uint64_t number;
        bool operator<(const Candidate& other) const {
            return std::tie(confidence, number) < std::tie(other.confidence, other.number);
        }
    };

    bool holds(std::uint64_t number) const { return first_ <= number && number <= last_; }
    // Call the function with the number of each entry after this one, some thousand at a time with the
    // lock: others have their turns between them.
    template <class F>
    void scan(std::uint64_t after, F&& visit);

    Entry& entry_of(std::uint64_t number) { return entries_[number - first_]; }
    const Entry& entry_of(std::uint64_t number) const { return entries_[number - first_]; }

    void copy(std::uint64_t number, std::string_view text, Stored& stored) const {
        const Entry& entry = entry_of(number);
        stored.instance = entry.instance();
        stored.names = entry.names();
        stored.ranked_at = entry.ranked_at;
        stored.confidence = entry.confidence;
        stored.number = number;
        stored.source = entry.source();
        stored.text = text;
        stored.abstained = entry.abstained;
        stored.is_text_cut = text.size() < entry.text_bytes;
    }

    bool is_waiting(std::uint64_t number, double now) const {
        const Entry& entry = entry_of(number);
        std::uint32_t head;  // 0 without features and vector, see wire.hpp
        std::memcpy(&head, entry.bytes, sizeof head);
        const bool newest = entry.given == nullptr || entry.given->second == number;
        return newest && head != 0 && !entry.labelled && !is_outdated(entry, now);
    }

    bool is_outdated(const Entry& entry, double now) const {
        return entry.ranked_at <= now - seconds_;
    }

    // The newest number of an id; 0 without one.
    std::uint64_t number_of(std::string_view id) const {
        const auto given = given_.find(std::string(id));
        if (given != given_.end()) return given->second;
        if (id.substr(0, prefix_.size()) != prefix_) return 0;
        std::uint64_t number = 0;
        const char* const end = id.data() + id.size();
        const auto [at, error] = std::from_chars(id.data() + prefix_.size(), end, number);
        if (at != end || error != std::errc() || number > last_) return 0;
        if (number >= first_ && entry_of(number).given != nullptr) return 0;
        return number;
    }

    // Let the newest entry be that of a client's id.
    void hold_given(const std::string& id) {
        Given::value_type& given = *given_.try_emplace(id, 0).first;
        given.second = last_ + 1;
        entries_.back().given = &given;
        bytes_ += GIVEN_BYTES + id.size();
    }

    // Forget some outdated instances, then the oldest until the rest is within the limit. After a
    // quiet hour very many may be outdated at once: the next calls forget the others.
    void evict(double now) {
        for (std::size_t aged = 0; !entries_.empty(); ++first_) {
            const Entry& oldest = entries_.front();
            if (bytes_ <= most_bytes_ && (aged++ == aged_at_once_ || !is_outdated(oldest, now)))
                return;
            bytes_ -= ENTRY_BYTES + oldest.size;
            queue_.pop_oldest(oldest.size);
            if (oldest.given != nullptr) {
                bytes_ -= GIVEN_BYTES + oldest.given->first.size();
                if (oldest.given->second == first_) forget(oldest.given->first);
            }
            entries_.pop_front();
        }
    }

    void forget(const std::string& id) {
        const std::uint64_t hash = hash_(id);
        given_.erase(given_.find(id));
        try {
            remember(hash);
        } catch (const std::bad_alloc&) {
            // the id then counts as never seen, and the instances stay as they have to be
        }
    }

    void remember(std::uint64_t hash) {
        if (forgotten_.count(hash) > 0) return;
        forgotten_order_.push_back(hash);
        try {
            forgotten_.insert(hash);
        } catch (...) {
            forgotten_order_.pop_back();
            throw;
        }
        if (forgotten_order_.size() <= most_forgotten_) return;
        forgotten_.erase(forgotten_order_.front());
        forgotten_order_.pop_front();
    }

    mutable std::mutex mutex_;
    const double seconds_;
    const std::size_t most_bytes_;
    const bool keeps_texts_;
    const std::size_t most_forgotten_, aged_at_once_;
    const std::string prefix_;
    const Hash hash_;
    std::deque<Entry> entries_;
    ByteQueue queue_;  // of their bytes
    std::uint64_t first_ = 1, last_ = 0;
    Given given_;
    std::unordered_set<std::uint64_t> forgotten_;  // hashes are salted, so they may be the keys
    std::deque<std::uint64_t> forgotten_order_;
    std::size_t bytes_ = 0;
};

}  // namespace manyclass
