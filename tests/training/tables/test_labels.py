"""Labels in lists, columns of 0 and 1, answers of annotators, and cells that are no labels."""

import json

import pytest

from manyclass.training.tables.columns import suggestion
from manyclass.training.tables.label_lists import is_notation, labels_of
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Record, cell_of
from manyclass.training.tables.source import TableFault, TableSource


def lines(*objects):
    return "".join(f"{json.dumps(each)}\n" for each in objects)


@pytest.fixture
def left_out(tmp_path):
    """Return a function that reads a table; it returns its events and the rows left out."""

    def read(content, format="csv", labelled=True, **layout):
        file = tmp_path / f"table.{format}"
        file.write_text(content)
        source = TableSource(str(file), format, Layout(**layout), labelled)
        return [json.loads(line.data) for line in source], dict(source.left_out)

    return read


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("['a', 'b']", ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        (""" [ 'it"s', "it's", 'it\\'s' ,] """, ['it"s', "it's", "it's"]),
        ('["\\ud83d\\ude00", "\\u00e9\\n"]', ["😀", "é\n"]),
        ("['\\u00e9', '\\xe9', '\\d']", ["é", "é", "\\d"]),
        ("[1, -2, 12345678901234567890123]", ["1", "-2", "12345678901234567890123"]),
        ("['a, b']", ["a, b"]),
        ("[]", []),
        ("['a' 'b']", None),  # of numpy: Python would join them
        ("['a' ['b']]", None),
        ("[['a']]", None),
        ("[{'a': 1}]", None),
        ("['a', 1.5]", None),
        ("['a', None]", None),
        ("[Other]", None),
        ("a, b", None),
        ("['a'", None),
        ('["\\ud800"]', None),
        ("['a']*999999999", None),
        (f"[{'9' * 5000}]", None),
        ("", None),
    ],
)
def test_lists_of_labels(cell, labels):
    assert labels_of(cell) == labels


def test_what_looks_like_a_list_or_an_object_is_not_a_label():
    for cell in (
        "['a' 'b']",
        "[['a']]",
        '["a"]',
        "{'a': 1}",
        '{"a": 1.0}',
        "[]",
        "[{}]",
        "('a', 'b')",
    ):
        assert is_notation(cell)
    for cell in ("[Other]", "a [b]", "[1] first", "{x}", "[2024]", "['] x", "[", "(x)"):
        assert not is_notation(cell)


def test_a_column_of_lists_has_several_classes(table):
    lists = "ice,\"['a', 'b']\"\nball,\npuck,\"['c']\"\n"
    found = table("text,label\n" + 4 * lists + "serve,d\nnet,\"['a' 'b']\"\n")
    assert found[2] == {"text": "ice", "classes": ["a", "b"]}
    assert found[3] == "no class: label is empty"
    assert found[4] == {"text": "puck", "classes": ["c"]}
    for line in (14, 15):
        assert found[line] == (
            'column label holds lists, and here none; several classes are a list, ["a", "b"]'
        )


def test_a_list_in_a_column_of_labels_is_rejected(table):
    found = table("text,label\nice,a\npuck,\"['b', 'c']\"\nball,\"{'d': 1}\"\nnet,[Other]\n")
    assert found[2]["classes"] == ["a"]
    assert found[5]["classes"] == ["[Other]"]
    for line in (3, 4):
        assert found[line].startswith("column label holds a list or an object, as a program writes")


def test_objects_and_nested_lists_are_neither_labels_nor_texts(table):
    jsonl = {"format": "jsonl", "name": "a.jsonl", "text": ("q",), "classes": ("label",)}
    content = lines(
        {"q": "ice", "label": {"delivery": 1.0, "refund": 0.0}},
        {"q": "ice", "label": [["a"]]},
        {"q": "ice", "label": [{"a": 1}]},
        {"q": {"en": ["ice"]}, "label": "a"},
        {"q": ["ice", "puck"], "label": "a"},
        {"q": "ice", "label": ["a", 12345678901234567890, None, True, 2.0]},
    )
    found = table(content, **jsonl)
    assert found[1] == "column label holds an object: write the classes with 1 as a list"
    for line in (2, 3):
        assert found[line].startswith("column label holds a list of lists or objects; several")
    assert found[4] == "column q holds an object, with other values than texts, in place of a text"
    assert found[5] == "column q holds a list in place of a text"
    assert found[6]["classes"] == ["a", "12345678901234567890", "true", "2"]


def test_bytes_are_text_if_they_are_utf8():
    assert cell_of("é".encode()) == "é"
    assert cell_of(b"\xe9").kind == "bytes that are not UTF-8"
    assert cell_of(float("nan")) == ""


def proposed(*objects):
    names = [*dict.fromkeys(name for each in objects for name in each)]
    rows = [Record(1, [cell_of(each.get(name)) for name in names]) for each in objects]
    return suggestion(names, rows, True)


