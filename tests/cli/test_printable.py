import pytest

from manyclass.cli.printable import printable

TEXT = "Ünïcode ½, 漢字, עברית, 👩\u200d💻, a\u00a0b, e\u0301, \\x1b"


def test_text_stays_as_it_is():
    assert printable(TEXT) == TEXT


@pytest.mark.parametrize(
    ("sign", "escaped"),
    [
        ("\x1b", r"\x1b"),
        ("\x9b", r"\x9b"),
        ("\0", r"\x00"),
        ("\r\n", r"\r\n"),
        ("\t", r"\t"),
        ("\u2028", r"\u2028"),
        ("\u202e", r"\u202e"),
        ("\u2066", r"\u2066"),
    ],
)
def test_signs_that_steer_a_terminal_are_escaped(sign, escaped):
    assert printable(f"a{sign}b") == f"a{escaped}b"
