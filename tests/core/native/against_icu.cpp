// Compares the Unicode tables, and composition by them, with ICU: all code points, the lines of
// NormalizationTest.txt from the standard input, and random strings. `make unicode-check` runs it.
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "text/composition.hpp"

namespace {

using namespace manyclass::unicode;
using Codes = std::vector<char32_t>;

constexpr int MOST_SHOWN = 20, STRINGS = 300'000;
int faults = 0;

void complain(const char* what, const Codes& of) {
    if (++faults > MOST_SHOWN) return;
    std::printf("%s differs:", what);
    for (const char32_t code : of) std::printf(" %04X", static_cast<unsigned>(code));
    std::puts("");
}

const icu::Normalizer2& casefold() {
    UErrorCode status = U_ZERO_ERROR;
    return *icu::Normalizer2::getNFKCCasefoldInstance(status);
}

Codes by_icu(const Codes& given) {
    icu::UnicodeString text;
    for (const char32_t code : given) text.append(static_cast<UChar32>(code));
    UErrorCode status = U_ZERO_ERROR;
    const icu::UnicodeString made = casefold().normalize(text, status);
    Codes codes;
    for (int at = 0; at < made.length(); at = made.moveIndex32(at, 1))
        codes.push_back(static_cast<char32_t>(made.char32At(at)));
    return codes;
}

std::vector<Folded> folded(const Codes& given) {
    std::vector<Folded> run;
    for (const char32_t code : given)
        fold(code, [&run](char32_t each, Kind kind) { run.push_back({each, kind}); });
    return run;
}

Codes codes_of(const std::vector<Folded>& run) {
    Codes codes;
    for (const Folded& each : run) codes.push_back(each.code);
    return codes;
}

Codes composed(const Codes& given) {
    static Composer composer;
    std::vector<Folded> run = folded(given);
    composer.normalize(run);
    return codes_of(run);
}

// A dot above an i goes in our words alone.
bool has_dot(const Codes& given) {
    bool dot = false;
    for (const char32_t code : codes_of(folded(given))) dot |= code == DOT_ABOVE;
    return dot;
}

bool is_unspaced(UChar32 code) {
    if (!(U_GET_GC_MASK(code) & (U_GC_L_MASK | U_GC_NL_MASK))) return false;
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(code, &status);
    for (const UScriptCode each : {USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA,
                                   USCRIPT_BOPOMOFO, USCRIPT_NUSHU, USCRIPT_TANGUT})
        if (script == each) return true;
    UScriptCode scripts[32];
    const int count = uscript_getScriptExtensions(code, scripts, 32, &status);
    bool shared = count > 1 || script == USCRIPT_COMMON || script == USCRIPT_INHERITED;
    for (int place = 0; place < count; ++place)
        shared &= scripts[place] == USCRIPT_HAN || scripts[place] == USCRIPT_HIRAGANA ||
                  scripts[place] == USCRIPT_KATAKANA || scripts[place] == USCRIPT_BOPOMOFO;
    return shared || u_hasBinaryProperty(code, UCHAR_IDEOGRAPHIC) ||
           u_getIntPropertyValue(code, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

bool decomposes_by_icu(UChar32 code) {
    UErrorCode status = U_ZERO_ERROR;
    UChar parts[32];
    return unorm2_getDecomposition(unorm2_getNFCInstance(&status), code, parts, 32, &status) >= 0;
}

std::uint16_t bits_by_icu(UChar32 code) {
    const auto has = [code](UProperty property) { return u_hasBinaryProperty(code, property); };
    const auto of = [code](std::uint32_t mask) { return (U_GET_GC_MASK(code) & mask) != 0; };
    const bool maybe = u_getIntPropertyValue(code, UCHAR_NFC_QUICK_CHECK) == UNORM_MAYBE;
    unsigned bits = 0;
    if (has(UCHAR_ALPHABETIC) || of(U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) bits |= WORD;
    if (of(U_GC_M_MASK)) bits |= MARK;
    if (is_unspaced(code)) bits |= UNSPACED;
    if (has(UCHAR_EXTENDED_PICTOGRAPHIC)) bits |= PICTOGRAPH;
    if (has(UCHAR_EMOJI_MODIFIER)) bits |= TONE;
    if (has(UCHAR_REGIONAL_INDICATOR)) bits |= REGIONAL;
    if (maybe || u_getCombiningClass(code) != 0) bits |= ATTACHED;
    if (maybe) bits |= MAYBE;
    if (!hangul::is_syllable(static_cast<char32_t>(code)) && decomposes_by_icu(code)) bits |= COMPOSED;
    return static_cast<std::uint16_t>(bits);
}

void check_codes() {
    for (char32_t code = 0; code < 0x110000; ++code) {
        if (code >= 0xd800 && code < 0xe000) continue;
        const Codes wanted = by_icu({code});
        if (codes_of(folded({code})) != wanted) complain("the folded form", {code});
        if (wanted != Codes{code}) continue;
        const Kind kind = kind_of(code);
        if (kind.bits != bits_by_icu(static_cast<UChar32>(code))) complain("a property", {code});
        if (kind.combining_class != u_getCombiningClass(static_cast<UChar32>(code)))
            complain("the combining class", {code});
    }
}

// The columns of the file: a source, its NFC, NFD, NFKC and NFKD.
void check_lines() {
    int lines = 0;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.empty() || line[0] == '#' || line[0] == '@') continue;
        std::istringstream columns(line);
        std::vector<Codes> given;
        for (std::string column; given.size() < 5 && std::getline(columns, column, ';');) {
            std::istringstream numbers(column);
            given.emplace_back();
            for (unsigned code; numbers >> std::hex >> code;) given.back().push_back(code);
        }
        ++lines;
        for (const Codes& each : given) {
            if (has_dot(each)) continue;
            if (composed(each) != by_icu(each)) complain("a line of the test, by ICU,", each);
        }
        const bool stays = codes_of(folded(given[1])) == given[1] && !has_dot(given[1]);
        for (const int source : {0, 1, 2}) {
            const Codes& from = given[static_cast<std::size_t>(source)];
            if (stays && codes_of(folded(from)) == from && composed(from) != given[1])
                complain("a line of the test", from);
        }
    }
    if (lines < 19'000) complain("the number of lines", {});
}

// Strings of code points that change beside others.
void check_strings() {
    std::mt19937 drawn(7);
    Codes lively;
    for (char32_t code = 0; code < 0x20000; ++code)
        if ((code < 0xd800 || code >= 0xe000) && codes_of(folded({code})) == Codes{code})
            if (kind_of(code).bits & (ATTACHED | COMPOSED)) lively.push_back(code);
    for (const Composition& each : COMPOSITIONS) lively.insert(lively.end(), {each.first, each.second});
    for (int count = 0; count < STRINGS; ++count) {
        Codes given;
        for (auto left = drawn() % 8 + 1; left > 0; --left)
            given.push_back(drawn() % 4 ? lively[drawn() % lively.size()] : drawn() % 0xd800);
        if (!has_dot(given) && composed(given) != by_icu(given)) complain("a string", given);
    }
}

}  // namespace

int main() {
    UVersionInfo version;
    u_getUnicodeVersion(version);
    if (version[0] != 15 || version[1] != 0) {
        std::printf("ICU has Unicode %d.%d\n", version[0], version[1]);
        return 2;
    }
    check_codes();
    check_lines();
    check_strings();
    std::printf("%d differences\n", faults);
    return faults != 0;
}
