"""Each format is read, and lines of another form are refused."""

import pytest

from manyclass.training.formats import FORMATS, FormatUnknown, format_of, reader_of, xmc
from manyclass.training.formats.given import Rejected
from manyclass.training.lines import FileFault, Line

# --- formats --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "format"),
    [
        ("a.jsonl", "jsonl"),
        ("some.where/a.b.json.gz", "jsonl"),
        ("a.svm", "libsvm"),
        ("a.libsvm.zst", "libsvm"),
        ("train.xmc.gz", "xmc"),
        ("a.vw", "vw"),
        ("a.ft", "fasttext"),
        ("a.CSV", "csv"),
        ("a.tsv.zst", "csv"),
        ("a.xlsx", "xlsx"),
        ("a.parquet", "parquet"),
        ("a.arrow", "arrow"),
        ("a.feather", "arrow"),
        ("-", "jsonl"),
    ],
)
def test_a_name_tells_the_format(file, format):
    assert format_of(file) == format


@pytest.mark.parametrize("file", ["train.txt", "train", "train.gz", "vw", ".vw"])
def test_a_name_that_tells_no_format(file):
    with pytest.raises(FormatUnknown, match=f"{file}: .*--format .*fasttext"):
        format_of(file)


def test_an_unknown_format():
    with pytest.raises(FormatUnknown, match="'arff' is not a format of lines"):
        reader_of("arff")


@pytest.mark.parametrize("format", FORMATS)
def test_a_line_that_is_not_utf_8_is_rejected_alone(format):
    before = b"2 3 3\n" if format == "xmc" else b""
    good = {
        "jsonl": b'{"text": "x", "classes": ["1"]}',
        "libsvm": b"1 0:1",
        "xmc": b"1 0:1",
        "vw": b"1 | 0",
        "fasttext": b"__label__1 x",
    }[format]
    bad = good.replace(b"1", b"\xff", 1)
    lines = [Line("f", number, data) for number, data in enumerate([bad, good], 2)]
    header = [Line("f", 1, before.strip())] if before else []
    first, second = reader_of(format)([*header, *lines])
    assert isinstance(first, Rejected)
    assert first.line.number == 2
    assert "UTF-8" in first.reason or "utf-8" in first.reason
    assert second.classes == ["1"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_without_lines_holds_nothing(format, read):
    assert read(format, b"\n \n") == []


@pytest.mark.parametrize("format", ["libsvm", "xmc", "vw"])
@pytest.mark.parametrize("text", ["x", "", "1_0", "0x1", "1,5"])
def test_a_value_has_to_be_a_number(format, text, read):
    line = {"libsvm": "1 2:{}", "xmc": "1 3 3\n1 2:{}", "vw": "1 | 2:{}"}[format]
    assert read(format, line.format(text).encode()) == [f"{text!r} is not a number"]


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("libsvm", "1 2:{}"),
        ("libsvm", "1 {}"),
        ("libsvm", ":{} 1:1"),
        ("xmc", "1 3 3\n{} 1:1"),
        ("xmc", "1 3 3\n1 {}:1"),
        ("vw", "1 | 2:{}"),
        ("vw", "1 | :1{}"),
        ("vw", "1 {} | 2"),
        ("vw", "1:{} | 2"),
    ],
)
def test_of_long_words_a_reason_quotes_the_beginning(format, line, read):
    [reason] = read(format, line.format("0x" * 50_000).encode())
    assert "0x0x" in reason
    assert len(reason) < 300


@pytest.mark.parametrize("format", FORMATS)
def test_a_line_too_long_to_be_held_is_rejected(format):
    header = [Line("f", 1, b"1 3 3")] if format == "xmc" else []
    [rejected] = reader_of(format)([*header, Line("f", 2, None)])
    assert isinstance(rejected, Rejected)
    assert "longer than 16,777,216 bytes" in rejected.reason


# --- fasttext -------------------------------------------------------------------------------------


