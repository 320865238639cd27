"""Import reads tables as `manyclass learn` does: the roles of columns, the events of rows."""

import csv
import re
import shlex
from io import StringIO

import msgspec
import pytest

from manyclass.training.lines import LineFault
from manyclass.training.tables.columns import suggestion
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Record
from manyclass.training.tables.source import TableSource

pytestmark = pytest.mark.slow  # needs chromium

ROLES = """async ([columns, rows]) => {
    const { guessed } = await import("/console/mapping.js");
    return guessed(columns, rows).map(each => [each.name, each.role]);
}"""
EVENTS = """async ([content, columns, separator]) => {
    const { rowsOf } = await import("/console/rows.js");
    const { eventsOf } = await import("/console/mapping.js");
    const found = [];
    for await (const { line, row } of rowsOf({ file: new File([content], "a.csv"), encoding: "" }))
        for (const event of row ? eventsOf([row], columns, { separator }) : [])
            found.push([line, event]);
    return found;
}"""
RANKED = """async rows => {
    const { GuardedCsv } = await import("/console/csv_text.js");
    const { rowsOf } = await import("/console/rows.js");
    const csv = new GuardedCsv(rows[0]);
    for (const row of rows.slice(1)) csv.add(row);
    const content = csv.parts().join("");
    const found = [];
    for await (const { row } of rowsOf({ file: new File([content], "a.csv"), encoding: "" }))
        found.push(row);
    return [content, found];
}"""
CLASS_NAMES = "class classes label labels category categories intent target tag tags y Y Label"
TEXT_NAMES = "text question sentence title body message description content query utterance texts"
ROLES_OF = {"text": "text", "label": "class"}
SIGNS = tuple("=+-@\t\r\n\uff1d")  # of formulas, at the begin of a cell
COLUMNS = ["name", "note", "kind"]
TABLES = [  # columns, and cells of rows
    *(
        [["nr", name, "note"], [["1", "b", "some words"], ["2", "b", "other words"]]]
        for name in CLASS_NAMES.split()
    ),
    *(
        [
            ["note", name, "kind"],
            [["a long cell of words", "b", "c"], ["another long cell", "d", "c"]],
        ]
        for name in TEXT_NAMES.split()
    ),
    [["xclass", "classy", "texting"], [["1", "b", "some words"], ["2", "b", "other words"]]],
    [["label", "text", "category"], [["a", "b c", "d"]]],
    [["title", "body", "label"], [["a", "b c", "d"]]],
    [["label", "tags", "words"], [["a", "x", "b c"], ["a", "y", "b c"]]],
    [COLUMNS, [["a", "b", "c"], ["a", "b", "c"]]],
    [COLUMNS, [["a b", "c d", "e f"], ["c d", "e f", "g h"]]],
    [COLUMNS, [["k1", "a text", "x"], ["k2", "a text", "x"]]],
    [COLUMNS, [["x", "a text", ""], ["x", "a text", "y"]]],
    [COLUMNS, [["xx", "a text", "y"], ["xx", "a text", " "]]],
    [COLUMNS, [["xx", "a text", "y"], ["xx", "a text", "z"]]],
    [["text"], [["a"], ["b"]]],
    [["a"], [["a"], ["b"]]],
    [["label"], [["a"]]],
    [["label", "a"], []],
    [["b", "a", "c"], []],
]
FILES = [
    'text,label\na b,c\n\n,\n"d ""e""",f\n"g\nh", i \n',
    'text;label\r\na;"b"\r\n',
    "\r\n;\n\ntext;label\na;b\n",
    "text,label\na,b|c|b\nd,\n,e\n",
    "text,label\na,b,c\nd\ntext,label\ne,f,,\n",
    'text,label\n"a,b\nc,d\n"e f",g\nh,i\n',
    'text,label\na,b\n"c,d\ne,f',
    'text,label\n"a" b,c\nd "e" f,g',
    'text,label\n"a\nb","c\nd,e\n',
]


@pytest.fixture
def page(untaught_page):
    return untaught_page


def proposed(columns, rows):
    """Return the roles that the command line proposes."""
    records = [Record(number, cells) for number, cells in enumerate(rows, 2)]
    words = shlex.split(suggestion(columns, records, True))
    roles = {"--text-column": "text", "--class-column": "class"}
    named = {name: roles[option] for option, name in zip(words[::2], words[1::2], strict=True)}
    return [[name, named.get(name, "ignore")] for name in columns]


def test_the_roles_of_columns_are_those_that_the_command_line_proposes(page):
    for table in TABLES:
        assert page.evaluate(ROLES, table) == proposed(*table), table


@pytest.mark.parametrize("content", FILES)
def test_the_events_of_a_file_are_those_of_the_command_line(page, tmp_path, content):
    file = tmp_path / "a.csv"
    file.write_text(content, newline="")
    expected = []
    for line in TableSource(str(file), "csv", Layout(class_separator="|")):
        try:
            expected.append([line.number, msgspec.json.decode(line.data)])
        except LineFault:
            continue
    columns = [{"name": name, "role": role} for name, role in ROLES_OF.items()]
    assert page.evaluate(EVENTS, [content, columns, "|"]) == expected


def test_a_ranked_table_is_safe_in_a_spreadsheet_and_read_back_as_it_was(page, tmp_path):
    cells = [
        "=1+1",
        "'=1+1",
        "''@a",
        "+49 30",
        "@home",
        "- item",
        "-2+3",
        "\t=1",
        "\uff1d1",
        "'tis",
    ]
    cells += ["-5", "-1.5", "+3", '="a, ""b"""', "\n=1", "a\r\nb", " ä ", "1,5"]
    rows = [["text", "=label", "n"], *([cell, cell, "x"] for cell in cells)]
    content, found = page.evaluate(RANKED, rows)
    assert found == rows[1:]
    written = list(csv.reader(StringIO(content, newline="")))
    for row in written:
        for cell in row:
            assert re.fullmatch(r"[-+][\d.]+", cell) or cell[:1] not in SIGNS
    file = tmp_path / "ranked.csv"
    file.write_text(content, newline="")
    layout = Layout(text=("text",), classes=("=label",), id="n")
    lines = list(TableSource(str(file), "csv", layout))
    assert [line.cells for line in lines] == rows[1:]
    assert lines[0].names == rows[0]


def test_a_table_without_formulas_has_no_column_more(page):
    assert page.evaluate(RANKED, [["text"], ["-5"], ["a = b"]])[0] == "text\n-5\na = b\n"
