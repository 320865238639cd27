// Reads the words of texts: folded by NFKC_Casefold and in NFC, as runs of the word characters of
// UTS #18. A letter of a script without spaces, with its marks, is a word, and so is an emoji
// sequence, without its joiners and tones.
//
//   buffer_   [ ... | last word |' '| this word ]
//
// The last word stays beside this one, so that a pair of them is one piece of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/wire.hpp"
#include "text/codes.hpp"
#include "text/composition.hpp"
#include "text/utf8.hpp"

namespace manyclass {

// A word in the reader's buffer. SHORT_NAME bytes may be read behind it; the two bytes
// before it and the one behind it may be overwritten meanwhile.
struct Word {
    char* begin;
    char* end;
    char* last = nullptr;  // the word before, right in front of the blank before this one
    bool ascii = true;
    bool dotted = false;       // a full stop at the beginning of a token is right before it
    std::string_view signs{};  // + and # right behind it
};

// `Sink` has `bool wants_signs()` and `bool take(const Word&)`, false to read no more.
template <class Sink>
class WordReader {
public:
    explicit WordReader(Sink& sink) : sink_(sink), buffer_(new char[CAPACITY]()) {}

    // Read a text in valid UTF-8; words of more bytes than `longest` are left out.
    void read(std::string_view text, std::size_t longest) {
        longest_ = longest < LONGEST_NAME ? longest : LONGEST_NAME;
        wants_signs_ = sink_.wants_signs();
        last_ = nullptr;
        dotted_ = after_stop_ = is_done_ = false;
        begin_word(buffer_.get() + LEFT);
        const char* at = text.data();
        const char* const end = at + text.size();
        while (at < end && !is_done_) {
            at = read_ascii(at, end);
            if (at < end && !is_done_) at = read_others(at, end, at > text.data() ? at[-1] : '\0');
        }
        if (!is_done_) end_word();
    }

    std::size_t long_words() const { return long_words_; }
    void forget_long_words() { long_words_ = 0; }

private:
    enum class Form { PLAIN, LETTER, EMOJI, FLAG };

    static constexpr std::size_t CAPACITY = 32'768, LEFT = 2, SLACK = 32, MOST_SIGNS = 3;
    static constexpr std::size_t MOST_ATTACHED = 8192;  // such a word is too long for a name

    struct AsciiFolds {
        char of[256] = {};
        constexpr AsciiFolds() {
            for (char sign = '0'; sign <= '9'; ++sign) of[static_cast<int>(sign)] = sign;
            for (char sign = 'a'; sign <= 'z'; ++sign) of[static_cast<int>(sign)] = sign;
            for (char sign = 'A'; sign <= 'Z'; ++sign)
                of[static_cast<int>(sign)] = static_cast<char>(sign + 'a' - 'A');
            of[static_cast<int>('_')] = '_';
        }
    };
    static constexpr AsciiFolds ASCII{};  // the folded form of a word character, else 0

    static char folded(char sign) { return ASCII.of[static_cast<unsigned char>(sign)]; }

    // Read up to the first byte that is not ASCII.
    const char* read_ascii(const char* at, const char* end) {
        while (at < end) {
            if (folded(*at) != 0) {
                if (form_ != Form::PLAIN || sign_count_ != 0) {
                    end_word();
                    if (is_done_) break;
                    form_ = Form::PLAIN;
                }
                char* out = out_;
                const std::ptrdiff_t room = out < full_ ? full_ - out : 0;
                const char* const until = end - at < room ? end : at + room;
                while (at < until) {
                    const char sign = folded(*at);
                    if (sign == 0) break;
                    *out++ = sign;
                    ++at;
                }
                out_ = out;
                if (out_ >= full_)
                    while (at < end && folded(*at) != 0) ++at;
                if (at == end) break;
            }
            if (static_cast<signed char>(*at) < 0) break;
            take_other(static_cast<char32_t>(*at++));
            if (is_done_) break;
        }
        return at;
    }

    // Read up to the next byte of ASCII; `before` is the byte in front.
    const char* read_others(const char* at, const char* end, char before) {
        before_ = static_cast<signed char>(before) > 0 ? before : '\0';
        do {
            const char32_t code = next_code(at);
            if (code == unicode::ZERO_WIDTH_JOINER) {
                join();
                continue;
            }
            unicode::fold(code, [this](char32_t each, unicode::Kind kind) { push(each, kind); });
        } while (at < end && static_cast<signed char>(*at) < 0 && !is_done_);
        flush();
        return at;
    }

