import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import text
from manyclass.core.text import features_of, has_more_features


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


@given(st.text("aé İ-\n", max_size=30), st.integers(0, 30))
def test_features_are_counted_as_they_are_made(text, most):
    assert has_more_features(text, most) == (len(features_of(text)) > most)


@given(st.text(st.sampled_from("aB .,_9\nİé日"), max_size=40))
def test_a_long_text_has_the_words_of_its_slices(whole):
    expected = re.findall(r"\w+", whole.lower())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "SLICE_CHARACTERS", 4)
        slices = [*text.words_by_slice(whole)]
        assert [word for words in slices for word in words] == expected
        assert features_of(whole) == text.with_pairs(expected)


def test_a_long_text_is_cut_into_slices_behind_blanks_if_possible():
    most = text.SLICE_CHARACTERS
    for whole, count in [("." * (3 * most), 3), ("a" * (3 * most), 3), ("ab " * most, 4)]:
        slices = [*text._slices(whole)]
        assert "".join(slices) == whole
        assert len(slices) == count
        assert max(map(len, slices)) <= most
    assert all(each.endswith(" ") for each in slices)
    words = {word for words in text.words_by_slice("ΟΔΟΣ " * most) for word in words}
    assert words == {"οδος"}
