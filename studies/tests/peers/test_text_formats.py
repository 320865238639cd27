import pytest

from manyclass.training.rows import Rows
from studies.peers.text_formats import (
    write_all_classes,
    write_labelled_tokens,
    write_one_class_each,
    write_xmc,
)


@pytest.fixture
def rows():
    return Rows.of([({"a": 3.0, "b": 4.0}, ["x"]), ({"b": 2.0}, ["y", "x"]), ({}, ["z"])])


@pytest.mark.parametrize(
    ("write", "lines"),
    [
        (write_one_class_each, ["1 | 0:0.6 1:0.8", "2 | 1:1", "1 | 1:1", "3 | "]),
        (write_all_classes, ["0 | 0:0.6 1:0.8", "1,0 | 1:1", "2 | "]),
        (
            write_labelled_tokens,  # a feature is repeated as often as its value says
            [
                "__label__0 f0 f0 f0 f1 f1 f1 f1",
                "__label__1 __label__0 f1 f1",
                "__label__2 ",
            ],
        ),
        (write_xmc, ["3 2 3", "0 0:0.6 1:0.8", "1,0 1:1", "2 "]),
    ],
)
def test_rows_are_written_in_the_format(tmp_path, rows, write, lines):
    write(tmp_path / "file", rows)
    assert (tmp_path / "file").read_text().splitlines() == lines


def test_small_values_are_a_token_and_negative_ones_none(tmp_path):
    rows = Rows.of([({"a": 0.2, "b": -1.0, "c": 1.6}, ["x"])])

    write_labelled_tokens(tmp_path / "file", rows)

    assert (tmp_path / "file").read_text() == "__label__0 f0 f2 f2\n"
