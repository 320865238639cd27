// The features of texts: words and, as an analysis wants them, pairs of words, runs of characters,
// words without marks, and words with signs. core/text.pyx says what each is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/feature_table.hpp"
#include "text/json_cursor.hpp"
#include "text/stored_text.hpp"
#include "text/words.hpp"

namespace manyclass {

// The parts of an analysis beside words.
struct TextParts {
    bool pairs = false, characters = false, unmarked = false, symbols = false;
    std::uint32_t shortest = 3, longest = 5;  // runs of characters, with < and > around a word
    double weight = 0.4;                      // of a run, beside words worth 1
};

// Names in blocks that stay where they are.
class NameStore {
public:
    static constexpr std::size_t BLOCK = 65'536;

    // A place for a name of `size` bytes, with SHORT_NAME more behind it; `keep` takes it.
    char* room(std::size_t size) {
        if (blocks_.empty() || used_ + size + SHORT_NAME > BLOCK) {
            blocks_.emplace_back(new char[BLOCK]);
            used_ = 0;
        }
        return blocks_.back().get() + used_;
    }

    void keep(std::size_t size) { used_ += size; }

    void clear() {
        if (blocks_.size() > 1) blocks_.resize(1);
        used_ = 0;
    }

private:
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t used_ = 0;
};

class TextFeatures {
public:
    // One reader for each thread; it keeps some of its memory from call to call.
    [[gnu::noinline]] static TextFeatures& mine() {
        static thread_local TextFeatures features;
        return features;
    }

    TextFeatures() : words_(*this) {}

    // Begin an instance of at most `most` features.
    void begin(const TextParts& parts, std::size_t most) {
        parts_ = parts;
        most_ = most;
        is_full_ = false;
        table_.clear();
        names_.clear();
        if (unescaped_.capacity() > MOST_KEPT) std::string().swap(unescaped_);
        words_.forget_long_words();
    }

    // Add the features of a text, in valid UTF-8.
    void read(std::string_view text) {
        prefix_.clear();
        read_behind_prefix(text);
    }

    // The same of a field, whose features are apart from those of other fields.
    void read_field(std::string_view field, std::string_view text) {
        prefix_.assign(field);
        prefix_ += ':';
        read_behind_prefix(text);
    }

    // Add those of a text at the cursor, or of an object of the texts of 1 to MOST_FIELDS fields, and
    // set `given` to the text as it is stored (stored_text.hpp), valid until the next call. False for
    // any other form, a repeated field or an escape in its name; then use no result.
    bool read(JsonCursor& json, std::string_view& given) {
        std::string_view text, field;
        if (json.read_text(given, unescaped_)) {
            read(given);
            return true;
        }
        if (!json.read_sign('{')) return false;
        if (stored_.capacity() > MOST_KEPT) std::string().swap(stored_);
        stored_.clear();
        std::vector<std::string_view> fields;
        do {
            if (!json.read_name(field) || !json.read_sign(':')) return false;
            if (!json.read_text(text, unescaped_) || fields.size() == MOST_FIELDS) return false;
            if (std::find(fields.begin(), fields.end(), field) != fields.end()) return false;
            fields.push_back(field);
            read_field(field, text);
            append_field(stored_, field, text);
        } while (json.read_sign(','));
        given = stored_;
        return json.read_sign('}');
    }

    // The instance in wire form; its number of features.
    std::uint32_t write(std::string& out) const { return table_.write(out); }

    std::size_t long_words() const { return words_.long_words(); }  // left out
    bool truncated() const { return is_full_; }  // the rest had more features than there may be

private:
    friend class WordReader<TextFeatures>;

    static constexpr std::size_t SHORT = 7;  // bytes of a name that is its own key
    static constexpr std::size_t MOST_KEPT = 65'536;

    void read_behind_prefix(std::string_view text) {
        if (is_full_) return;
        const std::size_t first = table_.size();
        const std::size_t each = parts_.characters ? 2 : 5;  // bytes of text for a feature, or more
        table_.begin(std::min({text.size() / each, most_ - first, std::size_t{4096}}));
        words_.read(text, prefix_.size() < LONGEST_NAME ? LONGEST_NAME - prefix_.size() : 0);
        if (!parts_.characters || parts_.weight == 1.0) return;
        auto& features = table_.features();
        for (std::size_t place = first; place < features.size(); ++place)
            if (features[place].name[prefix_.size()] == '~') features[place].value *= parts_.weight;
    }

    bool wants_signs() const { return parts_.symbols; }

