import pytest

from manyclass.cli.demo.novel import text
from manyclass.core.words import PATTERNS, features, instances, sentences, with_gap


def test_a_sentence_is_its_words_with_their_case_and_without_punctuation():
    assert list(sentences('The "Elliots" of Kellynch-hall, they came.')) == [
        ["The", "Elliots", "of", "Kellynch", "hall", "they", "came"]
    ]


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("He came. She went!  Who knew? All.", 4),
        ("He came.\nShe went.", 2),  # a line end is a space
        ("One paragraph\n\nand another", 2),  # a blank line ends a sentence
        ('"Where?" said she. "There."', 2),  # lower case continues the sentence
        ('He said: "Come." "No."', 2),
        ("Mr. Elliot came with Mrs. Smith. They left.", 2),
        ("He waited...and went", 1),
        ("", 0),
        (" \n\n -- * \n", 0),
    ],
)
def test_sentences_end_where_a_reader_would_stop(written, count):
    assert len(list(sentences(written))) == count


def test_a_word_in_the_middle_has_all_fifteen_features():
    words = ["a", "b", "c", "X", "d", "e", "f"]
    assert sorted(features(words, 3)) == sorted(
        [
            "c _",
            "b * _",
            "a * * _",
            "_ d",
            "_ * e",
            "_ * * f",
            "b c _",
            "a b * _",
            "a b c _",
            "_ d e",
            "_ * e f",
            "_ d e f",
            "c _ d",
            "b c _ d",
            "c _ d e",
        ]
    )
    assert len(PATTERNS) == 15


def test_places_beyond_the_sentence_hold_a_full_stop():
    (first, _), (second, word), _ = instances(["It", "is", "so"])
    assert word == "is"
    assert len(first) == len(second) == len(set(second)) == 15
    assert second[:6] == ["It _", ". * _", ". * * _", "_ so", "_ * .", "_ * * ."]
    assert set(second[6:]) == {
        ". It _",
        ". . * _",
        ". . It _",
        "_ so .",
        "_ * . .",
        "_ so . .",
        "It _ so",
        ". It _ so",
        "It _ so .",
    }


def test_case_makes_another_word():
    (_, first), (_, second) = instances(["The", "the"])
    assert (first, second) == ("The", "the")


def test_a_question_has_the_features_of_the_word_in_its_gap():
    words, gap = with_gap("Captain _ was here")
    assert features(words, gap) == features(["Captain", "Wentworth", "was", "here"], 1)


def test_the_novel_is_there_from_its_title_to_its_end_and_nothing_else():
    novel = text()
    assert novel.startswith("Persuasion")
    assert novel.rstrip().endswith("Finis")
    assert "Gutenberg" not in novel
    words = [word for sentence in sentences(novel) for word in sentence]
    assert 80_000 < len(words) < 90_000
    assert words.count("Anne") > 400
