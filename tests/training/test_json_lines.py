import json

import pytest

from manyclass.training import json_lines
from manyclass.training.json_lines import JsonLines
from manyclass.training.lines import FileFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource

EVENTS = [{"text": "ice", "classes": ["a"]}, {"text": "\u2028", "classes": [12345678901234567890]}]


@pytest.fixture
def lines(tmp_path):
    """Return a function that writes a file and returns its source."""

    def write(content, **options):
        file = tmp_path / "lines.jsonl"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return JsonLines(str(file), **options)

    return write


def read(source):
    return [json.loads(each.data) for each in source]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"events": EVENTS}),
        json.dumps({"events": EVENTS}, indent=2),
        json.dumps({"events": EVENTS}, indent=2).replace("\n", "\r\n"),
        "\ufeff" + json.dumps({"events": EVENTS, "next": None}),
        '{ \n "events"\n: [{"text": "ice", "classes": ["a"]}, ' + json.dumps(EVENTS[1]) + "]}",
    ],
)
def test_a_body_of_the_api_is_read_as_its_events(lines, body):
    source = lines(body)
    assert read(source) == EVENTS
    assert [each.location for each in source] == [
        f"{source.name}: event 1",
        f"{source.name}: event 2",
    ]


@pytest.mark.parametrize(
    "array",
    [
        json.dumps(EVENTS),
        json.dumps(EVENTS, indent=2),
        json.dumps(EVENTS, indent=2).replace("\n", "\r\n\r\n"),
        "\ufeff [ \n" + json.dumps(EVENTS)[1:],
        "[" + json.dumps(EVENTS)[1:-1] + "\n]\n",
    ],
)
def test_an_array_of_objects_is_read_as_its_objects(lines, array):
    source = lines(array)
    assert read(source) == EVENTS
    assert [each.location for each in source] == [f"{source.name}: object {at}" for at in (1, 2)]


@pytest.mark.parametrize(
    "array", ["[{}", "[{}] x", "[{}]\n[{}]", "[\n{]", b'[{"a": "\xe9"', "[{},"]
)
def test_an_array_that_is_damaged_is_a_fault(lines, array):
    with pytest.raises(FileFault, match="the array of JSON cannot be read"):
        read(lines(array))


