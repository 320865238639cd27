// The features of texts: words and, as an analysis wants them, pairs of words, runs of characters,
// words without marks, and words with signs. core/text.pyx says what each is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "text/feature_table.hpp"
#include "text/json_cursor.hpp"
#include "text/piles.hpp"
#include "text/stored_text.hpp"
#include "text/words.hpp"

namespace manyclass {

// The parts of an analysis beside words.
struct TextParts {
    bool pairs = false, characters = false, unmarked = false, symbols = false;
    std::uint32_t shortest = 4, longest = 4;  // runs of characters, with < and > around a word
    std::uint32_t words_with_runs = 64;       // the first different ones of a text
    double weight = 1.0;                      // of a run, beside words worth 1

    // The parts as bits of a byte.
    std::uint8_t code() const {
        return static_cast<std::uint8_t>(pairs | characters << 1 | unmarked << 2 | symbols << 3);
    }
};

// A feature is a key and a count; its name is written with the instance. A key is
//
//   [ size | the bytes ]                  of a run of at most SHORT bytes
//   [ PAIR | index | index ]              of two words beside each other
//   [ IS_HASH | a hash of the name ]      of any other, and then names have to be compared
class TextFeatures {
public:
    // One reader for each thread; it keeps some of its memory from call to call.
    [[gnu::noinline]] static TextFeatures& mine();

    TextFeatures() : words_(*this) {}

    // Begin an instance of at most `most` features; most_bytes_ bounds the bytes of their names.
    void begin(const TextParts& parts, std::size_t most);

    // Add the features of a text, in valid UTF-8.
    void read(std::string_view text);

    // The same of a field, whose features are apart from those of other fields.
    void read_field(std::string_view field, std::string_view text);

    // Add those of a text at the cursor, or of an object of the texts of 1 to MOST_FIELDS fields,
    // and set `given` to the text as it is stored behind its reading (stored_text.hpp), valid until
    // the next call. False for any other form, a repeated field or an escape in its name; then use
    // no result.
    bool read(JsonCursor& json, std::string_view& given);

    // Write the instance in wire form; return its number of features, whose values are above 0.
    std::uint32_t write(std::string& out) const;

    std::size_t long_words() const { return words_.long_words(); }  // left out
    bool truncated() const { return is_full_; }  // the rest had more than there may be

private:
    friend class WordReader<TextFeatures>;

    static constexpr TextParts USUAL{};
    static constexpr std::size_t SHORT = 7;  // bytes of a run that is its own key
    static constexpr std::size_t MOST_KEPT = 65'536, BYTES_PER_FEATURE = 64;
    static constexpr std::uint64_t IS_HASH = std::uint64_t{1} << 63, PAIR = std::uint64_t{1} << 62;
    static constexpr std::uint64_t INDEX = (std::uint64_t{1} << 31) - 1;
    static constexpr std::uint32_t NONE = 0xffffffff;

    struct Feature {
        std::uint64_t key;
        std::uint32_t count, name;  // its index in names_, or NONE
    };

    // A name that is not a key, with zeros behind it up to SHORT_NAME; and the runs of a word.
    struct Name {
        const char* at;
        std::uint32_t size;
        std::uint32_t first_run, run_count;  // in runs_
        std::uint32_t times;                 // of the word
    };

    // For the first bytes of eight: 8 times none, then 1 to 8, and 8 times all of them.
    struct Masks {
        std::uint64_t of[3 * 8 + 1] = {};
        constexpr Masks() {
            for (int index = 0; index <= 24; ++index) {
                const int bytes = index < 8 ? 0 : index < 16 ? index - 8 : 8;
                of[index] = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
            }
        }
    };

    struct Field {
        std::string_view prefix;
        std::size_t end;  // of its features
    };

    void read_behind(std::string_view prefix, std::string_view text) {
        if (is_full_) return;
        room_ = prefix.size() < LONGEST_NAME ? LONGEST_NAME - prefix.size() : 0;
        prefix_size_ = prefix.size();
        last_ = NONE;
        const std::size_t first_name = names_.size();
        const std::size_t usual = parts_.characters
                                      ? std::min(text.size() * 3 + 16, 1024 + text.size() / 2)
                                      : text.size() / 2;
        table_.begin(std::min({usual, most_ - features_.size(), std::size_t{8192}}));
        words_.read(text, room_);
        fields_.add({prefix, features_.size()});
        for (std::size_t index = first_name; index < names_.size(); ++index)
            if (names_[index].times > 1) repeat_runs(names_[index]);
    }