def test_columns_of_objects_and_lists_are_not_proposed():
    assert proposed({"meta": {"a": 1}, "words": "some words", "kind": "x"}) == (
        "--text-column words --class-column COLUMN"
    )
    assert proposed({"tokens": ["some", "words", "and"], "note": "x y", "tags": ["a"]}) == (
        "--text-column note --class-column tags"
    )
    assert proposed({"text": "words", "label": {"a": 1.0, "b": 0.0}}) == (
        "--text-column text --class-column COLUMN (column label holds objects: write the classes"
        " as a list)"
    )
    assert proposed({"text": {"en": ["words"]}, "label": "a"}) == (
        "--text-column COLUMN --class-column label"
    )
    with_meta = {"meta": {"url": "a long address"}, "words": "some words", "kind": "x"}
    assert proposed(with_meta) == "--text-column words --class-column COLUMN"


def test_fields_are_proposed_as_the_whole_text():
    fields = {"title": "Ice", "body": "a puck"}
    assert proposed({"text": fields, "title": "Ice", "label": "a"}) == (
        "--text-column text --class-column label"
    )
    assert proposed({"mail": fields, "id": 7, "kind": "x"}) == (
        "--text-column mail --class-column COLUMN"
    )


def test_a_column_of_objects_is_not_guessed_by_its_name(table):
    content = lines({"text": "ice", "label": {"a": 1}, "category": "b"})
    found = table(content, format="jsonl", name="a.jsonl")
    assert found == {1: {"text": "ice", "classes": ["b"]}}


def test_of_two_columns_with_one_name_the_number_is_proposed(table):
    with pytest.raises(TableFault, match=r"--text-column text --class-column 2$"):
        table("text,label,label\nice,a,b\n")


TASKS = (
    {"text": "ice", "label": "a", "answer": "accept", "_input_hash": 1},
    {"text": "puck", "label": "a", "answer": "reject", "_input_hash": 2},
    {"text": "ball", "label": "b", "answer": "ignore", "_input_hash": 3},
    {"text": "net", "label": "b", "answer": "accept", "_input_hash": 4},
)


def test_rejected_answers_of_annotators_are_left_out_and_counted(left_out):
    events, counts = left_out(lines(*TASKS), format="jsonl")
    assert [each["text"] for each in events] == ["ice", "net"]
    assert counts == {"rejected answer": 2}
    content = "text,label,answer\nice,a,accept\npuck,a,reject\n"
    assert left_out(content) == ([{"text": "ice", "classes": ["a"]}], {"rejected answer": 1})
    assert len(left_out(content, labelled=False)[0]) == 2


def test_answers_of_another_kind_are_not_those_of_annotators(left_out):
    content = "text,label,answer\nice,a,yes\npuck,a,reject\n"
    assert len(left_out(content)[0]) == 2
    content = "text,answer\nice,accept\npuck,reject\n"
    assert len(left_out(content, classes=("answer",))[0]) == 2


def test_the_columns_of_annotators_are_not_proposed():
    assert proposed(*TASKS) == "--text-column text --class-column label"
    choice = {"text": "some words", "options": [{"id": "a"}], "_view_id": "choice", "accept": ["a"]}
    assert proposed({**choice, "answer": "accept"}) == "--text-column text --class-column accept"


ONE_HOT = "id,comment,toxic,rude,threat\n1,fine words,0,0,0\n2,bad words,1,1,\n3,more words,1,2,0\n"


def test_one_hot_columns_are_proposed_as_classes(table):
    content = ONE_HOT.replace("1,2,0", "1,0,0")
    with pytest.raises(
        TableFault,
        match=r"--text-column comment --one-hot toxic --one-hot rude --one-hot threat$",
    ):
        table(content)
    with pytest.raises(TableFault, match=r"--class-column COLUMN;"):  # two are not enough
        table("comment,toxic,rude\nfine words,0,0\nbad words,1,1\n")


def test_one_hot_columns_are_read_as_classes(left_out, table):
    columns = ("toxic", "rude", "5")
    events, counts = left_out(
        ONE_HOT.replace("1,2,0", "TRUE,false,1.0"), one_hot=columns, text=("2",)
    )
    assert [each["classes"] for each in events] == [["toxic", "rude"], ["toxic", "threat"]]
    assert counts == {"row without a class": 1}
    assert table(ONE_HOT, text=("2",), one_hot=columns)[4] == (
        "column rude of --one-hot has neither 0 nor 1"
    )
    objects = [{"text": "a", "x": True, "y": False, "z": 1}, {"text": "b", "x": 0, "y": 1.0}]
    events, _ = left_out(lines(*objects), format="jsonl", one_hot=("x", "y", "z"))
    assert [each["classes"] for each in events] == [["x", "z"], ["y"]]


def test_labels_to_leave_out(left_out):
    content = "text,label\nice,nan\npuck,a|nan\nball,NaN\nnet,\n"
    source = left_out(content[:-5], class_separator="|", left_out=frozenset({"nan"}))
    assert source == (
        [{"text": "puck", "classes": ["a"]}, {"text": "ball", "classes": ["NaN"]}],
        {"row by its label": 1},
    )
