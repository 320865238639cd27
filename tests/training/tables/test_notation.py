"""The encoding, the delimiter and the header of a table are guessed as in the console."""

from io import BytesIO

import pytest

from manyclass.training.encodings import EncodingFault, guessed_encoding, likely_encoding
from manyclass.training.tables.delimited import likely_delimiter, records
from manyclass.training.tables.header import has_header
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource
from tests.training.tables.notations import BANK, CASES, csv


@pytest.mark.parametrize("kind", CASES)
def test_a_notation_is_guessed(kind):
    case = CASES[kind]
    assert likely_encoding(case.content) == case.encoding
    if case.encoding is None:
        with pytest.raises(EncodingFault, match="line 2 is not UTF-8"):
            guessed_encoding(case.content)
        return
    text = case.content.decode(case.encoding, "replace")
    assert likely_delimiter(text) == case.delimiter
    rows = [each.cells for each in records(BytesIO(case.content), case.encoding, case.delimiter)]
    first, *others = rows["title" in kind :]
    assert has_header(first, others) is case.header


def read(tmp_path, content, *text, **layout):
    """Return the rows of a file, and what was guessed."""
    file = tmp_path / "a.csv"
    file.write_bytes(content)
    said = []
    given = Layout(text=text or ("1",), classes=("2",), **layout)
    source = TableSource(str(file), "csv", given, guessed=said.append)
    return [(row.number, row.text, *row.classes) for row in source], said


def test_no_row_of_a_file_without_a_header_is_lost(tmp_path):
    rows, [said] = read(tmp_path, csv(*BANK))
    assert rows == [(number, *row) for number, row in enumerate(BANK, 1)]
    assert said.startswith("the first row is read as data")
    rows, said = read(tmp_path, csv(*BANK), header=True)
    assert (rows[0], said) == ((2, *BANK[1]), [])


def test_a_name_of_a_cell_says_that_the_first_row_is_a_header(tmp_path):
    content = csv(["2024", "2023"], ["7", "8"], ["9", "10"])
    assert read(tmp_path, content)[0] == [(1, "2024", "2023"), (2, "7", "8"), (3, "9", "10")]
    rows, said = read(tmp_path, content, "2024")
    assert (rows, said) == ([(2, "7", "8"), (3, "9", "10")], [])
    assert read(tmp_path, content, header=True)[0] == [(2, "7", "8"), (3, "9", "10")]
    numbers = csv(["1", "2"], ["3", "4"])  # they are numbers of columns, not names
    assert read(tmp_path, numbers)[0] == [(1, "1", "2"), (2, "3", "4")]


def test_a_guessed_encoding_is_said_with_a_sample(tmp_path):
    content = csv(["text", "label"], ["schöne Grüße", "a"], encoding="cp1252")
    rows, [said] = read(tmp_path, content, "text")
    assert rows == [(2, "schöne Grüße", "a")]
    assert "a.csv is not UTF-8; it is read as cp1252: `schöne Grüße,a`; --encoding names" in said
    assert read(tmp_path, content, "text", encoding="cp1252")[1] == []


def test_the_encoding_of_a_large_file_is_that_of_its_first_mebibyte(tmp_path):
    lines = [["text", "label"], *[["plain", "a"]] * 60_000, ["schön", "b"]]
    rows, [said] = read(tmp_path, csv(*lines, encoding="cp1252"), "text")
    assert "cp1252: `schön,b`" in said
    assert rows[-1] == (60_002, "schön", "b")
