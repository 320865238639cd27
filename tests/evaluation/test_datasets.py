import gzip
import json

import numpy as np
import pytest

from manyclass.evaluation import datasets as sets
from manyclass.evaluation.datasets import (
    DATASETS,
    Dataset,
    SplitError,
    UnknownDataset,
    joined,
    read,
)
from manyclass.training.lines import FileFault
from manyclass.training.rows import Rows
from tests.evaluation.examples import data_set


def write_lines(path, rows):
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


# --- splits ---------------------------------------------------------------------------------------


def test_a_random_split_depends_on_its_seed_alone():
    data = data_set(80)

    training, test = data.split(1)
    again, _ = data.split(1)
    other, _ = data.split(2)

    assert (len(training), len(test)) == (60, 20)
    assert [*training] == [*again]
    assert [*training] != [*other]


def test_without_shuffling_the_first_rows_are_for_training():
    data = data_set(80)

    training, test = data.split(5, shuffle=False)

    assert [*training, *test] == [*data.rows]
    assert [*data.stream(5, shuffle=False)] == [*data.rows]


def test_a_published_split_is_kept_and_only_the_order_of_training_changes():
    data = data_set(80, published=50)

    training, test = data.split(1)
    other, same = data.split(2)

    assert [*test] == [*same] == [*data.rows][50:]
    assert [*training] != [*other]
    key = str
    assert sorted(training, key=key) == sorted([*data.rows][:50], key=key)
    assert [*data.split(1, shuffle=False)[0]] == [*data.rows][:50]


@pytest.mark.parametrize("given", [{"published": 0}, {"published": 80}])
def test_a_split_with_nothing_on_one_side_is_refused(given):
    with pytest.raises(SplitError, match="easy"):
        data_set(80, **given).split(0)


def test_other_splits_and_rows_without_classes_are_left_out():
    parts = [
        ("test", {"a": 1.0}, ["x"]),
        ("dev", {"b": 1.0}, ["y"]),
        ("train", {"c": 2.0}, ["z"]),
        ("train", {"d": 1.0}, []),
        ("oos_train", {"e": 1.0}, ["oos"]),
    ]

    data = Dataset.of_parts("given", parts)

    assert data.published == 1
    assert [*data.rows] == [({"c": 2.0}, ["z"]), ({"a": 1.0}, ["x"])]
    assert data.rows.features == ["c", "a"]


def test_rows_read_apart_are_joined_by_their_names():
    first = Rows.of([({"a": 1.0, "b": 2.0}, ["x"]), ({"b": 3.0}, ["y"])])
    second = Rows.of([({"b": 4.0, "c": 5.0}, ["y", "z"]), ({}, ["x"])])

    both = joined(first, second)

    assert [*both] == [*first, *second]
    assert both.features == ["a", "b", "c"]
    assert both.classes == ["x", "y", "z"]
    assert both.indices.dtype == np.int32
    assert both.indptr.dtype == np.int64
    data = Dataset.of_rows("own", first, second)
    assert [*data.split(0, shuffle=False)[1]] == [*second]


# --- the named sets -------------------------------------------------------------------------------


