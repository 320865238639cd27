"""The analysis of texts: its parts, fields and limits, and its equality with the reference."""
# ruff: noqa: RUF001 (letters of many scripts are meant)

import gzip
import json
import random
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import text as module
from manyclass.core.errors import InstanceError
from manyclass.core.instance import LONGEST_NAME
from manyclass.core.text import LONGEST_FIELD, MOST_FIELDS, PARTS, TextAnalysis, features_of
from tests.core.references.text_comparison import (
    ANALYSES,
    EMOJI,
    LIVELY,
    assert_equal,
    random_texts,
)

WORDS = TextAnalysis()
PAIRS = TextAnalysis(pairs=True)
CHARACTERS = TextAnalysis(characters=True)
EVERYTHING = ANALYSES[-1]
MIXED = st.text(st.sampled_from(LIVELY + EMOJI), max_size=40) | st.text(max_size=20)
analyses = pytest.mark.parametrize("analysis", ANALYSES, ids=str)


# --- words and pairs ------------------------------------------------------------------------------


def test_words_and_pairs_in_the_order_of_the_text():
    assert [*TextAnalysis.parse("words+pairs").features_of("The CAT, the cat!").items()] == [
        ("the", 2),
        ("cat", 2),
        ("the cat", 2),
        ("cat the", 1),
    ]


def test_the_default_has_words_pairs_and_runs_of_characters():
    assert [*features_of("My CATS").items()] == [
        (name, 1) for name in ("my", "cats", "~<cat", "~cats", "~ats>", "my cats")
    ]


def test_no_words_no_features():
    assert features_of(" … !? +#.") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("தமிழ் বাংলা", ["தமிழ்", "বাংলা"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
        ("İstanbul I\u0307 i\u0323\u0307", ["istanbul", "i", "ị"]),
        ("co\u00adoperate zero\u200bwidth", ["cooperate", "zerowidth"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("👍🏽 great 😀😀", ["👍", "great", "😀"]),
        ("👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🇩🇪🇫🇷🇮", ["👩💻", "❤🔥", "🇩🇪", "🇫🇷"]),
        ("東京都 tower", ["東", "京", "都", "tower"]),
        ("กินข้าว", ["กิ", "น", "ข้", "า", "ว"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("ﬁle ＡＢＣ Straße οδος", ["file", "abc", "strasse", "οδοσ"]),
        ("snake_case x2 ½ №5", ["snake_case", "x2", "1", "2", "no5"]),
        ("a=\u0338b <\u0338", ["a", "b"]),
    ],
)
def test_words_of_a_text(text, words):
    assert [*WORDS.features_of(text)] == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e\u0301lan", "Élan"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("\u1112\u1161\u11ab", "한"),
        ("\u0634\u064e\u0651", "\u0634\u0651\u064e"),
        ("e\u00ad\u0301", "é"),
    ],
)
def test_texts_that_differ_in_form_only_have_the_same_features(one, other):
    assert EVERYTHING.features_of(one) == EVERYTHING.features_of(other)


@given(st.text(st.sampled_from(LIVELY), max_size=40))
def test_words_stay_what_they_are(text):
    words = [*WORDS.features_of(text)]
    assert [*WORDS.features_of(" ".join(words))] == words


# --- parts ----------------------------------------------------------------------------------------


def test_runs_of_characters_lie_within_words():
    assert CHARACTERS.features_of("Abc abc, x") == {
        **{"abc": 2, "x": 1},
        **{"~<abc": 2, "~abc>": 2},
    }


def test_the_first_64_different_words_have_runs():
    words = [f"word{number}" for number in range(100, 170)]
    found = CHARACTERS.features_of(" ".join([*words, "word169", *words[:2]]))
    assert [name for name in found if name.endswith(">")] == [
        f"~{each[-3:]}>" for each in words[:64]
    ]
    assert (found["~100>"], found["~102>"]) == (2, 1)
    in_fields = CHARACTERS.features_of({"a": " ".join(words[:60]), "b": " ".join(words[:60])})
    assert sum(name.endswith(">") for name in in_fields) == 64


def test_a_word_with_marks_has_the_plain_word_beside_it_but_not_in_pairs():
    found = TextAnalysis.parse("words+pairs+unmarked").features_of("Un café, cafe")
    assert found == {"un": 1, "café": 1, "cafe": 2, "un café": 1, "café cafe": 1}


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("C++ and C# on .NET", ["c++", "c#", ".net"]),
        ("(.net), c#.", [".net", "c#"]),
        ("a.net ...net 5++++ # + 字+ c＋＋", ["c++"]),
        ("a+b", ["a+"]),
    ],
)
def test_signs_beside_a_word_are_kept(text, symbols):
    with_symbols = TextAnalysis(symbols=True).features_of(text)
    assert [name for name in with_symbols if name not in WORDS.features_of(text)] == symbols


