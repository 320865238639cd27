"""Words of texts in many scripts."""

from collections import Counter

import pytest

from manyclass.core.text import TextAnalysis
from tests.core.references.text import words_of
from tests.core.scripts import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.script)
def test_words_of_a_script(example):
    found = TextAnalysis().features_of(example.text)
    assert [*found.items()] == [*Counter(example.words).items()]
    assert tuple(word.text for word in words_of(example.text)) == example.words


def test_the_table_has_many_scripts():
    assert len({example.script for example in EXAMPLES}) >= 24
