// Reads the words of texts: folded by NFKC_Casefold and in NFC, as runs of the word characters of
// UTS #18. A letter of a script without spaces, with its marks, is a word, and so is an emoji
// sequence, without its joiners and tones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "storage/vocabulary.hpp"
#include "text/codes.hpp"
#include "text/composition.hpp"
#include "text/utf8.hpp"

namespace manyclass {

// A word in the reader's buffer, in which its sink may write. SHORT_NAME bytes may be read behind
// the word; there are at least two bytes before it.
struct Word {
    char* begin;
    char* end;
    bool ascii = true;
    bool marked = false;       // it has marks, or characters that marks are part of
    bool dotted = false;       // a full stop at the beginning of a token is right before it
    std::string_view signs{};  // + and # right behind it

    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// `Sink` has `bool wants_signs()` and `bool take(const Word&)`, false to read no more.
template <class Sink>
class WordReader {
public:
    explicit WordReader(Sink& sink) : sink_(sink), begin_(buffer_.data() + LEFT) {}

    // Read a text in valid UTF-8; words of more bytes than `longest` are left out, and so are
    // images in base64 and the like.
    void read(std::string_view text, std::size_t longest) {
        longest_ = longest < LONGEST_NAME ? longest : LONGEST_NAME;
        wants_signs_ = sink_.wants_signs();
        full_ = begin_ + longest_ + 1;
        dotted_ = after_stop_ = is_done_ = false;
        run_.clear();  // an exception may have ended the text before
        is_held_ = is_mixed_ = false;
        begin_word();
        const char* at = text.data();
        const char* const end = at + text.size();
        for (auto code = long_code(at, end); !code.empty(); code = long_code(at, end)) {
            read_part(at, code.data());
            if (is_done_) return;
            take_other(' ');
            if (is_done_) return;
            ++long_words_;
            at = code.data() + code.size();
        }
        read_part(at, end);
        if (!is_done_) end_word();
    }

    std::size_t long_words() const { return long_words_; }
    void forget_long_words() { long_words_ = 0; }

private:
    enum class Form { PLAIN, LETTER, EMOJI, FLAG };

    static constexpr std::size_t LEFT = 2, RIGHT = 32, MOST_SIGNS = 3;
    static constexpr std::size_t MOST_ATTACHED = 8192;  // such a word is too long for a name

    static constexpr std::string_view SIGNS_OF_CODE = "+/=_.-";
    // True for a byte of base64, to web tokens, or to a path.
    static constexpr std::array<bool, 256> IN_CODE = [] {
        std::array<bool, 256> in_code{};
        for (const char sign : SIGNS_OF_CODE) in_code[std::size_t(sign)] = true;
        for (std::size_t sign = '0'; sign <= '9'; ++sign) in_code[sign] = true;
        for (std::size_t sign = 'A'; sign <= 'Z'; ++sign)
            in_code[sign] = in_code[sign - 'A' + 'a'] = true;
        return in_code;
    }();

    // The first run of such bytes with more letters and digits than a name may have bytes, so a
    // rule of ===== is none; empty without one. Each step looks at the index where the run would be
    // too long, so it passes over most of a text.
    static std::string_view long_code(const char* at, const char* end) {
        constexpr auto LONGEST = static_cast<std::ptrdiff_t>(LONGEST_NAME);
        const auto in_code = [](char sign) { return IN_CODE[static_cast<unsigned char>(sign)]; };
        const auto is_letter_or_digit = [&](char sign) {
            return in_code(sign) && SIGNS_OF_CODE.find(sign) == std::string_view::npos;
        };
        while (end - at > LONGEST) {
            const char* behind = at + LONGEST + 1;
            while (behind > at && in_code(behind[-1])) --behind;
            if (behind == at) {
                behind += LONGEST + 1;
                while (behind < end && in_code(*behind)) ++behind;
                if (std::count_if(at, behind, is_letter_or_digit) > LONGEST)
                    return {at, static_cast<std::size_t>(behind - at)};
            }
            at = behind;
        }
        return {};
    }

    // Read the text up to `end`, which no mark follows.
    void read_part(const char* at, const char* end) {
        const char* const begin = at;
        while (at < end && !is_done_) {
            at = read_ascii(at, end);
            if (at < end && !is_done_) at = read_others(at, end, at > begin ? at[-1] : '\0');
        }
    }

    // Eight bytes: the top bit of each that is not a word character of ASCII, and the folded ones.
    struct Eight {
        std::uint64_t others, folded;
    };

    // Every byte is compared with the ends of a range by an addition that reaches its top bit.
    static Eight eight_of(std::uint64_t bytes) {
        constexpr std::uint64_t EACH = 0x0101010101010101ull, TOPS = 0x80 * EACH;
        const auto from = [](std::uint64_t low, unsigned char sign) {
            return low + (0x80u - sign) * EACH;
        };
        const std::uint64_t low = bytes & ~TOPS;
        const std::uint64_t capitals = from(low, 'A') & ~from(low, 'Z' + 1) & ~bytes & TOPS;
        const std::uint64_t folded = bytes | capitals >> 2, small = folded & ~TOPS;
        const std::uint64_t letters = from(small, 'a') & ~from(small, 'z' + 1);
        const std::uint64_t digits = from(low, '0') & ~from(low, '9' + 1);
        const std::uint64_t not_low_line = from(low ^ '_' * EACH, 1);
        return {((~(letters | digits) & not_low_line) | bytes) & TOPS, folded};
    }