    // Take a folded code point, which may yet compose with those to come.
    void push(char32_t code, unicode::Kind kind) {
        if (kind.bits & unicode::ATTACHED) return push_attached({code, kind});
        flush();
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

    // The byte of ASCII in front comes again, for a mark behind it may change it.
    void bring_back() {
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
        constexpr std::uint8_t EMOJI = unicode::PICTOGRAPH | unicode::TONE;
        if (is_held_ && (held_.kind.bits & EMOJI)) flush();
        if (!is_held_ && run_.empty() && form_ == Form::EMOJI && out_ > begin_) is_joined_ = true;
    }

    // Take a code point in its last form.
    void take(char32_t code, std::uint8_t bits) {
        constexpr std::uint8_t EMOJI = unicode::PICTOGRAPH | unicode::TONE | unicode::REGIONAL;
        if (bits == unicode::WORD && form_ == Form::PLAIN && sign_count_ == 0) return append(code);
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
        append(code);
    }

    void take_emoji(char32_t code, std::uint8_t bits) {
        if (bits & unicode::PICTOGRAPH) {
            if (!is_joined_) end_word();
            is_joined_ = false;
            form_ = Form::EMOJI;
            append(code);
        } else if (bits & unicode::REGIONAL) {
            const bool second = form_ == Form::FLAG && out_ > begin_;
            if (!second) end_word();
            form_ = second ? Form::EMOJI : Form::FLAG;
            append(code);
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

    void append(char32_t code) {
        if (out_ >= full_) return;
        is_ascii_ &= code < 0x80;
        out_ = put_code(out_, code);
    }

    void begin_word(char* begin) {
        begin_ = out_ = begin;
        full_ = begin + longest_ + 1;
        is_ascii_ = true;
        sign_count_ = 0;
        is_joined_ = false;
        form_ = Form::PLAIN;
    }

    void end_word() {
        if (out_ == begin_) return;
        const auto size = static_cast<std::size_t>(out_ - begin_);
        const bool is_word = form_ != Form::FLAG && size <= longest_;
        if (form_ != Form::FLAG && !is_word) ++long_words_;
        if (is_word && !is_done_) {
            const bool plain = form_ == Form::PLAIN;
            Word word{begin_, out_, last_, is_ascii_, plain && dotted_, {}};
            if (sign_count_ <= MOST_SIGNS) word.signs = {signs_.data(), sign_count_};
            is_done_ = !sink_.take(word);
            last_ = begin_;
            *out_++ = ' ';
            begin_ = out_;
            if (begin_ + longest_ + SLACK > buffer_.get() + CAPACITY) move_to_front();
        }
        dotted_ = after_stop_ = false;
        begin_word(begin_);
    }

    // Only the last word, and the blank behind it, are still needed.
    void move_to_front() {
        const auto size = static_cast<std::size_t>(begin_ - last_);
        std::memmove(buffer_.get() + LEFT, last_, size);
        last_ = buffer_.get() + LEFT;
        begin_ = last_ + size;
    }

    Sink& sink_;
    std::unique_ptr<char[]> buffer_;
    std::size_t longest_ = LONGEST_NAME, long_words_ = 0;
    bool wants_signs_ = false, is_done_ = false;

    char* last_ = nullptr;   // the word before, if there is one
    char* begin_ = nullptr;  // of the word that is being read
    char* out_ = nullptr;    // its next byte
    char* full_ = nullptr;   // it is too long from here on, and not written any further
    Form form_ = Form::PLAIN;
    bool is_ascii_ = true;
    bool is_joined_ = false;   // a joiner is behind an emoji
    bool dotted_ = false;      // a full stop at the beginning of a token is right before
    bool after_stop_ = false;  // the code point before is a full stop
    std::size_t sign_count_ = 0;
    std::array<char, MOST_SIGNS + 1> signs_{};

    char before_ = '\0';                // a byte of ASCII that a mark may change
    unicode::Folded held_{};            // a code point that those to come may change, if
    bool is_held_ = false;              // it is so
    std::vector<unicode::Folded> run_;  // the same with attached ones behind it, or these alone
    bool is_mixed_ = false;             // the run may not be in NFC
    unicode::Composer composer_;
};

}  // namespace manyclass
