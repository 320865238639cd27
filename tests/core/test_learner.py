"""The learner beyond its references: limits that move, columns, errors, and reads amid changes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.errors import InstanceError, SnapshotError
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

EVERY = np.arange(4, dtype=np.int64)
ONES = np.ones(3, np.float32)
UP = np.arange(3, dtype=np.int32)
DOWN = UP[::-1].copy()


def test_names_may_be_features_and_classes_at_once():
    learner = Learner(Options(normalize="none", rating=0))
    words, same_words = Columns(["p", "q", "r"]), Columns(["p", "q", "r"])
    learner.learn_csr(words, EVERY, UP, ONES, same_words, EVERY, DOWN)
    learner.learn_csr(same_words, EVERY, DOWN, ONES, words, EVERY, UP)
    for feature, cls in zip("pqr", "rqp", strict=True):
        assert learner.feature(feature)["edges"] == [(cls, 1.0)]


def test_columns_have_proper_names_of_their_own():
    with pytest.raises(InstanceError, match="two columns"):
        Columns(["a", "b", "a"])
    for name in ("", "x" * 5000, "\ud800"):
        with pytest.raises(InstanceError):
            Columns([name])


@pytest.mark.parametrize(
    ("indptr", "indices", "values", "match"),
    [
        ([0, 1, 2], [0, 1, 2], [1, 1, 1], "indptr"),
        ([1, 2, 3], [0, 1, 2], [1, 1, 1], "indptr"),
        ([0, 2, 1, 3], [0, 1, 2], [1, 1, 1], "decrease"),
        ([0, 3], [0, 1, 2], [1, 1], "same length"),
        ([0, 3], [0, 1, 3], [1, 1, 1], "numbers of columns"),
        ([0, 3], [0, 1, -1], [1, 1, 1], "numbers of columns"),
        ([0, 3], [0, 1, 0], [1, 1, 1], "repeated"),
        ([0, 3], [0, 1, 2], [1, 1, np.nan], "finite"),
        ([0, 3], [0, 1, 2], [1, 1, np.inf], "finite"),
        ([], [], [], "indptr"),
    ],
)
def test_arrays_that_are_no_rows_change_nothing(indptr, indices, values, match):
    learner, features, classes = Learner(Options()), Columns(["p", "q", "r"]), Columns(["c"])
    rows = np.array(indptr, np.int64), np.array(indices, np.int32), np.array(values, np.float32)
    with pytest.raises(ValueError, match=match):
        learner.rank_csr(features, *rows)
    count = max(len(indptr) - 1, 0)
    true = np.arange(count + 1), np.zeros(count, np.int32)
    with pytest.raises(ValueError, match=match):
        learner.learn_csr(features, *rows, classes, *true)
    assert (learner.learned, learner.features) == (0, 0)


def test_tfidf_counts_an_instance_once_however_many_passes():
    learner = Learner(Options(tfidf=True, normalize="none", rating=0, margin_threshold=-1e9))
    features, classes = Columns(["always", "q"]), Columns(["c"])
    rows = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.ones(2, np.float32)
    true = np.array([0, 1, 2]), np.zeros(2, np.int32)
    learner.configure(Options(tfidf=True, normalize="none", rating=0, margin_threshold=1e9))
    for epoch in range(3):
        learner.learn_csr(features, *rows, classes, *true, epoch)
        # in every instance so far: log(1) = 0 is added to its value of 1
        assert learner.rank(["always"]) == [("c", 1.0)]
    assert learner.learned == 6


def test_a_limit_that_was_lowered_is_kept_from_the_next_name_on():
    learner = Learner(Options())
    for n in range(500):
        learner.learn([f"f{n}"], [f"c{n}"])
    learner.configure(Options(max_features=100, max_classes=50))
    learner.learn(["new"], ["newer"])
    assert (learner.features, learner.classes) == (100, 50)
    assert (learner.evicted_features, learner.evicted_classes) == (401, 451)
    assert learner.has_feature("new")
    assert learner.has_class("newer")
    assert not any(learner.has_feature(f"f{n}") for n in range(20))


def test_a_flood_of_classes_does_not_drive_out_the_features():
    limit = 2**20
    learner = Learner(Options(max_bytes=limit))
    for n in range(2000):
        learner.learn([f"f{n}"], ["c"])
    for n in range(600):
        learner.learn(["f1"], [f"{n}" + "x" * 4000])
        assert learner.bytes <= limit
    assert learner.evicted_classes > 0
    assert learner.features == 2000


def test_a_class_is_read_while_others_learn_and_forget():
    learner = Learner(Options())
    for n in range(40_000):  # more than one block of rows
        learner.learn([f"f{n}"], ["c" if n % 2 else "d"])

    def change():
        for n in range(0, 2_000):
            learner.forget_feature(f"f{n}")
            learner.learn([f"g{n}"], ["d"])

    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        while not changing.done():
            found = learner.class_("c", limit=50_000)
            assert all(weight == 1.0 for _, weight in found["features"])
            assert not any(feature.startswith("g") for feature, _ in found["features"])
        changing.result()
    assert len(learner.class_("c", limit=50_000)["features"]) == 19_000


def test_births_in_a_dump_are_all_different():
    learner = Learner(Options())
    learner.learn(["a"], ["x", "y"])
    sections = learner.dump()
    sections["class_born"] = sections["class_born"] * 0
    with pytest.raises(SnapshotError, match="born at once"):
        Learner.load(Options(), sections)
    sections["class_born"] = np.array([0, 9], np.uint64)
    with pytest.raises(SnapshotError, match="born at once"):
        Learner.load(Options(), sections)


def test_no_row_of_a_dump_has_weights_above_1():
    learner = Learner(Options())
    learner.learn(["a"], ["x"])
    sections = learner.dump()
    sections["feature_mass"] = sections["feature_mass"] / 2
    with pytest.raises(SnapshotError, match="more mass"):
        Learner.load(Options(), sections)