    // Count the runs of a word that came again: they were counted once.
    void repeat_runs(const Name& name) {
        for (std::uint32_t run = 0; run < name.run_count; ++run)
            features_[runs_[name.first_run + run]].count += name.times - 1;
    }

    bool wants_signs() const { return parts_.symbols; }

    // Each step takes nothing more once there are as many features as there may be.
    bool take(const Word& word) {
        const std::uint32_t index = add({word.begin, word.size()});
        if (index == NONE) return false;
        if (parts_.unmarked && word.marked) add_unmarked(word);
        if (word.dotted || !word.signs.empty()) add_symbol(word);
        if (parts_.characters && !is_full_) add_runs(word, index);
        if (parts_.pairs && last_ != NONE && last_size_ + 1 + word.size() <= room_)
            add_key(PAIR | std::uint64_t{last_} << 31 | index, last_size_ + 1 + word.size());
        last_ = index;
        last_size_ = word.size();
        return !is_full_;
    }

    // Count a feature, at whose name SHORT_NAME bytes of memory may be read; its index. NONE if it
    // is left out.
    std::uint32_t add(std::string_view name) {
        return name.size() <= SHORT_NAME ? add_short_name(name) : add_long_name(name);
    }

    // Such a name is two numbers, so that its length decides no step.
    std::uint32_t add_short_name(std::string_view name) {
        static constexpr Masks MASKS{};
        const std::size_t size = name.size();
        const std::uint64_t low = load_word(name.data()) & MASKS.of[SHORT_NAME / 2 + size];
        const std::uint64_t high = load_word(name.data() + 8) & MASKS.of[size];
        const FeatureTable::View view = table_.view();
        const std::uint64_t hash = view.hash_of(view.hash_of(low) + high + size);
        const auto is_same = [this, low, high, size](const Name& other) {
            return other.size == size && load_word(other.at) == low &&
                   load_word(other.at + sizeof low) == high;
        };
        return add_hashed(hash, name.size(), is_same, [low, high](char* at) {
            std::memcpy(at, &low, sizeof low);
            std::memcpy(at + sizeof low, &high, sizeof high);
        });
    }

    std::uint32_t add_long_name(std::string_view name) {
        const auto is_same = [name](const Name& other) {
            return std::string_view(other.at, other.size) == name;
        };
        return add_hashed(table_.hash_of(name), name.size(), is_same, [name](char* at) {
            std::memcpy(at, name.data(), name.size());
        });
    }

    template <class IsSame, class Put>
    std::uint32_t add_hashed(std::uint64_t hash, std::size_t size, IsSame&& is_same, Put&& put) {
        if (size > room_) return NONE;
        table_.expect(1);
        const std::uint64_t key = hash | IS_HASH;
        const std::uint32_t tag = FeatureTable::tag_of(hash);
        FeatureTable::Slot& slot = table_.find(tag, [&, this](std::size_t index) {
            const Feature& feature = features_[index];
            return feature.key == key && is_same(names_[feature.name]);
        });
        if (slot.index_1 != 0) return count_again(slot);
        if (!has_room(size)) return NONE;
        char* const at = store_.room(size);
        put(at);
        store_.keep(std::max(size, SHORT_NAME));
        const auto index = static_cast<std::uint32_t>(names_.size());
        names_.add({at, static_cast<std::uint32_t>(size), 0, 0, 0});
        return append(slot, tag, {key, 1, index}, size);
    }

    // The same of a run of at most SHORT bytes, the low ones of `bytes`.
    std::uint32_t add_short(std::uint64_t bytes, std::size_t size) {
        return add_key(key_of(bytes, size), size);
    }

    static std::uint64_t key_of(std::uint64_t bytes, std::size_t size) {
        return (bytes & ((std::uint64_t{1} << 8 * size) - 1)) | std::uint64_t{size} << 56;
    }

    // The same of a key that no other name has.
    std::uint32_t add_key(std::uint64_t key, std::size_t size) {
        if (size > room_) return NONE;
        const std::uint32_t tag = FeatureTable::tag_of(table_.view().hash_of(key));
        const Feature* const features = features_.data();
        const auto is_same = [features, key](std::size_t at) { return features[at].key == key; };
        table_.expect(1);
        FeatureTable::Slot& slot = table_.find(tag, is_same);
        if (slot.index_1 != 0) return count_again(slot);
        return has_room(size) ? append(slot, tag, {key, 1, NONE}, size) : NONE;
    }

    std::uint32_t count_again(const FeatureTable::Slot& slot) {
        if (is_full_) return NONE;
        ++features_[slot.index_1 - 1].count;
        return slot.index_1 - 1;
    }