def test_an_array_is_a_table_whose_keys_are_columns(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text('[\n {"q": "ice", "tag": "a"},\n {"q": "puck", "tag": "b"}\n]')
    rows = TableSource(str(file), "jsonl", Layout(text=("q",), classes=("tag",)))
    assert [json.loads(row.data)["text"] for row in rows] == ["ice", "puck"]


def test_the_instances_of_a_body_are_read_and_its_options_are_not_dropped(lines):
    assert read(lines('{"instances": [{"text": "a"}]}', labelled=False)) == [{"text": "a"}]
    with pytest.raises(FileFault, match="`k` beside `instances` cannot be used here"):
        read(lines('{"instances": [{"text": "a"}], "k": 3}'))


@pytest.mark.parametrize(
    "body",
    [
        '{"events": [{}',
        '{"events": [1]} x',
        '{"events": [{}]}\n{"text": "a"}',
        b'{"events": ["\xe9"',
    ],
)
def test_a_body_that_is_damaged_is_a_fault(lines, body):
    with pytest.raises(FileFault, match="the object with `events` cannot be read"):
        read(lines(body))


def test_a_body_is_held_up_to_a_bound(lines, monkeypatch):
    monkeypatch.setattr(json_lines, "LONGEST_BODY", 60)
    with pytest.raises(FileFault, match=r"longer than 60 bytes: .* jq -c '\.events\[\]' FILE"):
        read(lines(json.dumps({"events": EVENTS}, indent=1)))
    with pytest.raises(FileFault, match=r"longer than 60 bytes: .* jq -c '\.\[\]' FILE"):
        read(lines(json.dumps(EVENTS, indent=1)))


def test_other_objects_are_lines_of_their_own(lines):
    for content in (
        '{"text": "events"}\n{"a": {"events": []}}\n',
        "{\n",
        '{"events": 3}\n',
        "",
        "[\n",
        '["a"]\n',
    ):
        assert [each.kept.decode() for each in lines(content)] == content.splitlines()


def test_tasks_that_an_annotator_rejected_are_left_out_and_counted(lines):
    content = "".join(
        f'{{"text": "{at}", "classes": ["a"], "answer": {json.dumps(answer)}}}\n'
        for at, answer in enumerate(["accept", "reject", "ignore", "reject it", 3, None])
    )
    source = lines(content + '{"text": "6", "classes": ["a"], "meta": {"answer": "reject"}}\n')
    for _ in range(2):  # each time anew
        assert [each["text"] for each in read(source)] == ["0", "3", "4", "5", "6"]
        assert source.left_out == {"rejected answer": 2}
    assert len(read(lines(content, labelled=False))) == 6


def test_labels_to_leave_out(lines):
    content = (
        '{"text": "a", "classes": ["nan"]}\n{"text": "b", "classes": ["nan", "x", 3]}\n'
        '{"text": "c", "classes": ["None"], "not": ["y"]}\n{"text": "d", "classes": ["NaN"]}\nbad\n'
    )
    source = lines(content, left_out={"nan", "None", "3"})
    assert [each.kept for each in source] == [
        b'{"text":"b","classes":["x"]}',
        b'{"text":"c","classes":[],"not":["y"]}',
        b'{"text": "d", "classes": ["NaN"]}',
        b"bad",
    ]
    assert source.left_out == {"row by its label": 1}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_determines_the_encoding(lines, encoding):
    content = '{"text": "Grüße 氷", "classes": ["ä"]}\r\n\r\n{"text": "b", "classes": ["c"]}'
    found = list(lines(content.encode(encoding)))
    assert [json.loads(each.data)["classes"] for each in found] == [["ä"], ["c"]]
    assert [each.number for each in found] == [1, 3]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "cp437"])
def test_an_encoding_that_is_given_is_that_of_the_lines(lines, encoding):
    content = '{"text": "Grüße", "classes": ["ä"]}\n'
    assert read(lines(content.encode(encoding), encoding=encoding))[0]["text"] == "Grüße"


def test_a_byte_that_the_encoding_does_not_have_rejects_its_line_alone(lines):
    content = b'{"text": "a"}\n{"text": "\x81"}\n{"text": "b"}\n'
    first, faulty, last = lines(content, encoding="cp1252")
    assert (first.kept, last.kept) == (b'{"text": "a"}', b'{"text": "b"}')
    assert faulty.fault == "it is not of the encoding cp1252 (byte 0x81)"


def test_wide_letters_without_a_mark_are_read_and_no_line_can_be_found_in_others(lines):
    for encoding in ("utf-16-le", "utf-16-be"):
        assert read(lines('{"text": "a"}\n'.encode(encoding))) == [{"text": "a"}]
    with pytest.raises(FileFault, match="there is no encoding 'utf-99'"):
        read(lines("{}", encoding="utf-99"))
    with pytest.raises(FileFault, match="is not of the encoding utf-16"):
        read(lines('{"a": 1}\n{"b": 2}\n'.encode("utf-16") + b"\0\xd8x", encoding="utf-16"))


def test_the_body_is_a_table_too(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"events": [{"q": "ice", "label": "a"}, {"q": "puck", "label": "b"}]}')
    rows = list(TableSource(str(file), "jsonl", Layout(text=("q",))))
    assert [json.loads(each.data)["classes"] for each in rows] == [["a"], ["b"]]


def test_an_answer_that_cannot_be_read_is_no_rejection(lines):
    event = b'{"text": "a", "classes": ["x"], "answer": '
    broken = event + b'reject}\n{"answer"\n' + event + b'["reject"]}\n'
    source = lines(broken, labelled=True)
    assert len([*source]) == 3
    assert not source.left_out