def test_an_unknown_name_is_answered_with_those_there_are(tmp_path):
    with pytest.raises(UnknownDataset, match="newsgroups-bydate"):
        read("news", tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_missing_data_ends_the_command_and_says_what_is_missing(tmp_path, name):
    with pytest.raises(SystemExit) as ended:
        read(name, tmp_path)

    assert str(tmp_path) in str(ended.value)
    assert "BENCHMARK_DATA" in str(ended.value)


def test_every_set_says_what_it_is():
    assert all(reader.__doc__ for reader in DATASETS.values())


def test_newsgroups_are_split_at_random_or_by_date(tmp_path):
    write_lines(
        tmp_path / "newsgroups.jsonl.gz",
        [
            {"split": "train", "classes": ["autos"], "text": "From: x\nSubject: cars\n\ncars go"},
            {"split": "test", "classes": ["med"], "text": "Subject: pills\n\nx pills"},
        ],
    )

    at_random, by_date = read("newsgroups", tmp_path), read("newsgroups-bydate", tmp_path)

    expected = [({"cars": 2, "go": 1}, ["autos"]), ({"pills": 2}, ["med"])]
    assert [*at_random.rows] == [*by_date.rows] == expected
    assert (at_random.published, at_random.share) == (None, 0.8)
    assert by_date.published == 1


def test_reuters_has_one_of_the_largest_topics_for_each_document(tmp_path, monkeypatch):
    rows = [(["earn"], "a profit")] * 3 + [(["acq", "earn"], "bids")] * 2 + [(["oat"], "oats")]
    write_lines(
        tmp_path / "reuters21578.jsonl.gz",
        [{"split": "train", "classes": names, "text": text} for names, text in rows],
    )
    monkeypatch.setattr(
        sets.readers,
        "of_largest_classes",
        lambda labelled, most, original=sets.readers.of_largest_classes: original(labelled, 2),
    )

    data = read("reuters10", tmp_path)

    assert [classes for _, classes in data.rows] == [["earn"]] * 3 + [["acq"]] * 2
    assert data.published is None


def test_a_class_named_twice_counts_once(tmp_path):
    row = {"split": "train", "classes": ["grain", "oat", "grain"], "text": "oats"}
    write_lines(tmp_path / "reuters21578.jsonl.gz", [row, {**row, "split": "test"}])

    data = read("reuters", tmp_path)

    assert [classes for _, classes in data.rows] == [["grain", "oat"]] * 2
    assert data.published == 1


def test_short_texts_have_the_services_features(tmp_path):
    rows = [
        {"split": "oos_val", "classes": ["oos"], "text": "what?"},
        {"split": "train", "classes": ["card"], "text": "My card, my card"},
        {"split": "val", "classes": ["card"], "text": "cards"},
        {"split": "test", "classes": ["pin"], "text": "pin"},
    ]
    for name in ("clinc150", "banking77", "yso_finna_en"):
        write_lines(tmp_path / f"{name}.jsonl.gz", rows)

    for name in ("clinc", "banking", "yso"):
        data = read(name, tmp_path)
        assert [*data.rows] == [
            ({"my": 2, "card": 2, "my card": 2, "card my": 1}, ["card"]),
            ({"pin": 1}, ["pin"]),
        ]
        assert data.published == 1


def test_tenders_have_a_tree_of_codes(tmp_path):
    rows = [
        {"split": part, "classes": [code], "text": "lavori"}
        for part, code in (("train", "45233140-2"), ("test", "45000000-7"))
    ]
    write_lines(tmp_path / "cpv_it.jsonl.gz", rows)
    codes = {code: {"cpv": code} for code in ("45000000-7", "45233000-9")}
    (tmp_path / "cpv_it.taxonomy.json").write_text(json.dumps(codes))

    data = read("cpv", tmp_path)

    assert data.taxonomy.distance("45233140-2", "45000000-7") == 2


def test_laws_have_a_thesaurus_of_concepts(tmp_path):
    rows = [
        {"split": part, "classes": ["1", "2"], "text": "fish in Fish"} for part in ("train", "test")
    ]
    write_lines(tmp_path / "eurlex57k.jsonl.gz", rows)
    concepts = {"1": {"parents": ["3"]}, "2": {"parents": ["3"]}, "3": {"parents": []}}
    (tmp_path / "eurlex57k.taxonomy.json").write_text(json.dumps(concepts))

    data = read("eurlex", tmp_path)

    assert next(iter(data.rows)) == ({"fish": 2, "in": 1}, ["1", "2"])
    assert data.taxonomy.siblings("1", "2")


def test_sets_of_the_xmc_repository(tmp_path):
    for name in ("bibtex", "delicious"):
        for part, line in (("train", "0,2 1:0.5 3:2"), ("test", "1 0:1")):
            text = f"2 4 3\n{line}\n 2:1\n"
            (tmp_path / f"{name}_{part}.xmc.gz").write_bytes(gzip.compress(text.encode()))

    for name in ("bibtex", "delicious"):
        data = read(name, tmp_path)
        assert [*data.rows] == [({"1": 0.5, "3": 2.0}, ["0", "2"]), ({"0": 1.0}, ["1"])]
        assert data.published == 1


def test_satellite_images_are_numbers_with_the_class_last(tmp_path):
    (tmp_path / "satimage").mkdir()
    (tmp_path / "satimage" / "sat.trn").write_text("92 115 3\n84\t102 4\n")
    (tmp_path / "satimage" / "sat.tst").write_text("1 2 3\n")

    data = read("satimage", tmp_path)

    assert next(iter(data.rows)) == ({"band 0": 92.0, "band 1": 115.0}, ["3"])
    assert data.published == 2


def test_words_are_those_of_novels(tmp_path):
    (tmp_path / "jane_austen").mkdir()
    for name in ("one", "two"):
        text = f"She was {name}. He was not."
        (tmp_path / "jane_austen" / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))

    data = read("words", tmp_path)

    assert len(data.rows) == 2 * 6
    assert data.share == 0.9


@pytest.mark.parametrize(
    "stored",
    [
        b"no gzip",
        gzip.compress(b'{"split": "train"')[:-9],
        gzip.compress(b'{"split": "train"'),
        gzip.compress(b'{"split": "train"}'),
        gzip.compress(b"\xff"),
    ],
    ids=["no gzip", "cut short", "half a line", "no text", "not UTF-8"],
)
def test_damaged_files_are_a_fault_of_the_set(tmp_path, stored):
    (tmp_path / "clinc150.jsonl.gz").write_bytes(stored)
    with pytest.raises(FileFault, match=r"clinc: its files in .* are damaged: ."):
        read("clinc", tmp_path)
