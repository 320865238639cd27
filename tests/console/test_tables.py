"""Import reads tables as `manyclass learn` does: the roles of columns, the events of rows."""

import base64
import codecs
import csv
import gzip
import json
import re
import shlex
from io import StringIO

import msgspec
import pytest

from manyclass.training.lines import LineFault
from manyclass.training.tables.columns import is_known_name, suggestion
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Record, cell_of
from manyclass.training.tables.source import TableSource

pytestmark = pytest.mark.slow  # needs chromium

ROLES = """async ([columns, rows]) => {
    const { guessed } = await import("/console/mapping.js");
    return guessed(columns, rows).map(each => [each.name, each.role]);
}"""
ROLES_OF_LINES = """async (content) => {
    const { openTable } = await import("/console/rows.js");
    const { guessed } = await import("/console/mapping.js");
    const { names, rows } = await openTable(new File([content], "a.jsonl"));
    return guessed(names, rows).map(each => [each.name, each.role]);
}"""
EVENTS = """async ([content, columns, separator]) => {
    const { openTable, rowsOf } = await import("/console/rows.js");
    const { eventsOf } = await import("/console/mapping.js");
    const found = [];
    const table = await openTable(new File([content], "a.csv")).catch(() => null); // no rows
    for await (const { line, row } of table ? rowsOf(table) : [])
        for (const event of row ? eventsOf([row], columns, { separator }) : [])
            found.push([line, event]);
    return found;
}"""
TAUGHT = """async ([name, content, encoding, roles]) => {
    const { openTable, rowsOf } = await import("/console/rows.js");
    const { eventsOf, guessed } = await import("/console/mapping.js");
    const bytes = Uint8Array.from(atob(content), each => each.charCodeAt(0));
    const table = await openTable(new File([bytes], name), { encoding });
    const columns = guessed(table.names, table.rows)
        .map(each => ({ ...each, role: roles[each.name] ?? each.role }));
    const found = [];
    for await (const { line, row } of rowsOf(table))
        for (const event of row ? eventsOf([row], columns, {}) : [])
            found.push([line, event]);
    return found;
}"""
RANKED = """async rows => {
    const { GuardedCsv } = await import("/console/csv_text.js");
    const { openTable, rowsOf } = await import("/console/rows.js");
    const csv = new GuardedCsv(rows[0]);
    for (const row of rows.slice(1)) csv.add(row);
    const content = csv.parts().join("");
    const found = [];
    for await (const { row } of rowsOf(await openTable(new File([content], "a.csv"))))
        found.push(row);
    return [content, found];
}"""
CLASS_NAMES = (
    "class classes label labels category categories intent topic topics target tag tags y Y Label"
    " Thema THEMEN Kategorie Klasse Rubriken Schlagwort Schlagwörter"
    " classe thème THÈME theme catégorie CATEGORIE étiquettes rubrique"
    " tema categoria etichette argomento"
)
TEXT_NAMES = (
    "text question sentence title body message description content query utterance texts"
    " Betreff Titel NACHRICHT Nachrichten Frage Anfrage Inhalt Beschreibung"
    " objet texte titres contenu oggetto testo titolo messaggio domanda contenuto descrizione"
)
KNOWN_NAMES = "Absender expéditeur EXPEDITEUR mittente Eingang Eingangsdatum Datum source parents"
ROLES_OF = {"text": "text", "label": "class"}
SIGNS = tuple("=+-@\t\r\n\uff1d")  # of formulas, at the begin of a cell
GIVEN = Layout(text=("text",), classes=("label",))
MARKED = codecs.BOM_UTF8 + b"text,label\n"
KINDS = {  # contents of files as offices bring them, the columns to name, and an encoding to choose
    "bytes that are not UTF-8": (
        b"text,label\n" + b"a b,x\n" * 3000 + b"caf\xe9,y\nc,fra\xeeche\nd,z\n",
        Layout(),
        "",
    ),
    "Excel in German": (
        'Nr;Text;Label\r\n1;"für; wen";Käse\r\n2;c;d\r\n'.encode("cp1252"),
        Layout(encoding="cp1252"),
        "windows-1252",
    ),
    "UTF-16": ("\ufefftext\tlabel\r\nä\tb\r\nc\td\r\n".encode("utf-16-le"), Layout(), ""),
    "line ends of old": (b"text,label\ra,b\rc,d\r", Layout(), ""),
    "files put together": (MARKED + b"a,b\n" + MARKED + b"c,d\n", Layout(), ""),
    "sep=": (b"sep=;\r\ntext;label\r\na,b c;x\r\nd;y\r\n", Layout(), ""),
    "a title": (b"Export of 2024,,\ntext,label,n\na,b,1\nc,d,2\n", Layout(), ""),
    "a title of one cell": (b"Report\n\ntext,label\na,b\nc,d\n", Layout(), ""),
    "five titles": (b"A\nB\nC\nD\nE\ntext,label\na,b\nc,d\n", Layout(), ""),
    "years as columns": (b"2024,2023,text,label\n1,2,a,b\n3,4,c,d\n", Layout(), ""),
    "the index of pandas": (b",text,label\n0,a,b\n1,c,d\n", Layout(), ""),
    "lists in cells": (b'text,label\na,"[\'x\', \'y\']"\nb,"[""z"", 3]"\n', Layout(), ""),
    "a list among names": (
        b"text,label\na,x\nb,\"['y', 'z']\"\nc,[UNK]\nd,[2024]\ne,{{x}}\nf,(y)\n"
        b"g,\"('y', 'z')\"\nh,\"{'y', 'z'}\"\ni,[]\nj,[[y]]\nk,\"{1, 2}\"\n",
        Layout(),
        "",
    ),
    "lists of numpy": (b"text,label\na,\"['x' 'y']\"\nb,z\n", Layout(), ""),
    "objects in cells": (b'text,label\na,"{""x"":1.0,""y"":0.0}"\nb,z\n', Layout(), ""),
    "one-hot": (
        b"words,p,q,r\na b,1,0,TRUE\nc d,0,,false\ne f,0.0,1.0,0\n",
        Layout(text=("words",), one_hot=("p", "q", "r")),
        "",
    ),
    "labels that mean none": (b"text,label\na,nan\nb,None\nc, x \nd,\n", Layout(), ""),
}
LINES = {
    "large numbers": b'{"text":"a","label":12345678901234567890}\n'
    b'{"text":"b","label":9007199254740993}\n',
    "numbers as columns": b'{"2024":1,"2023":2,"text":"a","label":"b"}\n',
    "objects": b'{"text":"a","label":{"x":1.0,"y":0.0}}\n{"text":"b","label":"z"}\n',
    "lists": b'{"text":"a","label":["x",2]}\n{"text":"b","label":["z"]}\n{"text":"b","label":[]}\n',
    "lists of lists": b'{"text":"a","label":"y"}\n{"text":"b","label":[["x"]]}\n',
    "a list as a text": b'{"text":"a","label":"y"}\n{"text":["a","b"],"label":"x"}\n',
    "a key twice": b'{"text":"a","label":"x"}\n{"text":"b","label":"y","label":"z"}\n',
    "answers": b"".join(
        b'{"text":"%d","label":"x","answer":"%s"}\n' % each
        for each in enumerate([b"accept", b"reject", b"ignore", b"accept"])
    ),
    "an array": b'[{"text":"a","label":"x"},\n {"text":"b","label":"y"}\n]',
    "a body": b'{"events": [{"text":"a","label":"x"},\n {"text":"b","label":"y"}]}',
    "PowerShell": '\ufeff{"text":"ä","label":"x"}\r\n{"text":"b","label":"y"}\r\n'.encode(
        "utf-16-le"
    ),
    "line ends of old": b'{"text":"a","label":"x"}\r{"text":"b","label":"y"}\r',
    "bytes that are not UTF-8": b'{"text":"a","label":"x"}\n{"text":"caf\xe9","label":"x"}\n',
}
KINDS |= {f"{kind} in lines": (content, GIVEN, "") for kind, content in LINES.items()}
MAILS = b"".join(
    b'{"mail":%s,"label":"x"}\n' % each
    for each in (
        b'{"Title":"a","Body":"b c"}',
        b'{"Title":null,"Body":"d"}',
        b'{"Title":5}',
        b'"e f"',
    )
)
KINDS["fields of another name in lines"] = (MAILS, Layout(text=("mail",)), "")
MAIL = {"Title": "Ice hockey", "Body": "The goalie saved it"}
OBJECTS = [
    {"mail": MAIL, "label": "x"},
    {"mail": {**MAIL, "Body": None}, "label": "x"},
    {"text": MAIL, "classes": ["x"]},
    {"id": 1, "meta": MAIL, "words": "a", "label": "x"},
    {"title": "a", "body": MAIL, "label": "x"},
    {"body": {"en": "a b"}, "tokens": ["a", "b"], "words": "a b", "n": 1},
    {"mail": MAIL, "kind": "x"},
    {"mail": MAIL, "kind": "x", "note": "a b"},
    {"mail": {"Title": 5}, "words": "a", "label": "x"},
]
COLUMNS = ["name", "note", "kind"]
KEYS = "id key ID Key _id uuid GUID row_id customer-id ticketId userID sortKey order.key"
NO_KEYS = "label_id class-id tagID hockey monkey valid ids"
TABLES = [  # columns, and cells of rows
    *([[name, "words"], [["1", "a b"], ["2", "c d"]]] for name in KEYS.split()),
    *([[name, "words"], [["1", "a b"], ["2", "c d"]]] for name in NO_KEYS.split()),
    [["id", "f", "g", "h", "words"], [["1", "1", "0", "1", "a b"], ["0", "0", "1", "1", "c d"]]],
    [["uuid", "n"], [["1b4e28ba-2fa1-11d2-883f-0016d3cca427", "1"]]],
    [["id"], [["1"]]],
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
    options, _, _ = suggestion(columns, records, True).partition(", and --fields")
    words = shlex.split(options)
    assert len(words) % 2 == 0, words
    roles = {"--text-column": "text", "--class-column": "class", "--one-hot": "one_hot"}
    named = {name: roles[option] for option, name in zip(words[::2], words[1::2], strict=True)}
    return [[name, named.get(name, "ignore")] for name in columns]


def taught(source):
    """Return the lines and the events of a table, without the rows that are rejected."""
    found = []
    for line in source:
        try:
            found.append([line.number, msgspec.json.decode(line.data)])
        except LineFault:
            continue
    return found


def test_the_roles_of_columns_are_those_that_the_command_line_proposes(page):
    for table in TABLES:
        assert page.evaluate(ROLES, table) == proposed(*table), table


def test_the_names_that_columns_have_are_those_of_the_command_line(page):
    script = """async names => {
        const { isKnownName } = await import("/console/mapping.js");
        return names.map(isKnownName);
    }"""
    names = f"{CLASS_NAMES} {TEXT_NAMES} {KNOWN_NAMES}".split()
    unknown = ["Anliegen", "Sparte", "Themenpark", "titre d'un livre", "Datums"]
    assert page.evaluate(script, names + unknown) == [True] * len(names) + [False] * len(unknown)
    assert [is_known_name(name) for name in names] == [True] * len(names)
    assert [is_known_name(name) for name in unknown] == [False] * len(unknown)


def test_an_object_of_fields_is_proposed_as_by_the_command_line(page):
    for found in OBJECTS:
        lines = json.dumps(found) + "\n"
        cells = [[cell_of(each) for each in found.values()]]
        assert page.evaluate(ROLES_OF_LINES, lines) == proposed([*found], cells), found


def test_an_id_is_neither_a_class_nor_a_text(page):
    for name in KEYS.split():
        found = page.evaluate(ROLES, [["words", name], [["a b", "1"], ["c d", "1"]]])
        assert found == [["words", "text"], [name, "ignore"]]
    for name in NO_KEYS.split():
        found = page.evaluate(ROLES, [["words", name], [["a b", "1"], ["c d", "1"]]])
        role = "class" if name in ("label_id", "class-id", "tagID") else "ignore"
        assert found == [["words", "text"], [name, role]]


@pytest.mark.parametrize("content", FILES)
def test_the_events_of_a_file_are_those_of_the_command_line(page, tmp_path, content):
    file = tmp_path / "a.csv"
    file.write_text(content, newline="")
    expected = taught(TableSource(str(file), "csv", Layout(class_separator="|")))
    columns = [{"name": name, "role": role} for name, role in ROLES_OF.items()]
    assert page.evaluate(EVENTS, [content, columns, "|"]) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_difficult_file_is_taught_as_by_the_command_line(page, tmp_path, kind, packed):
    content, layout, encoding = KINDS[kind]
    format = "jsonl" if kind.endswith("in lines") else "csv"
    file = tmp_path / (f"a.{format}" + ".gz" * packed)
    file.write_bytes(gzip.compress(content) if packed else content)
    expected = taught(TableSource(str(file), format, layout))
    given = [file.name, base64.b64encode(file.read_bytes()).decode(), encoding, ROLES_OF]
    assert page.evaluate(TAUGHT, given) == expected
    assert expected
    assert "\ufffd" not in str(expected)


def test_a_cell_has_the_vector_in_each_notation_of_the_command_line(page):
    columns = [{"name": each, "role": each} for each in ("text", "class", "vector")]
    cells = ["[0.5, -1]", "0.5 -1", "0.5;-1", '"0.5, -1"', "[0.5 -1]", "AAAAPwAAgL8=", "", "a b"]
    cells[0] = f'"{cells[0]}"'
    content = "text,class,vector\n" + "".join(f"ice,a,{each}\n" for each in cells)
    found = page.evaluate(EVENTS, [content, columns, None])
    assert [line for line, _ in found] == [2, 3, 4, 5, 6, 7, 8]
    vectors = [event.get("vector") for _, event in found]
    assert vectors == [[0.5, -1]] * 5 + [cells[5], None]


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
