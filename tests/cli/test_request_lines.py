import json

import pytest

from manyclass.cli.request_lines import event_of as read_event
from manyclass.cli.request_lines import instance_of as read_instance
from manyclass.training.lines import Line, LineFault


def line(**body):
    return Line("f", 1, json.dumps(body).encode())


def plain(body):
    return {name: json.loads(bytes(value)) for name, value in body.items()}


def event_of(ignore_unknown=False, **body):
    return plain(read_event(line(**body), ignore_unknown))


def instance_of(ignore_unknown=False, **body):
    return plain(read_instance(line(**body), ignore_unknown))


def test_an_event_in_each_of_its_forms():
    assert event_of(text="x", classes=["a"], event_id="e")["event_id"] == "e"
    assert event_of(text="x", classes=["a"], source="anna")["source"] == "anna"
    assert event_of(text="x", classes=["a"], reviewer="ben", batch="b")["reviewer"] == "ben"
    assert event_of(features={"f": 1.5}, classes=["a", 7]) == {
        "features": {"f": 1.5},
        "classes": ["a", 7],
    }
    assert event_of(id="i", classes=["a"]) == {"id": "i", "classes": ["a"]}


def test_an_instance_in_each_of_its_forms():
    assert instance_of(text="x", id="i") == {"text": "x", "id": "i"}
    assert instance_of(features=["f"]) == {"features": ["f"]}


@pytest.mark.parametrize(
    ("read", "body", "key"),
    [
        (event_of, {"text": "x", "classes": ["a"], "split": "train"}, "split"),
        (event_of, {"text": "x", "classes": ["a"], "id": "row 1"}, "id"),
        (event_of, {"features": ["f"], "classes": ["a"], "k": 5}, "k"),
        (instance_of, {"text": "x", "classes": ["a"]}, "classes"),
    ],
)
def test_an_unknown_key_is_a_fault_unless_it_is_to_be_ignored(read, body, key):
    with pytest.raises(LineFault, match=f"`{key}` cannot be used here"):
        read(**body)
    assert key not in read(ignore_unknown=True, **body)


def test_the_keys_of_a_text_are_told_to_a_line_without_an_instance():
    with pytest.raises(
        LineFault, match=r"known are batch, classes, event_id, features, id, .*, text"
    ):
        event_of(mail="x", classes=["a"])


@pytest.mark.parametrize("classes", [{}, {"classes": []}, {"classes": "a"}, {"classes": [None]}])
def test_an_event_needs_a_true_class(classes):
    with pytest.raises(LineFault, match="class"):
        event_of(text="x", **classes)


@pytest.mark.parametrize(
    "data",
    [
        b"text",
        b"[1]",
        b'"text"',
        b'{"text": NaN}',
        b'{"text": "x"',
        b'{"text": "x"} {}',
        b'{"text": "\xff"}',
        b"\xef\xbb\xbf{}",
        b'{"text": ' + b"[" * 100_000,
        None,  # too long to be held
    ],
)
def test_a_line_that_is_not_a_json_object_is_a_fault(data):
    for read in (read_event, read_instance):
        with pytest.raises(LineFault):
            read(Line("f", 1, data))


def test_values_are_passed_on_as_they_were_written():
    body = read_instance(Line("f", 1, b'{"features": {"f": 1e400, "g": 0.10}}'))
    assert bytes(body["features"]) == b'{"f": 1e400, "g": 0.10}'