    // Each step takes nothing more once there are as many features as there may be.
    bool take(const Word& word) {
        add({word.begin, size_of(word)});
        if (parts_.unmarked && !word.ascii) add_unmarked(word);
        if (word.dotted || !word.signs.empty()) add_symbol(word);
        if (parts_.characters) add_runs(word);
        if (parts_.pairs && word.last != nullptr)
            add({word.last, static_cast<std::size_t>(word.end - word.last)});
        return !is_full_;
    }

    static std::size_t size_of(const Word& word) {
        return static_cast<std::size_t>(word.end - word.begin);
    }

    // Count a feature; SHORT_NAME bytes of memory may be read at its name.
    void add(std::string_view name) {
        if (is_full_) return;
        if (prefix_.size() + name.size() > LONGEST_NAME) return;  // of a pair
        if (name.size() <= SHORT) return add_short(load_word(name.data()), name.size());
        const auto is_same = [this, name](std::string_view other) {
            return other.substr(prefix_.size()) == name;
        };
        const std::uint64_t key = table_.key_of(name);
        if (table_.add(key, 1.0, is_same)) return;
        char* const at = begin_name(prefix_.size() + name.size());
        if (at == nullptr) return;
        if (name.size() <= SHORT_NAME)  // the length of the copy is known
            std::memcpy(at, name.data(), SHORT_NAME);
        else
            std::memcpy(at, name.data(), name.size());
        keep(at, name.size(), key);
    }

    // The same of a name of at most SHORT bytes, the low ones of `bytes`: these are its key.
    void add_short(std::uint64_t bytes, std::size_t size) {
        if (is_full_) return;
        bytes &= (std::uint64_t{1} << 8 * size) - 1;
        const std::uint64_t key = bytes | std::uint64_t{size} << 56;
        if (table_.add(key, 1.0, [](std::string_view) { return true; })) return;
        char* const at = begin_name(prefix_.size() + size);
        if (at == nullptr) return;
        std::memcpy(at, &bytes, sizeof bytes);
        keep(at, size, key);
    }

    // The place of a new name, behind its prefix; null if there are as many as there may be.
    char* begin_name(std::size_t size) {
        is_full_ |= table_.size() == most_;
        if (is_full_) return nullptr;
        char* const at = names_.room(size);
        if (!prefix_.empty()) std::memcpy(at, prefix_.data(), prefix_.size());
        return at + prefix_.size();
    }

    void keep(const char* at, std::size_t size, std::uint64_t key) {
        size += prefix_.size();
        names_.keep(size);
        table_.append({at - prefix_.size(), size}, key, 1.0);
    }

    // Add the word without its marks.
    void add_unmarked(const Word& word) {
        std::array<char, 4> bytes;
        bool marked = false;
        other_.clear();
        for (const char* at = word.begin; at < word.end;)
            unicode::decompose(next_code(at), [&](char32_t code, unicode::Kind kind) {
                if (kind.bits & unicode::MARK)
                    marked = true;
                else
                    other_.append(bytes.data(), put_code(bytes.data(), code));
            });
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
    // a ~, so a run never means the same as one of them.
    void add_runs(const Word& word) {
        const char before = word.begin[-1], behind = *word.end;
        word.begin[-1] = '<';
        *word.end = '>';
        char* const marked = word.begin - 1;
        if (word.ascii && parts_.longest < SHORT)
            add_ascii_runs(marked, size_of(word) + 2);
        else
            add_any_runs(marked, size_of(word) + 2);
        word.begin[-1] = before;
        *word.end = behind;
    }

    void add_ascii_runs(const char* marked, std::size_t characters) {
        for (std::size_t begin = 0; begin + parts_.shortest <= characters; ++begin) {
            const std::uint64_t bytes = load_word(marked + begin) << 8 | '~';
            const std::size_t left = characters - begin;
            const std::size_t most = left < parts_.longest ? left : parts_.longest;
            for (std::size_t size = parts_.shortest; size <= most && size < characters; ++size)
                add_short(bytes, size + 1);
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
                add({name, static_cast<std::size_t>(starts_[begin + size] - name)});
            *name = before;
        }
    }

    TextParts parts_;
    std::size_t most_ = 0;
    bool is_full_ = false;
    std::string prefix_;  // of the names of features: the field
    FeatureTable table_;
    NameStore names_;
    WordReader<TextFeatures> words_;
    std::string unescaped_;            // a text of JSON that has escapes
    std::string stored_;               // texts of fields
    std::string other_;                // a name that is not in the text as it is
    std::vector<char*> starts_;        // of the characters of a word
};

}  // namespace manyclass
