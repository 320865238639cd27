"""Columns of a table as fields of a text."""

import pytest

from manyclass.training.lines import FileFault

CONTENT = 'title,body,label\nIce hockey,a puck,hockey\n,"two, words",tennis\n  ,  ,golf\n'


def test_columns_become_fields_named_by_them_and_blank_ones_are_left_out(table):
    assert table(CONTENT, text=("title", "2"), classes=("label",), fields=True) == {
        2: {"text": {"title": "Ice hockey", "body": "a puck"}, "classes": ["hockey"]},
        3: {"text": {"body": "two, words"}, "classes": ["tennis"]},
        4: "no text: title, body is empty",
    }


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


def test_a_text_has_16_fields_at_most(table):
    names = [f"f{at}" for at in range(17)]
    content = f"{','.join(names)},label\n{'x,' * 17}a\n"
    with pytest.raises(FileFault, match="at most 16 fields, and here are 17"):
        table(content, text=(*names,), classes=("label",), fields=True)
    assert (
        len(table(content, text=(*names[:16],), classes=("label",), fields=True)[2]["text"]) == 16
    )
