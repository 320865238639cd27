"""Lines above and among the rows that are no examples: sep=, titles, headers of other files."""

import json

import pytest

from manyclass.training.lines import FileFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableFault, TableSource
from tests.training.tables.files import write_spreadsheet

ICE = {"text": "ice", "classes": ["a"]}
PUCK = {"text": "puck", "classes": ["b"]}
MARK = "\ufeff"


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a table; it returns events by line, what is said, and counts."""

    def of(content, name="table.csv", format="csv", **layout):
        file = tmp_path / name
        if content is not None:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        said = []
        source = TableSource(str(file), format, Layout(**layout), guessed=said.append)
        events = {line.number: None if line.fault else json.loads(line.data) for line in source}
        return events, [each for each in said if "column" not in each], dict(source.left_out)

    return of


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "\ufeffsep=;\n", "SEP=;\r"])
def test_a_line_for_excel_names_the_delimiter_and_is_not_a_row(read, first):
    content = first + "text;label\nice;a\npuck;b\n"
    assert read(content) == ({3: ICE, 4: PUCK}, [], {})
    assert read(first.replace(";", "^") + "text^label\nice^a\npuck^b\n")[0] == {3: ICE, 4: PUCK}


def test_a_given_delimiter_wins_over_that_line(read):
    assert read("sep=;\ntext|label\nice|a\npuck|b\n", delimiter="|")[0] == {3: ICE, 4: PUCK}


@pytest.mark.parametrize("delimiter", ",;\t")
@pytest.mark.parametrize("titles", [["Report, 2024"], ["Report", "of March"], ["Report", ""]])
def test_titles_above_the_header_are_left_out_and_said(read, titles, delimiter):
    if delimiter == ",":
        titles = [title.replace(",", "") for title in titles]
    lines = [*titles, *(delimiter.join(row) for row in (["text", "label"], ["ice", "a"]))]
    events, said, _ = read("\n".join([*lines, delimiter.join(["puck", "b"])]))
    assert list(events.values()) == [ICE, PUCK]
    assert said == [
        f"line {at} is a title above the header: it is left out"
        for at, title in enumerate(titles, 1)
        if title
    ]


def test_a_title_of_a_spreadsheet(read, tmp_path):
    rows = [["Report", None], [None, None], ["text", "label"], ["ice", "a"], ["puck", "b"]]
    write_spreadsheet(tmp_path / "t.xlsx", rows)
    events, said, _ = read(None, "t.xlsx", "xlsx")
    assert list(events.values()) == [ICE, PUCK]
    assert said == ["line 1 is a title above the header: it is left out"]


@pytest.mark.parametrize(
    "content",
    [
        "text\nice, of water\nwater, of ice\n",  # a header of one column
        "words\nice, of water\nwater, of ice\n",
        "Words\nice, of water\nwater\n",
        "Report\nice,a\n",
    ],
)
def test_a_header_of_one_column_is_not_a_title(read, content):
    with pytest.raises(TableFault, match="one column"):
        read(content, **({"text": ("words",)} if content.startswith("words") else {}))


def test_files_that_were_put_together(read):
    content = f"{MARK}text,label\nice,a\n{MARK}text,label\npuck,b\ntext,label\n"
    assert read(content) == ({2: ICE, 4: PUCK}, [], {"repeated header": 2})
    assert read(content.encode("utf-16"))[0] == {2: ICE, 4: PUCK}
    quoted = f'{MARK}"text","label"\nice,a\n{MARK}"text","label"\n"puck\n{MARK}",b\n'
    events, _, counts = read(quoted)
    assert (events[4]["text"], counts) == (f"puck\n{MARK}", {"repeated header": 1})


def test_a_file_with_other_columns_behind_is_not_read_on(read):
    for other in ("label,text", "id,text,label"):
        with pytest.raises(FileFault, match=r"another file begins at line 3, with other columns"):
            read(f"text,label\nice,a\n{MARK}{other}\npuck,b\n")
    assert read(f"text,label\nice,a\n{MARK}puck,b\n")[0] == {2: ICE, 3: PUCK}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_ends_of_lines_and_marks_of_encodings(read, end, encoding):
    content = end.join(["text,label", "ice,a", "puck,b", ""])
    assert read(content.encode(encoding))[0] == {2: ICE, 3: PUCK}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_letters_without_a_mark_are_read(read, encoding):
    content = "text,label\nice,a\npuck,b\n".encode(encoding)
    assert read(content)[0] == read(content, encoding=encoding)[0] == {2: ICE, 3: PUCK}
