"""Columns of a table as fields of a text."""

import json

import pytest
from arro3.core import Array, DataType, Field, Table, struct_array
from arro3.io import write_parquet

from manyclass.training.lines import FileFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource

CONTENT = 'title,body,label\nIce hockey,a puck,hockey\n,"two, words",tennis\n  ,  ,golf\n'


def test_columns_become_fields_named_by_them_and_blank_ones_are_left_out(table):
    assert table(CONTENT, text=("title", "2"), classes=("label",), fields=True) == {
        2: {"text": {"title": "Ice hockey", "body": "a puck"}, "classes": ["hockey"]},
        3: {"text": {"body": "two, words"}, "classes": ["tennis"]},
        4: "no text: title, body are empty",
    }


@pytest.mark.parametrize("fields", [False, True])
def test_an_object_of_texts_is_the_fields_of_a_text(table, fields):
    content = (
        '{"text": {"title": "Ice", "body": "a puck: two", "note": null}, "label": "a"}\n'
        '{"text": {"title": " ", "body": ""}, "label": "b"}\n'
        '{"text": {"title": "Ice", "year": 2020}, "label": "c"}\n'
        '{"text": {"title": "Ice", "title": "Puck"}, "label": "d"}\n'
        '{"text": "ice", "label": {"a": "b"}}\n'
        '{"text": "ice", "label": "e", "meta": {"x": "y", "x": {}}}\n'
    )
    layout = {"text": ("text",), "classes": ("label",), "fields": fields}
    assert table(content, "lines.jsonl", format="jsonl", **layout) == {
        1: {"text": {"title": "Ice", "body": "a puck: two"}, "classes": ["a"]},
        2: "no text: text is empty",
        3: "column text holds an object, with other values than texts, in place of a text",
        4: "the key `title` stands twice",
        5: "column label holds an object: write the classes with 1 as a list",
        6: {"text": {"text": "ice"} if fields else "ice", "classes": ["e"]},
    }


def test_fields_are_a_whole_text(table):
    content = '{"text": {"title": "Ice"}, "more": "puck", "label": "a"}\n'
    layout = {"text": ("text", "more"), "classes": ("label",), "format": "jsonl"}
    assert table(content, "lines.jsonl", **layout) == {
        1: "column text holds the fields of a whole text: give no other --text-column"
    }
    assert table(content, "lines.jsonl", **{**layout, "text": ("more",)})[1]["text"] == "puck"


def test_a_structure_of_parquet_has_fields_too(tmp_path):
    titles = Array(["Ice", None], DataType.string())
    bodies = Array(["a puck", "a card"], DataType.string())
    parts = [Field(name, DataType.string(), nullable=True) for name in ("title", "body")]
    texts = struct_array([titles, bodies], fields=parts)
    labels = Array(["a", "b"], DataType.string())
    file = tmp_path / "rows.parquet"
    write_parquet(Table.from_pydict({"text": texts, "label": labels}), file)
    layout = Layout(text=("text",), classes=("label",))
    assert [
        json.loads(line.data)["text"] for line in TableSource(str(file), "parquet", layout)
    ] == [
        {"title": "Ice", "body": "a puck"},
        {"body": "a card"},
    ]


def test_without_fields_the_columns_are_joined(table):
    assert table(CONTENT, text=("title", "body"), classes=("label",))[2] == {
        "text": "Ice hockey a puck",
        "classes": ["hockey"],
    }


def test_one_column_is_one_field(table):
    assert table(CONTENT, text=("title",), classes=("label",), fields=True)[2] == {
        "text": {"title": "Ice hockey"},
        "classes": ["hockey"],
    }


def test_rows_to_rank_keep_a_field_though_all_are_blank(table):
    assert table(CONTENT, text=("title", "body"), labelled=False, fields=True)[4] == {
        "text": {"title": "  ", "body": "  "}
    }


def test_keys_of_json_lines_are_fields_too(table):
    content = (
        '{"title": "Ice", "body": "a puck", "y": "a"}\n{"body": "b", "title": null, "y": "b"}\n'
    )
    layout = {"text": ("title", "body"), "classes": ("y",), "fields": True}
    assert table(content, "lines.jsonl", format="jsonl", **layout) == {
        1: {"text": {"title": "Ice", "body": "a puck"}, "classes": ["a"]},
        2: {"text": {"body": "b"}, "classes": ["b"]},
    }


def test_columns_of_one_name_are_no_two_fields(table):
    content = "note,note,label\nIce,a puck,hockey\n"
    with pytest.raises(FileFault, match="two fields of a text cannot be named `note`"):
        table(content, text=("1", "2"), classes=("label",), fields=True)
    assert table(content, text=("1", "2"), classes=("label",)) == {
        2: {"text": "Ice a puck", "classes": ["hockey"]}
    }


def test_more_columns_than_a_text_has_fields_may_be_filled_by_turns(table):
    names = [f"f{at}" for at in range(20)]
    content = f"{','.join(names)},label\n{'x,' * 10}{',' * 10}a\n{',' * 10}{'x,' * 10}a\n"
    rows = table(content, text=(*names,), classes=("label",), fields=True)
    assert [[*rows[at]["text"]] for at in (2, 3)] == [names[:10], names[10:]]