@analyses
def test_an_analysis_reads_back(analysis):
    assert TextAnalysis.parse(str(analysis)) == analysis
    assert hash(TextAnalysis.parse(str(analysis))) == hash(analysis)
    assert [part for part in PARTS if getattr(analysis, part)] == str(analysis).split("+")[1:]


def test_events_and_peers_keep_an_analysis_by_these_bits():
    codes = {part: TextAnalysis.parse(f"words+{part}").code for part in PARTS}
    assert codes == {"pairs": 1, "characters": 2, "unmarked": 4, "symbols": 8}
    assert WORDS.code == 0
    assert [TextAnalysis.of_code(code).code for code in range(16)] == [*range(16)]


def test_other_runs_of_characters_are_another_analysis():
    other = CHARACTERS._with_runs(3, 5, 0.5)
    assert other != CHARACTERS
    assert other == CHARACTERS._with_runs(3, 5, 0.5)


def test_the_parts_of_an_analysis_may_come_in_any_order():
    assert str(TextAnalysis.parse(" words + symbols+pairs ")) == "words+pairs+symbols"
    assert str(TextAnalysis.parse("pairs+words")) == "words+pairs"


@pytest.mark.parametrize(
    "wrong", ["", "pairs", "words+", "words+pairs+pairs", "words+words", "words,pairs", "words+x"]
)
def test_another_text_is_no_analysis(wrong):
    with pytest.raises(ValueError, match="must be words, or words with any of pairs"):
        TextAnalysis.parse(wrong)


def test_parts_are_those_of_the_documentation():
    assert PARTS == ("pairs", "characters", "unmarked", "symbols")
    assert all(f"    {part} " in (module.__doc__ or "") for part in PARTS)


# --- the reference --------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_code_point_is_read_as_by_the_reference():
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            assert_equal(EVERYTHING, chr(code))
            assert_equal(EVERYTHING, f"a{chr(code)}b")


@analyses
@given(st.data())
def test_texts_are_read_as_by_the_reference(analysis, data):
    assert_equal(analysis, data.draw(MIXED), data.draw(st.sampled_from([0, 1, 5, 20, 1000])))


@pytest.mark.slow
def test_random_texts_are_read_as_by_the_reference():
    for number, text in enumerate(random_texts(100_000, seed=1)):
        assert_equal(ANALYSES[number % 16], text)


def test_real_texts_are_read_as_by_the_reference():
    stored = files("manyclass.service.samples").joinpath("banking77.jsonl.gz").read_bytes()
    for line in gzip.decompress(stored).decode().splitlines()[:500]:
        assert_equal(EVERYTHING, json.loads(line)["text"])


# --- fields ---------------------------------------------------------------------------------------


def test_the_features_of_fields_are_apart():
    fields = {"title": "Red car", "body": "A red car"}
    assert PAIRS.features_of(fields) == {
        **{"title:red": 1, "title:car": 1, "title:red car": 1},
        **{"body:a": 1, "body:red": 1, "body:a red": 1, "body:car": 1, "body:red car": 1},
    }


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=LONGEST_FIELD // 4)


@given(st.dictionaries(NAMES, MIXED, min_size=1, max_size=MOST_FIELDS))
def test_fields_are_read_as_by_the_reference(fields):
    assert_equal(EVERYTHING, fields)
    assert_equal(EVERYTHING, fields, 10)


@pytest.mark.parametrize("count", [0, MOST_FIELDS + 1])
def test_a_text_has_a_field_and_few_of_them(count):
    with pytest.raises(InstanceError, match=f"1 to {MOST_FIELDS}"):
        PAIRS.instance_of({str(number): "a" for number in range(count)})


@pytest.mark.parametrize("field", ["", "x" * (LONGEST_FIELD + 1), "é" * 126, "\ud800", 5])
def test_a_field_is_named_as_a_feature_is(field):
    with pytest.raises(InstanceError, match="field name"):
        PAIRS.instance_of({field: "a"})


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["a", "é", "日\u0301", "👩\u200d"])
def test_a_word_that_is_longer_than_a_name_is_left_out_and_counted(letter):
    for spare in (-1, 0, 1, LONGEST_NAME, 40_000):
        count = (LONGEST_NAME + spare) // len(letter.encode())
        word = letter * count
        assert_equal(EVERYTHING, f"see {word} below {word}")
        assert_equal(EVERYTHING, {"field": f"see {word} below"})
    found = PAIRS.instance_of(f"see {'x' * 5000} below")
    assert dict(found.instance.items()) == {"see": 1, "below": 1, "see below": 1}
    assert found.long_words == 1


