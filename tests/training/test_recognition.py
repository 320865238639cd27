import pytest

from manyclass.training.formats.given import Rejected
from manyclass.training.lines import FileFault, Line, Source
from manyclass.training.recognition import MOST_REJECTED, recognised, stopping


@pytest.mark.parametrize(
    ("begin", "likely"),
    [
        (
            "id,question,intent\n1,where is it,lost\n",
            "CSV with the columns id, question, intent: add --text-column question"
            " --class-column intent",
        ),
        (
            "\ufeffa;b\nlong text, of words;x\n",
            "CSV with the columns a, b: add --text-column a --class-column COLUMN",
        ),
        (
            '{"sentence": "a b c", "tag": "x"}\n',
            "JSON lines with the keys sentence, tag: add --text-column sentence --class-column tag",
        ),
        ('["a", "b"]\n', "an array of JSON, but not of objects"),
        (
            '[\n  {\n "sentence": "a b c",\n "tag": "x"}, {"sentence"',
            "JSON lines with the keys sentence, tag: add --text-column sentence --class-column tag",
        ),
        (
            '{"events": [{"sentence": "a b c", "tag": "x"}]}',
            "JSON lines with the keys sentence, tag: add --text-column sentence --class-column tag",
        ),
        ('{"line": 7, "detail": "no class", "row": {"a": "b"}}\n', "rejected rows, which the page"),
        ('{\n  "text": "a"\n}\n', "an object of JSON on several lines"),
        ("<!DOCTYPE html>\n<html>\n", "a page of HTML"),
        ("__label__a __label__b words\n", "fastText, which `manyclass train --format fasttext`"),
        ("hockey |words ice puck:2\n", "Vowpal Wabbit, which"),
        ("3 1:0.5 7:2\n", "libsvm, which"),
        ("3,12 1:0.5 7:2\n", "libsvm, which"),
        ("a line of words\nand another\n", "plain text: a line has its classes too"),
        ("first, second\n", "plain text"),
        ("one, two, three\nfour\nfive\n", "plain text"),
        ("PAR1\0\0", "Parquet"),
        (
            '{"text": {"title": "Ice"}, "label": "x", "id": 7}\n',
            "JSON lines with the keys text, label, id: add --text-column text --class-column label",
        ),
        ('{"text": "a", "id": "q-1"}\n', "instances without classes, which `manyclass rank` reads"),
        ('{"text": {"title": "a"}, "id": "q-1"}\n', "instances without classes"),
        ('{"features": {"a": 1}}\n', "instances without classes"),
        ('{"events": [{"text": "a", "event_id": "e"}]}', "instances without classes"),
    ],
)
def test_a_format_is_recognised_with_what_to_do(begin, likely):
    assert recognised(begin.encode()).startswith(likely)


@pytest.mark.parametrize(
    "begin",
    [
        "",
        "\n",
        "\x01\x02 words\n",
        "a\tword\x00\n",
        "# a comment\n",
        "[note] words\n",
        '{"text": "a", "classes": ["x"]}\n',
        '{"id": "7", "not": ["x"]}\n',
        '{"text": "a", \n',
        '[{"text": "a", "classes": ["b"]},\n',
        '[{"text": "a',
        '{"events": [{"text": "a", "classes": ["b"]}]}',
        "\xff\xfe",
    ],
)
def test_other_bytes_are_not(begin):
    assert recognised(begin.encode("latin-1")) == ""


def test_to_rank_no_class_is_asked_for():
    assert recognised(b"a,b\nlong text,x\n", labelled=False).endswith("add --text-column a")
    assert recognised(b"words\n", labelled=False).startswith(
        "plain text: make each line an object, as jq -Rc '{text: .}' FILE does"
    )
    assert recognised(b'{"q": "a"}\n', labelled=False).endswith("add --text-column q")
    assert recognised(b'{"text": "a", "label": "x"}\n', labelled=False) == ""
    assert recognised(b'{"id": "q", "classes": ["a"]}\n', labelled=False).startswith(
        "labels of instances that were ranked before, which `manyclass learn` reads"
    )


def results(rejected, accepted=0):
    """Return results of the first lines of a file."""
    line = Line("f", 1, b"x")
    return [*[Rejected(line, "bad")] * rejected, *["good"] * accepted]


def stopped(given, begin=b""):
    """Return the results that are yielded, and the fault."""
    source = Source("data")
    source.begin = begin
    yielded = []
    try:
        yielded += list(stopping(source, iter(given)))
    except FileFault as fault:
        return str(fault)
    return len(yielded)


def test_reading_stops_after_the_first_lines_are_rejected():
    assert stopped(results(MOST_REJECTED, 1)) == (
        "data: its first 20 lines are rejected; the others are not read"
    )
    assert stopped(results(MOST_REJECTED - 1, 1)) == MOST_REJECTED
    assert stopped([*results(0, 1), *results(1000)]) == 1001
    assert stopped(results(3)) == 3
    assert stopped([]) == 0


def test_a_short_file_of_another_format_is_recognised():
    assert stopped(results(1), b'["a"]\n').startswith("data: this looks like an array")
    assert stopped(results(1), b"words\n").startswith("data: this looks like plain text")
    assert stopped(results(1, 1), b"words\n") == 2


def test_an_array_of_other_things_than_objects_is_refused_at_its_first_line():
    source = Source("data")
    source.begin = b'["a",\n'
    with pytest.raises(FileFault, match="this looks like an array of JSON"):
        next(stopping(source, results(2)))
    assert stopped(results(0, 3), b"[\n") == 3
