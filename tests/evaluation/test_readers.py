import gzip

import pytest

from manyclass.evaluation.readers import (
    DataMissing,
    data_folder,
    jane_austen,
    of_largest_classes,
    without_headers,
    word_counts,
)


def test_the_folder_is_the_one_the_environment_names(monkeypatch, tmp_path):
    monkeypatch.setenv("BENCHMARK_DATA", str(tmp_path))
    assert data_folder() == tmp_path

    monkeypatch.delenv("BENCHMARK_DATA")
    assert data_folder().parts[-2:] == ("shared", "data")


def test_jane_austen_leaves_out_features_seen_once(tmp_path):
    (tmp_path / "jane_austen").mkdir()
    for name in ("one", "two"):
        text = f"She was {name}. He was not.\n\nShe was {name}."
        (tmp_path / "jane_austen" / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))

    rows = jane_austen(tmp_path)

    assert len(rows) == 2 * 9
    assert set(rows.classes) == {"She", "was", "one", "two", "He", "not"}
    assert "She _" in rows.features
    assert "She _ one" in rows.features  # twice in one book
    assert "_ was not" in rows.features  # once in each
    counts = {name: 0 for name in rows.features}
    for at in rows.indices:
        counts[rows.features[at]] += 1
    assert min(counts.values()) == 2


def test_headers_but_the_subject_are_dropped():
    post = "From: a@b.c\nSubject: Re: Old cars\nLines: 2\n\nSubject: not a header\nCars!"

    assert word_counts(without_headers(post)) == {
        "re": 1,
        "old": 1,
        "cars": 2,
        "subject": 1,
        "not": 1,
        "header": 1,
    }
    assert without_headers("From: a@b.c\n\nBody").split() == ["Body"]


def test_the_largest_classes_are_kept_and_of_equal_ones_the_first_by_name():
    rows = [({"x": 1}, ["b", "c"]), ({"x": 2}, ["b"]), ({"x": 3}, ["d"]), ({"x": 4}, ["c", "d"])]

    assert [*of_largest_classes(rows, 2)] == [
        ({"x": 1}, ["b", "c"]),
        ({"x": 2}, ["b"]),
        ({"x": 4}, ["c"]),
    ]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataMissing) as ended:
        jane_austen(tmp_path)

    assert str(tmp_path) in str(ended.value)
    assert ended.value.code not in (0, None)