    // The next eight bytes, with zeros behind the end.
    static std::uint64_t next_eight(const char* at, const char* end) {
        if (end - at >= 8) return load_word(at);
        std::uint64_t bytes = 0;
        while (end > at) bytes = bytes << 8 | static_cast<unsigned char>(*--end);
        return bytes;
    }

    // The folded form of a word character of ASCII, else 0.
    static char folded(char sign) {
        const Eight of = eight_of(static_cast<unsigned char>(sign));
        return of.others & 0x80 ? '\0' : static_cast<char>(of.folded);
    }

    // Read up to the first byte that is not ASCII.
    const char* read_ascii(const char* at, const char* end) {
        while (at < end) {
            Eight next = eight_of(next_eight(at, end));
            if (!(next.others & 0x80)) {
                if (form_ != Form::PLAIN || sign_count_ != 0) {
                    end_word();
                    if (is_done_) break;
                }
                at = read_word(at, end, next);
                if (at == end) break;
            }
            if (static_cast<signed char>(*at) < 0) break;
            take_other(static_cast<char32_t>(*at++));
            if (is_done_) break;
            if (!wants_signs_)
                while (at < end && is_other(*at)) ++at;
        }
        return at;
    }

    // A sign of ASCII below the digits: most of what is between words.
    static bool is_other(char sign) { return sign >= 0 && sign < '0'; }

    // Read word characters of ASCII, of which `next` has the first eight bytes.
    const char* read_word(const char* at, const char* end, Eight next) {
        while (true) {
            const int size = next.others ? __builtin_ctzll(next.others) / 8 : 8;
            if (out_ < full_) {
                std::memcpy(out_, &next.folded, sizeof next.folded);
                out_ += size;
            }
            at += size;
            if (next.others || at == end) return at;
            next = eight_of(next_eight(at, end));
        }
    }

    // Read up to the next byte of ASCII; `before` is the byte in front.
    const char* read_others(const char* at, const char* end, char before) {
        before_ = static_cast<signed char>(before) > 0 ? before : '\0';
        plain_.code = 0;
        do {
            const char32_t code = next_code(at);
            if (code == unicode::ZERO_WIDTH_JOINER) {
                join();
                continue;
            }
            const auto take = [this](char32_t each, unicode::Kind kind) { push(each, kind); };
            unicode::fold(code, take);
        } while (at < end && static_cast<signed char>(*at) < 0 && !is_done_);
        flush();
        return at;
    }

    // Take a folded code point, which may yet compose with those to come.
    void push(char32_t code, unicode::Kind kind) {
        if (kind.bits & unicode::ATTACHED) return push_attached({code, kind});
        flush();
        if (is_plain(kind.bits) && form_ == Form::PLAIN && sign_count_ == 0) {
            plain_ = {code, kind};  // most are final; so it is taken, and brought back if not
            before_plain_ = out_;
            before_ = '\0';
            return append(code, kind.bits);
        }
        held_ = {code, kind};
        is_held_ = true;
        before_ = '\0';
    }

    void push_attached(unicode::Folded attached) {
        if (run_.empty()) {
            if (!is_held_) bring_back();
            if (is_held_) run_.push_back(held_);
            is_held_ = false;
        }
        is_mixed_ |= (attached.kind.bits & unicode::MAYBE) != 0;
        if (!run_.empty())
            is_mixed_ |= run_.back().kind.combining_class > attached.kind.combining_class;
        if (run_.size() < MOST_ATTACHED) run_.push_back(attached);
    }

    // The last code point comes again, for a mark behind it may change it.
    void bring_back() {
        if (plain_.code != 0) {
            held_ = plain_;
            is_held_ = true;
            plain_.code = 0;
            out_ = before_plain_;
            return;
        }
        const char sign = before_;
        before_ = '\0';
        is_held_ = true;
        if (folded(sign) != 0) {
            held_ = {static_cast<char32_t>(folded(sign)), {unicode::WORD, 0}};
            if (out_ < full_) --out_;  // else the word is too long with the mark, too
        } else {
            held_ = {static_cast<char32_t>(sign), {0, 0}};
            is_held_ = sign == '<' || sign == '=' || sign == '>';
        }
    }

    // Take the code points that none to come can change.
    void flush() {
        if (is_held_) take(held_.code, held_.kind.bits);
        is_held_ = false;
        plain_.code = 0;
        if (!run_.empty()) flush_run();
    }

    [[gnu::noinline]] void flush_run() {
        if (is_mixed_) composer_.normalize(run_);
        is_mixed_ = false;
        for (const unicode::Folded& each : run_) take(each.code, each.kind.bits);
        run_.clear();
        if (run_.capacity() > 1024) std::vector<unicode::Folded>().swap(run_);
    }