def test_labels_and_the_text_between_them(read):
    assert read("fasttext", b"__label__a __label__b Stop\tthe puck\n__label__a\n") == [
        ("Stop the puck", ["a", "b"]),
        ("", ["a"]),
    ]


def test_labels_behind_the_words(read):
    assert read("fasttext", "nordsjøen, stop __label__é-1 now".encode()) == [
        ("nordsjøen, stop now", ["é-1"])
    ]


def test_a_line_without_a_label_is_rejected(read):
    assert read("fasttext", b"stop __labelled__ puck") == [
        "no true class: no word begins with __label__"
    ]


# --- jsonl ----------------------------------------------------------------------------------------


def test_features_in_each_form_and_texts(read):
    lines = rb"""
{"features": {"ice": 1.5, "puck": 2}, "classes": ["hockey", 7]}
{"features": ["ice", "puck", "puck", 5], "classes": ["hockey"]}
{"text": "Stop the puck", "classes": ["hockey"], "event_id": "e", "split": "train", "x": {"y": []}}
{"classes": ["hockey"], "features": {}}
{"classes": ["hockey"], "text": {"title": "Stop", "body": "the puck"}}
{"classes": ["hockey"], "text": {"title": null, "body": "Stop"}}
"""
    assert read("jsonl", lines) == [
        ({"ice": 1.5, "puck": 2}, ["hockey", 7]),
        (["ice", "puck", "puck", 5], ["hockey"]),
        ("Stop the puck", ["hockey"]),
        ({}, ["hockey"]),
        ({"title": "Stop", "body": "the puck"}, ["hockey"]),
        ({"body": "Stop"}, ["hockey"]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "x"}', "it has no `classes`"),
        (b'{"text": "x", "classes": "a"}', "Expected `array`"),
        (b'{"classes": ["a"]}', "either `features` or `text`"),
        (b'{"classes": ["a"], "text": "x", "features": {}}', "either `features` or `text`"),
        (b'{"classes": ["a"], "text": null}', "Expected `str | object`"),
        (
            b'{"classes": ["a"], "text": {"title": 3}}',
            "a field of `text` must be a string (got int)",
        ),
        (b'{"classes": ["a"], "features": {"f": "x"}}', "Expected `float`"),
        (b'{"classes": ["a"], "features": 3}', "features"),
        (
            b'{"classes": ["a"], "features": {"f": -1e400}}',
            "a number is not a finite float, as 1e400 - at `$.features[...]`",
        ),
        (
            b'{"classes": ["a"], "text": "x", "weight": 1e999}',
            "a number is not a finite float, as 1e400 - at `$.weight`",
        ),
        (b'["a"]', "Expected `object`"),
        (b'{"classes": ["a"], ', "truncated"),
        (b'{"x": ' + b"[" * 100_000, "recursion"),
    ],
)
def test_lines_without_an_event_are_rejected(read, line, reason):
    [rejected] = read("jsonl", line)
    assert reason in rejected


# --- libsvm ---------------------------------------------------------------------------------------


def test_classes_and_features(read):
    lines = b"""# a comment
3 1:0.5 7:2 # another
3,12 1:0.5\t19:1e-1\r
-1 2:-3 2:4.5
+1
a 1:1
"""
    assert read("libsvm", lines) == [
        ({"1": 0.5, "7": 2.0}, ["3"]),
        ({"1": 0.5, "19": 0.1}, ["3", "12"]),
        ({"2": 1.5}, ["-1"]),
        ({}, ["+1"]),
        ({"1": 1.0}, ["a"]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b" 1:0.5", "no true class: the line begins with a blank"),
        (b"1:0.5 2:1", "no true class: the line begins with '1:0.5'"),
        (b"3 qid:4 1:0.5", "qid groups rows"),
        (b"3 1:0.5 x:1", "'x:1' is not feature:value"),
        (b"3 1:0.5 7", "'7' is not feature:value"),
        (b"3 -7:1", "'-7:1' is not feature:value"),
        ("3 ²:1".encode(), "'²:1' is not feature:value"),
    ],
)
def test_other_lines_of_libsvm_are_rejected(read, line, reason):
    [rejected] = read("libsvm", line)
    assert rejected.startswith(reason)


