import pytest

from manyclass.training.tables.source import TableFault


def test_the_keys_of_the_first_objects_are_the_columns(table):
    content = (
        '{"question": "ice", "label": 3, "tags": ["a", " b "]}\n'
        "\n"
        '{"label": "x", "more": {"k": 1}, "question": null}\n'
        '{"question": "serve", "more": true}\n'
        "{\n"
    )
    jsonl = {"format": "jsonl", "name": "a.jsonl"}
    found = table(content, **jsonl, text=("question",), classes=("label",))
    assert found[1] == {"text": "ice", "classes": ["3"]}
    assert found[3] == "no text: question is empty"
    assert found[4] == "no class: label is empty"
    assert "truncated" in found[5]
    by_more = table(content, **jsonl, labelled=False, text=("question", "more"))
    assert (
        by_more[3]
        == "column more holds an object, with other values than texts, in place of a text"
    )
    assert by_more[4] == {"text": "serve true"}
    assert table(content, **jsonl, text=("question",), classes=("tags",))[1]["classes"] == [
        "a",
        "b",
    ]


def test_lines_without_an_object_have_no_columns(table):
    with pytest.raises(TableFault, match="none of the first 2 lines is an object of JSON"):
        table("[1]\nx\n", format="jsonl", text=("a",))
    with pytest.raises(TableFault, match="it is empty"):
        table("", format="jsonl", text=("a",))
    with pytest.raises(TableFault, match="no line is an object of JSON"):
        table("[1]\n", format="jsonl", text=("a",))


@pytest.mark.parametrize("depth", [2, 900, 5000])
def test_lists_that_are_nested_are_a_fault_of_their_line(table, depth):
    content = '{"q": "ice"}\n{"q": ' + depth * "[" + depth * "]" + "}\n"
    found = table(content, format="jsonl", name="a.jsonl", labelled=False, text=("q",))
    assert found[1] == {"text": "ice"}
    assert "holds a list of lists" in found[2] or "recursion" in found[2]


def test_a_number_that_is_no_finite_float_is_a_text_as_it_is_written(table):
    content = '{"q": -1e400, "n": 1e999, "x": 2.50, "y": 3.0}\n'
    jsonl = {"format": "jsonl", "name": "a.jsonl", "labelled": False}
    assert table(content, **jsonl, text=("q", "n"))[1] == {"text": "-1e400 1e999"}
    assert table(content, **jsonl, text=("x", "y"))[1] == {"text": "2.5 3"}


@pytest.mark.parametrize(
    "line",
    [
        '{"q": "ice", "c": "y", "c" : "z"}',
        '{"q": "ice", "c": "y", "c"\t: "z"}',
        '{"c": "y", "q": "ice", "\\u0063":"z"}',
        '{"q": "a: b \\": c", "c":"y", "c":"z"}',
        '{"q": "ice", "c": "y", "m": {"a": {"b": 1}}, "c": "z"}',
    ],
)
def test_each_writing_of_a_key_twice_is_found(table, line):
    content = '{"q": "a \\": b: c", "c": "x"}\n' + line + "\n"
    found = table(content, format="jsonl", name="a.jsonl", text=("q",), classes=("c",))
    assert found[1] == {"text": 'a ": b: c', "classes": ["x"]}
    assert found[2] == "the key `c` stands twice"


def test_a_key_that_stands_twice_is_a_fault_of_its_line(table):
    content = '{"q": "ice", "c": "x"}\n{"q": "ice", "c": "y", "c": "z"}\n'
    found = table(content, format="jsonl", name="a.jsonl", text=("q",), classes=("c",))
    assert found[1] == {"text": "ice", "classes": ["x"]}
    assert found[2] == "the key `c` stands twice"
