from hypothesis import given
from hypothesis import strategies as st

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
