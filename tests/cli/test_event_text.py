"""The beginning of an event's instance, on one line."""

import pytest

from manyclass.cli.event_text import MOST_SHOWN, beginning_of_text, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand  spaces ", "two lines and spaces"),
        ({"title": "A\ngoal", "a b": " late "}, "title: A goal  a b: late"),
        ("x" * (MOST_SHOWN + 1), "x" * (MOST_SHOWN - 1) + "…"),
    ],
)
def test_a_text_is_shown_on_one_line(text, shown):
    assert beginning_of_text(text) == shown


def test_a_text_that_fits_is_not_shortened():
    assert shortened("x" * MOST_SHOWN) == "x" * MOST_SHOWN