BEFORE = ["", ".", "c", "é", "é\u0301 ", "👩\u200d", "日", "c++"]
BEHIND = ["", "\u0301", "\u200d👩", "é", "+", " ", "日", ",+x"]


@pytest.mark.parametrize(
    ("before", "behind"),
    [(each, BEHIND[(at + step) % 8]) for at, each in enumerate(BEFORE) for step in (0, 3)],
)
def test_an_image_in_base64_is_left_out_whole(before, behind):
    """Its signs cut it into many words, which would be features of no other text."""
    code = (61 * "aB9" + "+-/_.=") * (LONGEST_NAME // 183) + "q" * (LONGEST_NAME % 183)
    assert sum(map(str.isalnum, code)) == LONGEST_NAME
    for each in (code, code + "x", code + code, f"{code}x {code}x", code + "x," + code):
        assert_equal(EVERYTHING, f"see{before}{each}{behind}below")
        assert_equal(PAIRS, {"a": each + behind, "b": before + each})
    found = PAIRS.instance_of(f"see data:image/png;base64,{code}x== below")
    words = {"see", "data", "image", "png", "base64", "below"}
    assert {name for name, _ in found.instance.items() if " " not in name} == words
    assert ("base64 below", 1) in found.instance.items()
    assert found.long_words == 1


@pytest.mark.parametrize("rule", [5000 * "=", 5000 * "-=", 2000 * "-a-", 2000 * "_" + 4096 * "."])
def test_a_long_rule_leaves_the_words_beside_it(rule):
    assert_equal(EVERYTHING, f"Section{rule}Title {rule} below")
    found = WORDS.instance_of(f"Section{rule.replace('_', '-')}Title")
    assert {"section", "title"} <= {name for name, _ in found.instance.items()}
    assert found.long_words == 0


def test_a_letter_with_more_marks_than_a_name_is_left_out():
    marks = "\u0301\u0316" * 6_000
    assert_equal(EVERYTHING, f"a{marks} b")
    assert WORDS.instance_of(f"a{marks} b").long_words == 1


def test_words_and_pairs_up_to_the_longest_name():
    for size in range(2040, 2056):
        assert_equal(PAIRS, f"{'a' * size} {'b' * size} c")


def test_a_text_with_more_features_than_allowed_is_cut():
    found = PAIRS.instance_of("one two one three four", 4)
    assert dict(found.instance.items()) == {"one": 2, "two": 1, "one two": 1, "two one": 1}
    assert found.truncated
    assert not PAIRS.instance_of("one two one", 4).truncated


@pytest.mark.parametrize("most", [1, 50, 300])
def test_names_of_features_have_so_many_bytes_together(most):
    """A small text of a field with a long name would be a large instance."""
    field, words = "f" * LONGEST_FIELD, " ".join(f"{number}".zfill(60) for number in range(900))
    for analysis in (PAIRS, EVERYTHING):
        assert_equal(analysis, {field: words}, most)
        assert_equal(analysis, {"a": words[:9000], field: words}, most)
        assert_equal(analysis, {field: "one two three " + words, "b": "one two"}, most)
    found = PAIRS.instance_of({field: words}, 300)
    names = [name for name, _ in found.instance.items()]
    assert found.truncated
    assert 0 <= 64 * 300 + 65_536 - sum(map(len, names)) < 400
    assert not PAIRS.instance_of({field: words[:6000]}, 300).truncated


@analyses
def test_long_texts_are_read_as_by_the_reference(analysis):
    drawn = random.Random(3)
    text = "".join(f"{drawn.choice(LIVELY)}{drawn.randrange(300)} " for _ in range(8000))
    assert_equal(analysis, text)
    assert_equal(analysis, text, 700)


def test_nothing_behind_the_largest_number_of_features_is_counted():
    text = "\u0338cafea\u0301.net\U0001f3fdC++#\U0001f44d.net cafe\u0301 .net.net cafe\u0301 C++"
    for analysis in ANALYSES:
        for most in range(40):
            assert_equal(analysis, text, most)


def test_threads_read_long_texts_at_the_same_time():
    texts = [f"{number} words of a text " * 5000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(EVERYTHING.instance_of, texts)]
    assert found == [EVERYTHING.instance_of(text) for text in texts]


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(InstanceError, match=r"not valid Unicode: it has '\\ud83d' alone"):
        PAIRS.instance_of("a \ud83d b")
    with pytest.raises(InstanceError, match="must be a string"):
        PAIRS.instance_of({"title": 5})


# --- JSON -----------------------------------------------------------------------------------------


@given(MIXED, st.booleans(), st.sampled_from(["", " ", "\n\t"]))
def test_a_text_in_json_is_read_as_the_text(text, ascii_only, space):
    data = json.dumps(text, ensure_ascii=ascii_only).encode()
    found = EVERYTHING.instance_of_json(space.encode() + data + space.encode())
    assert found == EVERYTHING.instance_of(text)
    every = "".join(f"\\u{unit:04X}" for unit in utf16_of(text))
    assert EVERYTHING.instance_of_json(f'"{every}"'.encode()) == found


@given(st.dictionaries(st.text("abé", min_size=1), MIXED, min_size=1, max_size=4), st.booleans())
def test_fields_in_json_are_read_as_the_fields(fields, ascii_only):
    found = EVERYTHING.instance_of_json(json.dumps(fields, ensure_ascii=False).encode())
    assert found == EVERYTHING.instance_of(fields)
    escaped = json.dumps({"t": [*fields.values()][:1]}, ensure_ascii=ascii_only)
    assert EVERYTHING.instance_of_json(escaped.encode()) is None


def test_a_text_in_json_has_1_to_16_fields():
    for count, is_read in ((0, False), (1, True), (16, True), (17, False)):
        fields = {f"f{number}": "a" for number in range(count)}
        assert bool(EVERYTHING.instance_of_json(json.dumps(fields).encode())) is is_read


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b'"', b'"a', b'"\\', b'"\\"', b'"\\x"', b'"\\u12"', b'"\\u12g4"', b'"a" b', b"5"),
        *(b'"\\ud83d"', b'"\\ud83d\\u0041"', b'"\\ude00"', b'"\\ud83dx"', b'"\n"', b'"\xff"'),
        *(b'"\xed\xa0\x80"', b'["a"]', b"{", b'{"a":1}', b'{"a":"b"', b'{"a":"b","a":"c"}'),
        *(b'{"\\u0061":"b"}', b'{"":"b"}', b'{"a" "b"}', b"null"),
    ],
)
def test_another_json_is_left_to_the_ordinary_parser(data):
    assert EVERYTHING.instance_of_json(data) is None


