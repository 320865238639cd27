"""The analyses of texts: their features, limits and slices."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import text
from manyclass.core.errors import InstanceError
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.text import PARTS, WORDS_AND_PAIRS, TextAnalysis, features_of

ANALYSES = [
    TextAnalysis(*map(bool, (number & 1, number & 2, number & 4, number & 8)))
    for number in range(16)
]
CHARACTERS = TextAnalysis.parse("words+characters")
UNSPACED = TextAnalysis.parse("words+pairs+unspaced")
NORMALIZED = TextAnalysis.parse("words+normalized")
MIXED = st.text(st.sampled_from("aB .,_9\nİéΣσ\u0301日本ガｶﾞกิ가\u1100\u1161\u11a8ﬁ①ß"), max_size=40)  # noqa: RUF001
analyses = pytest.mark.parametrize("analysis", ANALYSES, ids=str)


def test_words_and_pairs_lower_cased():
    assert features_of("The CAT, the cat!") == [
        "the",
        "cat",
        "the",
        "cat",
        "the cat",
        "cat the",
        "the cat",
    ]


def test_words_of_any_script():
    assert features_of("Élan №5 日本 été") == [
        "élan",
        "5",
        "日本",
        "été",
        "élan 5",
        "5 日本",
        "日本 été",
    ]


def test_no_words_no_features():
    assert features_of(" … !? 🎉") == []


@given(st.text(max_size=60))
def test_words_and_pairs_are_what_states_without_a_record_learned(given):
    words = re.findall(r"\w+", given.lower())
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    assert WORDS_AND_PAIRS.features_of(given) == words + pairs


@analyses
def test_an_analysis_reads_back(analysis):
    assert TextAnalysis.parse(str(analysis)) == analysis


def test_the_parts_of_an_analysis_may_come_in_any_order():
    parsed = TextAnalysis.parse(" words + normalized+pairs ")
    assert str(parsed) == "words+pairs+normalized"


@pytest.mark.parametrize(
    "wrong", ["", "pairs", "words+", "words+pairs+pairs", "words+words", "words,pairs", "words+x"]
)
def test_another_text_is_no_analysis(wrong):
    with pytest.raises(ValueError, match="must be words, or words with any of pairs"):
        TextAnalysis.parse(wrong)


# --- characters -----------------------------------------------------------------------------------


def test_runs_of_characters_lie_within_words_and_are_worth_less():
    assert CHARACTERS.features_of("Abc abc, x") == pytest.approx(
        {
            **{"abc": 2, "x": 1},
            **{"~<ab": 0.8, "~abc": 0.8, "~bc>": 0.8, "~<abc": 0.8, "~abc>": 0.8},
        }
    )


@given(st.text(st.sampled_from("ab ~<>_"), max_size=30))
def test_runs_never_mean_the_same_as_words_and_pairs(given):
    both = TextAnalysis.parse("words+pairs+characters").features_of(given)
    others = {*WORDS_AND_PAIRS.features_of(given)}
    assert isinstance(both, dict)
    assert {name for name in both if not name.startswith("~")} == others
    runs = {name: value for name, value in both.items() if name.startswith("~")}
    assert runs == {
        name: value for name, value in CHARACTERS.features_of(given).items() if name[0] == "~"
    }
    assert all(4 <= len(name) <= 6 for name in runs)


# --- scripts without spaces -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("東京都 tower", ["東", "京", "都", "tower"]),
        ("iPhoneケース12個", ["iphone", "ケ", "ー", "ス", "12", "個"]),
        ("กินข้าว", ["กิ", "น", "ข้", "า", "ว"]),  # a letter has its marks
        ("한국어 문장", ["한국어", "문장"]),  # Hangul has spaces
        ("ဗမာစာ ខ្មែរ ພາສາ", ["ဗ", "မာ", "စာ", "ខ្", "មែ", "រ", "ພ", "າ", "ສ", "າ"]),
        ("๑๒๓ ½ _a", ["๑๒๓", "½", "_a"]),
    ],
)
def test_a_character_of_a_script_without_spaces_is_a_word(given, words):
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    assert UNSPACED.features_of(given) == words + pairs


def test_every_letter_of_the_scripts_without_spaces_is_one():
    scripts = ("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER", "THAI", "LAO", "KHMER")
    letters = [
        chr(code)
        for code in range(0x20000)
        if chr(code).isalpha() and unicodedata.name(chr(code), "").startswith((*scripts, "MYANMAR"))
    ]
    assert len(letters) > 25_000
    assert TextAnalysis.parse("words+unspaced").features_of("".join(letters)) == letters


@given(st.text(st.characters(exclude_categories=["Lo", "Lm", "Nl", "Cn", "Cs"]), max_size=30))
def test_words_of_other_scripts_stay_as_they_are(given):
    plain = "".join(each for each in given if each not in "\uff9e\uff9f")
    assert UNSPACED.features_of(plain) == WORDS_AND_PAIRS.features_of(plain)


# --- normalization --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬁle ＡＢＣ", "file abc"),  # noqa: RUF001
        ("Straße", "STRASSE"),
        ("οδος", "οδοσ"),
        ("e\u0301lan", "Élan"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_texts_that_differ_in_form_only_have_the_same_features(one, other):
    assert NORMALIZED.features_of(one) == NORMALIZED.features_of(other)
    assert TextAnalysis().features_of(one) != TextAnalysis().features_of(other)


def test_case_folding_does_not_break_a_word():
    """The case folding of ΐ is a letter and two marks, which are composed again."""
    assert NORMALIZED.features_of("ταΐζω") == ["ταΐζω"]


@given(st.text(max_size=40))
def test_normalized_words_stay_what_they_are(given):
    words = [*NORMALIZED.features_of(given)]
    assert [*NORMALIZED.features_of(" ".join(words))] == words


# --- limits and slices ----------------------------------------------------------------------------


@analyses
@given(st.data())
def test_a_text_is_refused_when_it_has_too_many_features(analysis, data):
    given, most = data.draw(MIXED), data.draw(st.integers(0, 60))
    words = TextAnalysis(False, False, analysis.unspaced, analysis.normalized).features_of(given)
    count = len(words) + (max(0, len(words) - 1) if analysis.pairs else 0)
    whole = analysis.features_of(given)
    if isinstance(whole, dict):
        count += sum(name.startswith("~") for name in whole)
    if count <= most:
        assert analysis.features_of(given, most) == whole
    else:
        with pytest.raises(InstanceError, match=f"at most {most} features"):
            analysis.features_of(given, most)


@analyses
@given(st.data())
def test_a_long_text_has_the_features_of_its_slices(analysis, data):
    whole = data.draw(MIXED)
    if not analysis.normalized:
        whole = whole.replace("Σ", "")  # its lower case depends on its neighbours
    expected = analysis.features_of(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "SLICE_CHARACTERS", 4)
        patch.setattr(text, "NORMALIZED_CHARACTERS", 4)
        patch.setattr(text, "RUNS_AT_ONCE", 4)
        assert analysis.features_of(whole) == expected
        assert all(len(each) <= 4 for each in analysis._slices(whole))


@analyses
def test_the_work_on_a_long_text_has_many_steps(analysis):
    long = "ab é日 " * text.SLICE_CHARACTERS
    assert len([*analysis.steps(long)]) >= 5


@analyses
def test_a_text_with_too_many_features_is_left_at_once(analysis):
    with pytest.raises(InstanceError):
        next(analysis.steps("a " * (10 * text.SLICE_CHARACTERS), 100))


def test_repeated_runs_of_long_words_are_read_in_steps():
    """Words of two letters have few different runs, so no limit ends the work."""
    words = " ".join(f"{number:020b}" for number in range(5000))
    assert len([*CHARACTERS.steps(words, 10_000)]) > 20


@analyses
def test_a_word_that_is_too_long_for_a_name_is_refused_as_one(analysis):
    for length in (LONGEST_NAME + 1, 3 * text.SLICE_CHARACTERS):
        for letter in "aé":
            with pytest.raises(InstanceError, match=r"name has \d+ bytes; at most 4096"):
                Instance(analysis.features_of("x " + length * letter))


def test_many_marks_in_a_row_are_normalized_in_short_pieces():
    """The time of NFKC is quadratic in their number."""
    marks = "\u0301\u0316" * 50_000
    with pytest.MonkeyPatch.context() as patch:
        lengths = []
        normalize = unicodedata.normalize
        patch.setattr(
            text.unicodedata,
            "normalize",
            lambda form, given: lengths.append(len(given)) or normalize(form, given),
        )
        NORMALIZED.features_of("a" + marks)
    assert max(lengths) <= text.NORMALIZED_CHARACTERS


def test_a_long_text_is_cut_into_slices_behind_blanks_if_possible():
    most = text.SLICE_CHARACTERS
    for whole, count in [("." * (3 * most), 3), ("a" * (3 * most), 3), ("ab " * most, 4)]:
        slices = [*WORDS_AND_PAIRS._slices(whole)]
        assert "".join(slices) == whole
        assert len(slices) == count
        assert max(map(len, slices)) <= most
    assert all(each.endswith(" ") for each in slices)
    words = {word for words in WORDS_AND_PAIRS.words_by_slice("ΟΔΟΣ " * most) for word in words}
    assert words == {"οδος"}


def test_parts_are_those_of_the_documentation():
    assert PARTS == ("pairs", "characters", "unspaced", "normalized")
    assert all(f"    {part} " in (text.__doc__ or "") for part in PARTS)
