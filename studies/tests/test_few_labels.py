import gzip
import json

import numpy as np
import pytest

from manyclass.core.instance import Instance
from manyclass.evaluation.readers import DataMissing
from studies import embedded, few_labels
from studies.embedded import NUMBERS, PROJECTED, held_out, read
from studies.few_labels import (
    ERASE,
    LATE,
    SYSTEMS,
    UNEVEN,
    UNEVEN_COUNTS,
    WIDE,
    System,
    auroc,
    first_rows,
    measured,
    names_of,
    widened,
)
from studies.peers.dense import DENSE

CLASSES = [f"{kind}_{thing}" for kind in ("book", "cancel") for thing in ("table", "trip", "taxi")]
SPLITS = {"test": 4, "oos_test": 5, "val": 3, "train": 24}  # test rows come first in the file
DIMENSION = 12


def direction(name):
    drawn = np.random.default_rng([*name.encode()]).normal(size=DIMENSION)
    return drawn / np.linalg.norm(drawn)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a small version of clinc and its vectors."""
    draw = np.random.default_rng(0)
    rows, vectors = [], []
    for split, count in SPLITS.items():
        for number in range(count):
            for name in CLASSES:
                is_outside = split == "oos_test"
                text = f"weather {number}" if is_outside else f"{name.replace('_', ' ')} {number}"
                rows.append({"split": split, "classes": [] if is_outside else [name], "text": text})
                spread = draw.normal(size=DIMENSION)
                vectors.append(spread if is_outside else direction(name) + 0.1 * spread)
    lines = "\n".join(map(json.dumps, rows)).encode()
    (tmp_path / "clinc150.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "vectors").mkdir()
    numbers = np.round(4096 * np.array([each / np.linalg.norm(each) for each in vectors])).astype(
        np.int16
    )
    splits = np.array([row["split"] for row in rows])
    used, outside = np.isin(splits, ["train", "test"]), np.isin(splits, ["oos_test", "val"])
    for name, kept in (
        ("minilm", used),
        ("static64", splits != "oos_test"),
        ("oos.minilm", outside),
    ):
        np.savez(tmp_path / "vectors" / f"clinc150.{name}.npz", vectors=numbers[kept])
    titles = np.array([4096 * direction(name) for name in CLASSES]).astype(np.int16)
    np.savez(tmp_path / "vectors" / "clinc150.names.minilm.npz", vectors=titles, names=CLASSES)
    return tmp_path


@pytest.fixture
def data(folder):
    return read("clinc", folder)


def test_vectors_are_those_of_their_rows(data):
    assert data.published == 24 * len(CLASSES)
    assert len(data.rows) == 28 * len(CLASSES)
    for model in ("minilm", "static64"):
        for row in range(len(data.rows)):
            nearest = max(CLASSES, key=lambda name: direction(name) @ data.vectors[model][row])
            assert [nearest] == names_of(data, row)
    assert len(data.outside) == len(data.of_outside["minilm"]) == 5 * len(CLASSES)
    assert dict(data.outside[0].items())["weather"] == 1


def test_without_a_file_of_vectors_the_study_says_which(folder):
    (folder / "vectors" / "clinc150.static64.npz").unlink()
    with pytest.raises(DataMissing, match="static64"):
        read("clinc", folder)


def test_vectors_of_other_rows_are_refused(folder):
    path = folder / "vectors" / "clinc150.minilm.npz"
    with np.load(path) as found:
        np.savez(path, vectors=found["vectors"][1:])
    with pytest.raises(ValueError, match="has vectors of 167 rows, and there are 168"):
        read("clinc", folder)


def test_held_out_rows_are_training_rows_with_their_vectors(data):
    part = held_out(data)
    assert (len(part.rows), part.published) == (144, 96)
    for row in range(len(part.rows)):
        nearest = max(CLASSES, key=lambda name: direction(name) @ part.vectors["minilm"][row])
        assert [nearest] == names_of(part, row)


def test_the_first_rows_have_each_class_so_often(data):
    for labels, count in (("0", 0), ("2", 2), ("all", 24)):
        rows = first_rows(data, labels, 1)
        counts = np.bincount(data.rows.class_indices[rows], minlength=len(CLASSES))
        assert counts.tolist() == [count] * len(CLASSES)
        assert (rows < data.published).all()
    uneven = np.bincount(data.rows.class_indices[first_rows(data, UNEVEN, 1)])
    assert len(set(uneven)) > 1
    assert {*uneven} <= {*UNEVEN_COUNTS}
    assert first_rows(data, "2", 1).tolist() != first_rows(data, "2", 2).tolist()


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_rank_by_their_parts(data, name):
    found = {each["labels"]: each for each in measured(data, name, 1, 0)}
    system = SYSTEMS[name]
    assert [*found] == [*system.labels]
    if "0" in found:
        assert (found["0"]["R1"] > 0.9) == system.titles
    assert found["all"]["R1"] > 0.9
    assert found["all"]["rank µs"] > 0
    if name == "words + minilm":
        assert found["all"]["AUROC of the first score"] > 0.8


def test_permuted_vectors_are_those_of_other_rows(data):
    rows = np.arange(40)
    plain, mixed = (
        System(vectors="minilm", permuted=permuted).instances(data, rows)
        for permuted in (False, True)
    )
    assert [each.with_vector(None) for each in mixed] == [each.with_vector(None) for each in plain]
    assert sum(one == other for one, other in zip(plain, mixed, strict=True)) < 10
    assert sorted(bytes(each.vector) for each in mixed) == sorted(
        bytes(each.vector) for each in plain
    )


@pytest.mark.parametrize("peer", DENSE)
def test_peers_learn_the_same_vectors(data, peer):
    found = {each["labels"]: each for each in measured(data, f"{peer}, minilm", 1, 0)}
    assert found["all"]["R1"] > 0.9
    assert found["all"]["bytes"] >= 4 * DIMENSION * len(CLASSES)
    assert found["all"]["AUROC of the first score"] > 0.6


def test_what_is_taken_back_was_never_learned(data):
    [record] = measured(data, ERASE, 1, 0)
    assert record["equal in two orders"] == record["equal to never learned"] == 1


def test_titles_rank_the_first_instances_of_late_classes(data, monkeypatch):
    monkeypatch.setattr(few_labels, "LATE_AFTER", 60)
    monkeypatch.setattr(few_labels, "LATE_CLASSES", 2)
    found = {name: next(measured(data, late, 1, 0)) for late, name in LATE.items()}
    assert found["words"]["first instance"] == found["words + minilm"]["first instance"] == 0
    assert found["all"]["first instance"] == 1


def test_wider_vectors_have_1024_numbers(data):
    assert widened(data).vectors[WIDE].shape == (len(data.rows), 1024)


def test_auroc_is_the_share_of_pairs_in_order():
    assert auroc(np.array([2.0, 3.0]), np.array([1.0, 2.0])) == (1 + 0.5 + 1 + 1) / 4


def test_reuters_has_projected_words_as_vectors(tmp_path):
    rows = [
        {"split": split, "classes": [name, name, "any"], "text": f"{name} prices {number}"}
        for split in ("train", "test")
        for number in range(8)
        for name in ("wheat", "gold")
    ]
    lines = "\n".join(map(json.dumps, rows)).encode()
    (tmp_path / "reuters21578.jsonl.gz").write_bytes(gzip.compress(lines))
    data = read("reuters", tmp_path)
    assert data.vectors[PROJECTED].shape == (32, NUMBERS)
    assert names_of(data, 0) == ["wheat", "any"]
    [instance] = embedded.with_vectors([Instance({})], data.vectors[PROJECTED][:1])
    assert instance.dimension == NUMBERS
    [*found] = measured(data, f"words + {PROJECTED}", 1, 0)
    assert found[-1]["R1"] == 1
