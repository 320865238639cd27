import pytest

from manyclass.training.rows import Rows
from studies.peers import text_formats as lines


@pytest.fixture
def rows():
    return Rows.of(
        [
            ({"a": 3.0, "b": 4.0}, ["x"]),
            ({"b": 2.0}, ["y", "x"]),
            ({}, ["z"]),
        ]
    )


def written(write, path, rows):
    write(path / "file", rows)
    return (path / "file").read_text().splitlines()


def test_multiclass_files_have_a_line_for_each_true_class(tmp_path, rows):
    assert written(lines.write_one_class_each, tmp_path, rows) == [
        "1 | 0:0.6 1:0.8",
        "2 | 1:1",
        "1 | 1:1",
        "3 | ",
    ]


def test_multilabel_files_have_all_true_classes_in_a_line(tmp_path, rows):
    assert written(lines.write_all_classes, tmp_path, rows) == [
        "0 | 0:0.6 1:0.8",
        "1,0 | 1:1",
        "2 | ",
    ]


def test_token_files_repeat_a_feature_as_often_as_its_value_says(tmp_path, rows):
    assert written(lines.write_labelled_tokens, tmp_path, rows) == [
        "__label__0 f0 f0 f0 f1 f1 f1 f1",
        "__label__1 __label__0 f1 f1",
        "__label__2 ",
    ]


def test_small_values_are_a_token_and_negative_ones_none(tmp_path):
    rows = Rows.of([({"a": 0.2, "b": -1.0, "c": 1.6}, ["x"])])

    assert written(lines.write_labelled_tokens, tmp_path, rows) == ["__label__0 f0 f2 f2"]


def test_xmc_files_begin_with_their_sizes(tmp_path, rows):
    assert written(lines.write_xmc, tmp_path, rows) == [
        "3 2 3",
        "0 0:0.6 1:0.8",
        "1,0 1:1",
        "2 ",
    ]