# --- vw -------------------------------------------------------------------------------------------


def test_namespaces_weights_and_values(read):
    lines = b"""hockey |words ice puck:2 |from:0.5 goalie the:4
3,12 1.0 'row-7| ice:-1 ice:3 | puck
3 1 0.25 tag|a x |b x:1e1 |  |c
3 'tag |a:2 x |:2 y
3 1\t| x
"""
    assert read("vw", lines) == [
        (
            {"words^ice": 1.0, "words^puck": 2.0, "from^goalie": 0.5, "from^the": 2.0},
            ["hockey"],
        ),
        ({"ice": 2.0, "puck": 1.0}, ["3", "12"]),
        ({"a^x": 1.0, "b^x": 10.0}, ["3"]),
        ({"a^x": 2.0, "y": 2.0}, ["3"]),
        ({"x": 1.0}, ["3"]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"3 1:0.5", "there is no |"),
        (b"| x", "no true class in front of the first |"),
        (b"'tag | x", "no true class in front of the first |"),
        (b"3| x", "no true class in front of the first | (a word that touches it is a tag)"),
        (b"3:0.5 4:1 | x", "'3:0.5' is a class with a cost"),
        (b"3 2 | x", "an importance of '2' cannot be learned"),
        (b"3 0.5 tag| x", "an importance of '0.5' cannot be learned"),
        (b"3 b | x", "'b' is not a number"),
        (b"3 | :2", "':2' is a feature without a name"),
        (b"3 |n:w x", "'w' is not a number"),
    ],
)
def test_other_lines_of_vw_are_rejected(read, line, reason):
    [rejected] = read("vw", line)
    assert rejected.startswith(reason)


# --- xmc ------------------------------------------------------------------------------------------


def test_a_header_and_instances(read):
    assert read("xmc", b"3 5 3\n0,2 0:0.5 4:1.25\n1 3:1\n2\n") == [
        ({"0": 0.5, "4": 1.25}, ["0", "2"]),
        ({"3": 1.0}, ["1"]),
        ({}, ["2"]),
    ]


def test_lines_at_odds_with_the_header_are_rejected(read):
    lines = b"6 5 3\n 0:1\n3 0:1\n0 5:1\n0,x 1:1\n0 1:y\n1 4:1"
    assert read("xmc", lines) == [
        "no true class: the line begins with a blank",
        "class '3' is not a number below 3, which the header says",
        "feature '5' is not a number below 5, which the header says",
        "class 'x' is not a number below 3, which the header says",
        "'y' is not a number",
        ({"4": 1.0}, ["1"]),
    ]


@pytest.mark.parametrize(
    "first", [b"0 1:1", b"3 5", b"3 5 x", b"3 5 -1", b"3 5 3 1", b"3 5 " + b"9" * 5000]
)
def test_a_file_without_a_header_is_not_read(read, first):
    with pytest.raises(FileFault, match=r"f: its first line is not a header .* read it as libsvm"):
        read("xmc", first + b"\n0 1:1")


def test_a_file_that_lost_its_end_is_a_fault(read):
    with pytest.raises(FileFault, match="the header says 3 instances, but line 3 is the last"):
        read("xmc", b"3 5 3\n0 0:1\n1 1:1\n")


def test_a_file_with_more_instances_than_its_header_says_is_a_fault(read):
    with pytest.raises(FileFault, match="the header says 1 instances, but line 3 holds another"):
        read("xmc", b"1 5 3\n0 0:1\n1 1:1\n")


def test_a_header_too_long_to_be_held_is_none():
    with pytest.raises(FileFault, match="is not a header"):
        list(xmc.read([Line("f", 1, None)]))


@pytest.mark.parametrize("line", [b"%s 1:1", b"1 %s:1"])
def test_numbers_of_very_many_digits_are_rejected(read, line):
    [reason] = read("xmc", b"1 5 3\n" + line % (b"1" * 5000))
    assert "is not a number below" in reason