    // A zero-width joiner: it joins two pictographs, and vanishes elsewhere.
    void join() {
        constexpr std::uint16_t EMOJI = unicode::PICTOGRAPH | unicode::TONE;
        if (is_held_ && (held_.kind.bits & EMOJI)) flush();
        if (!is_held_ && run_.empty() && form_ == Form::EMOJI && out_ > begin_) is_joined_ = true;
    }

    // Take a code point in its last form.
    void take(char32_t code, std::uint16_t bits) {
        constexpr std::uint16_t EMOJI = unicode::PICTOGRAPH | unicode::TONE | unicode::REGIONAL;
        if (bits & EMOJI) return take_emoji(code, bits);
        if (!(bits & unicode::WORD)) return take_other(code);
        if (sign_count_ != 0) end_word();
        if (bits & unicode::UNSPACED) {
            end_word();
            form_ = Form::LETTER;
        } else if (form_ != Form::PLAIN && !((bits & unicode::MARK) && form_ == Form::LETTER)) {
            end_word();
            form_ = Form::PLAIN;
        }
        append(code, bits);
    }

    void take_emoji(char32_t code, std::uint16_t bits) {
        if (bits & unicode::PICTOGRAPH) {
            if (!is_joined_) end_word();
            is_joined_ = false;
            form_ = Form::EMOJI;
            append(code, bits);
        } else if (bits & unicode::REGIONAL) {
            const bool second = form_ == Form::FLAG && out_ > begin_;
            if (!second) end_word();
            form_ = second ? Form::EMOJI : Form::FLAG;
            append(code, bits);
            if (second) end_word();
        } else if (form_ == Form::EMOJI && out_ > begin_) {
            is_joined_ = false;
        } else {
            take_other(code);
        }
    }

    // Take a code point that belongs to no word.
    void take_other(char32_t code) {
        if (!wants_signs_) return end_word();
        const bool in_word = out_ > begin_ && form_ <= Form::LETTER;
        if (in_word && form_ == Form::PLAIN && (code == '+' || code == '#')) {
            if (sign_count_ <= MOST_SIGNS) signs_[sign_count_++] = static_cast<char>(code);
            return;
        }
        const bool behind = in_word && sign_count_ == 0;
        end_word();
        const bool stop = code == '.';
        dotted_ = stop && !behind && !after_stop_;
        after_stop_ = stop;
    }

    // A letter, digit or low line of a script with spaces.
    static bool is_plain(std::uint16_t bits) {
        return (bits & ~unicode::COMPOSED) == unicode::WORD;
    }

    void append(char32_t code, std::uint16_t bits) {
        if (out_ >= full_) return;
        is_ascii_ &= code < 0x80;
        is_marked_ |= (bits & (unicode::MARK | unicode::COMPOSED)) != 0;
        out_ = put_code(out_, code);
    }

    void begin_word() {
        out_ = begin_;
        is_ascii_ = true;
        sign_count_ = 0;
        is_marked_ = is_joined_ = false;
        form_ = Form::PLAIN;
    }

    void end_word() {
        if (out_ == begin_ || is_done_) return;
        const auto size = static_cast<std::size_t>(out_ - begin_);
        const bool is_word = form_ != Form::FLAG && size <= longest_;
        if (form_ != Form::FLAG && !is_word) ++long_words_;
        if (is_word) {
            const bool plain = form_ == Form::PLAIN;
            Word word{begin_, out_, is_ascii_, is_marked_, plain && dotted_, {}};
            if (sign_count_ <= MOST_SIGNS) word.signs = {signs_.data(), sign_count_};
            is_done_ = !sink_.take(word);
        }
        dotted_ = after_stop_ = false;
        begin_word();
    }

    Sink& sink_;
    std::array<char, LEFT + LONGEST_NAME + 1 + RIGHT> buffer_{};
    char* const begin_;      // of the word that is being read
    char* out_ = nullptr;    // its next byte
    char* full_ = nullptr;   // it is too long from here on, and not written any further
    std::size_t longest_ = LONGEST_NAME, long_words_ = 0;
    bool wants_signs_ = false, is_done_ = false;

    Form form_ = Form::PLAIN;
    bool is_ascii_ = true;
    bool is_marked_ = false;
    bool is_joined_ = false;   // a joiner is behind an emoji
    bool dotted_ = false;      // a full stop at the beginning of a token is right before
    bool after_stop_ = false;  // the code point before is a full stop
    std::size_t sign_count_ = 0;
    std::array<char, MOST_SIGNS + 1> signs_{};

    char before_ = '\0';                // a byte of ASCII that a mark may change
    unicode::Folded plain_{};           // a code point taken that a mark may change, if not 0
    char* before_plain_ = nullptr;      // its begin
    unicode::Folded held_{};            // the last code point, if is_held_; later ones may change it
    bool is_held_ = false;
    std::vector<unicode::Folded> run_;  // the same with attached ones behind it, or these alone
    bool is_mixed_ = false;             // the run may not be in NFC
    unicode::Composer composer_;
};

}  // namespace manyclass
