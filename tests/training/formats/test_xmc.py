import pytest

from manyclass.training.formats import xmc
from manyclass.training.lines import FileFault, Line


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