def test_escapes_at_every_place_of_a_text_are_read():
    """The scan reads eight bytes at a time."""
    for size in range(40):
        for escape in ('\\"', "\\\\", "\\/", "\\b\\f\\n\\r\\t", "\\u00e9", "\\ud83d\\ude00", "é"):
            data = f'"{"a" * size}{escape}bc"'
            found = EVERYTHING.instance_of_json(data.encode())
            assert found == EVERYTHING.instance_of(json.loads(data))


def test_a_long_text_in_json_is_cut_as_any():
    text = "é word\n" * 10_000
    found = PAIRS.instance_of_json(json.dumps(text).encode(), 3)
    assert found == PAIRS.instance_of(text, 3)


def utf16_of(text):
    data = text.encode("utf-16-le")
    return [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]


@pytest.mark.parametrize("most", [*range(1, 60), 1000])
def test_words_that_come_again_are_counted_up_to_any_limit(most):
    """The runs of such a word are counted once, by its times; limits fall within them."""
    text = "Übergabe caféhaus übergabe café cafe .net cafe über CAFÉ c++ c++ caféhaus cafe"
    for analysis in ANALYSES:
        assert_equal(analysis, text, most)
        assert_equal(analysis, {"title": text, "body": text}, most)


BEHIND_FIELD = LONGEST_NAME - LONGEST_FIELD  # bytes that are left of a name


@pytest.mark.parametrize(
    "size",
    [
        *range(BEHIND_FIELD - 12, BEHIND_FIELD + 8),
        *range(BEHIND_FIELD + 8, LONGEST_NAME - 2, LONGEST_FIELD // 5),
        *range(LONGEST_NAME - 2, LONGEST_NAME),
    ],
)
def test_features_behind_a_long_field_name_are_those_that_fit(size):
    text = f"be {'w' * size} café {'w' * (size - 5)} interesting be here café"
    for analysis in (PAIRS, EVERYTHING):
        assert_equal(analysis, {"f" * LONGEST_FIELD: text})
