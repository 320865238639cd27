"""Words of texts in many scripts."""

from collections import Counter
from pathlib import Path
from unicodedata import category

import pytest

from manyclass.core.text import TextAnalysis
from tests.core.references.text import words_of
from tests.core.scripts import EXAMPLES

PAGE = Path(__file__).parents[2] / "docs/scripts.md"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.script)
def test_words_of_a_script(example):
    found = TextAnalysis().features_of(example.text)
    assert [*found.items()] == [*Counter(example.words).items()]
    assert tuple(word.text for word in words_of(example.text)) == example.words


def test_the_table_has_many_scripts():
    assert len({example.script for example in EXAMPLES}) >= 24


def shown(text):
    """Return a text with its invisible signs as escapes, as the page has it."""
    return "".join(
        f"\\u{ord(sign):04x}" if category(sign) in ("Cf", "Zs") and sign != " " else sign
        for sign in text
    )


def test_the_page_has_the_table():
    """PYTHONPATH=. python -m tests.core.test_scripts prints it."""
    assert "\n".join(table()) in PAGE.read_text("utf-8")


def table():
    """Yield the lines of the table of the page."""
    yield "| script | text | words |"
    yield "| --- | --- | --- |"
    for script, text, words in EXAMPLES:
        found = " ".join(f"`{shown(word)}`" for word in words)
        yield f"| {script} | {shown(text)} | {found} |"


if __name__ == "__main__":
    print(*table(), sep="\n")
