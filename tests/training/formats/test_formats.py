import pytest

from manyclass.training.formats import FORMATS, FormatUnknown, format_of, reader_of
from manyclass.training.formats.given import Rejected
from manyclass.training.lines import Line


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