    bool has_room(std::size_t size) {
        is_full_ |= features_.size() == most_ || name_bytes_ + prefix_size_ + size > most_bytes_;
        return !is_full_;
    }

    std::uint32_t append(FeatureTable::Slot& slot, std::uint32_t tag, Feature feature,
                         std::size_t size) {
        const auto index = static_cast<std::uint32_t>(features_.size());
        table_.fill(slot, tag, index);
        features_.add(feature);
        name_bytes_ += prefix_size_ + size;
        return index;
    }

    // Add the word without its marks.
    void add_unmarked(const Word& word) {
        std::array<char, 4> bytes;
        bool marked = false;
        other_.clear();
        const auto take = [&](char32_t code, unicode::Kind kind) {
            if (kind.bits & unicode::MARK)
                marked = true;
            else
                other_.append(bytes.data(), put_code(bytes.data(), code));
        };
        for (const char* at = word.begin; at < word.end;) unicode::decompose(next_code(at), take);
        if (marked && !other_.empty()) add_other();
    }

    // Add the word with the signs around it.
    void add_symbol(const Word& word) {
        other_.assign(word.dotted ? "." : "");
        other_.append(word.begin, word.end).append(word.signs);
        add_other();
    }

    void add_other() {
        const std::size_t size = other_.size();
        other_.append(SHORT_NAME, '\0');
        add({other_.data(), size});
    }

    // Add the runs of characters of <word>, each behind a ~, but for the whole. No word or pair has
    // a ~, so a run never means the same as one of them. Runs of a repeated word are counted at the
    // end. Later words of a text have no runs: they gain nothing, and cost the most.
    void add_runs(const Word& word, std::uint32_t index) {
        const std::uint32_t name = features_[index].name;
        if (names_[name].times++ > 0) return;
        if (words_with_runs_ == parts_.words_with_runs) return;
        ++words_with_runs_;
        const std::size_t first = runs_.size();
        word.begin[-1] = '<';
        *word.end = '>';
        if (word.ascii && parts_.longest < SHORT)
            add_ascii_runs(word.begin - 1, word.size() + 2);
        else
            add_any_runs(word.begin - 1, word.size() + 2);
        names_[name].first_run = static_cast<std::uint32_t>(first);
        names_[name].run_count = static_cast<std::uint32_t>(runs_.size() - first);
    }

    void note_run(std::uint32_t index) {
        if (index != NONE) runs_.add(index);
    }

    // Each run is a key. Room is made for all, so that no step has a branch which is hard to guess.
    void add_ascii_runs(const char* marked, std::size_t characters) {
        const std::size_t lengths = parts_.longest - parts_.shortest + 1;
        const std::size_t most = lengths * characters;
        const bool is_near = room_ < SHORT || most_ - features_.size() < most ||
                             most_bytes_ - name_bytes_ < most * (prefix_size_ + SHORT);
        if (is_near) return add_few_runs(marked, characters);
        table_.expect(most);
        Feature* const features = (features_.room(most), &features_[0]);
        std::uint32_t* run = runs_.room(most);
        std::uint32_t* const first_run = run;
        const std::size_t first = features_.size();
        std::size_t size = first, bytes_of_names = 0;
        const FeatureTable::View view = table_.view();
        const auto take = [&](std::uint64_t bytes, std::size_t length) {
            const std::uint64_t key = key_of(bytes, length);
            const std::uint32_t tag = FeatureTable::tag_of(view.hash_of(key));
            FeatureTable::Slot& slot =
                view.find(tag, [=](std::size_t at) { return features[at].key == key; });
            const bool is_new = slot.index_1 == 0;
            const std::size_t index = is_new ? size : slot.index_1 - 1;
            slot = {tag, static_cast<std::uint32_t>(index + 1)};
            features[index] = {key, is_new ? 1 : features[index].count + 1, NONE};
            size += is_new;
            bytes_of_names += is_new ? length : 0;
            *run++ = static_cast<std::uint32_t>(index);
        };
        each_run(marked, characters, take);
        table_.filled(size - first);
        features_.keep(size - first);
        runs_.keep(static_cast<std::size_t>(run - first_run));
        name_bytes_ += bytes_of_names + (size - first) * prefix_size_;
    }

    // The same, near a limit.
    void add_few_runs(const char* marked, std::size_t characters) {
        each_run(marked, characters, [this](std::uint64_t bytes, std::size_t size) {
            note_run(add_short(bytes, size));
        });
    }

    // Call `take(bytes, size)` with each run of ASCII: its low bytes, with the ~, are those of it.
    template <class Take>
    void each_run(const char* marked, std::size_t characters, Take&& take) const {
        const bool usual = parts_.shortest == USUAL.shortest && parts_.longest == USUAL.longest;
        if (usual)  // lengths that the compiler knows
            each_run(marked, characters, USUAL.shortest, USUAL.longest, take);
        else
            each_run(marked, characters, parts_.shortest, parts_.longest, take);
    }

    template <class Take>
    [[gnu::always_inline]] static void each_run(const char* at, std::size_t left,
                                                std::size_t shortest, std::size_t longest,
                                                Take&& take) {
        if (left <= longest) {  // but for the whole
            const std::uint64_t bytes = load_word(at++) << 8 | '~';
            for (std::size_t length = shortest; length < left; ++length) take(bytes, length + 1);
            --left;
        }
        for (; left >= longest; --left) {
            const std::uint64_t bytes = load_word(at++) << 8 | '~';
            for (std::size_t length = shortest; length <= longest; ++length)
                take(bytes, length + 1);
        }
        for (; left >= shortest; --left) {
            const std::uint64_t bytes = load_word(at++) << 8 | '~';
            for (std::size_t length = shortest; length <= left; ++length) take(bytes, length + 1);
        }
    }

    // A run stands in the text; only the byte in front of it has to be a ~ meanwhile.
    void add_any_runs(char* marked, std::size_t bytes) {
        starts_.clear();
        char* const end = marked + bytes;
        for (char* at = marked; at < end; ++at)
            if ((*at & 0xc0) != 0x80) starts_.push_back(at);
        const std::size_t characters = starts_.size();
        starts_.push_back(end);
        for (std::size_t begin = 0; begin + parts_.shortest <= characters; ++begin) {
            const std::size_t left = characters - begin;
            const std::size_t most = left < parts_.longest ? left : parts_.longest;
            char* const name = starts_[begin] - 1;
            const char before = *name;
            *name = '~';
            for (std::size_t size = parts_.shortest; size <= most && size < characters; ++size)
                note_run(add_run({name, static_cast<std::size_t>(starts_[begin + size] - name)}));
            *name = before;
        }
    }

    std::uint32_t add_run(std::string_view name) {
        return name.size() <= SHORT ? add_short(load_word(name.data()), name.size()) : add(name);
    }

    const Name& name_at(std::size_t index) const { return names_[features_[index].name]; }

    // Write features; where the next one goes.
    char* write(char* at, const Feature* feature, const Feature* end,
                std::string_view prefix) const {
        const double worth[] = {1.0, parts_.weight};
        for (; feature < end; ++feature) {
            char* const name = at + sizeof(std::uint16_t);
            char* behind = name;
            if (!prefix.empty()) behind = std::copy(prefix.begin(), prefix.end(), behind);
            bool is_run = true;
            if (feature->key < PAIR) {
                std::memcpy(behind, &feature->key, sizeof feature->key);
                behind += feature->key >> 56;
            } else if (feature->key & IS_HASH) {
                is_run = *names_[feature->name].at == '~';
                behind = put_name(behind, names_[feature->name]);
            } else {
                is_run = false;
                behind = put_name(behind, name_at(feature->key >> 31 & INDEX));
                *behind++ = ' ';
                behind = put_name(behind, name_at(feature->key & INDEX));
            }
            const double value = feature->count * worth[is_run];
            write_header(at, static_cast<std::size_t>(behind - name), value);
            at = write_value(behind, value);
        }
        return at;
    }

    static char* put_name(char* at, const Name& name) {
        if (name.size <= SHORT_NAME)  // the length of the copy is known
            std::memcpy(at, name.at, SHORT_NAME);
        else
            std::memcpy(at, name.at, name.size);
        return at + name.size;
    }

    TextParts parts_;
    std::size_t most_ = 0, most_bytes_ = 0;
    bool is_full_ = false;
    std::size_t prefix_size_ = 0, room_ = 0;  // of a name: bytes of a field and colon, and those left
    std::uint32_t last_ = NONE;               // the word before, of this many bytes
    std::size_t last_size_ = 0;
    std::size_t name_bytes_ = 0;  // of all features
    std::uint32_t words_with_runs_ = 0;
    FeatureTable table_;
    Pile<Feature> features_;  // in the order of their first occurrence
    Pile<Name> names_;
    Pile<std::uint32_t> runs_;  // the indices of the runs of each word
    Pile<Field> fields_;
    NameStore store_;
    WordReader<TextFeatures> words_;
    std::string unescaped_;      // a text of JSON that has escapes
    std::string stored_;         // texts of fields
    std::string other_;          // a name that is not in the text as it is
    std::vector<char*> starts_;  // of the characters of a word
};

}  // namespace manyclass
