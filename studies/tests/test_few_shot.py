import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies import few_shot
from studies.few_shot import FEW, POINTS, arriving, of_one_class, progressive, seen_before
from tests.evaluation.examples import separable


def test_only_the_first_class_of_an_instance_is_kept():
    rows = Rows.of([(["a"], ["x", "y"]), (["b"], ["y"]), (["c"], ["z", "x"])])

    single = of_one_class(rows)

    assert [single.classes[each] for each in single.class_indices] == ["x", "y", "z"]
    assert single.class_indptr.tolist() == [0, 1, 2, 3]
    assert single.indices.tolist() == rows.indices.tolist()


def test_classes_arrive_over_the_whole_stream_and_no_row_is_lost():
    rows = separable(2000, classes=100)

    stream = arriving(rows, 1)

    assert sorted(stream.class_indices) == sorted(rows.class_indices)
    first = np.flatnonzero(seen_before(stream) == 0) / len(stream)
    assert len(first) == 100
    assert (first < 0.25).sum() > 20
    assert ((first > 0.25) & (first < 0.5)).sum() > 10
    assert first.max() > 0.65
    assert arriving(rows, 1).class_indices.tolist() == stream.class_indices.tolist()
    assert arriving(rows, 2).class_indices.tolist() != stream.class_indices.tolist()


def test_earlier_rows_of_a_class_are_counted():
    rows = Rows.of(([f"f{each}"], [each]) for each in "abacaab")

    assert seen_before(rows).tolist() == [0, 0, 1, 0, 2, 3, 1]


def test_progress_is_of_all_of_the_latest_and_of_rare_classes(monkeypatch):
    ranks = np.array([0] * 50 + [1] * 40 + [2] * 10, np.int32)
    seen = np.array([0] * 50 + [FEW] * 40 + [FEW + 1] * 8 + [1] * 2)
    monkeypatch.setattr(few_shot, "seen_before", lambda rows: seen)
    monkeypatch.setattr(few_shot.LearnerEstimator, "learn", lambda self, rows: ranks)

    whole, *points = progressive(Dataset("made", separable(100)), "ff", 1, 0)

    assert whole["R1"] == pytest.approx(0.4)
    assert whole["its last tenth"] == 0
    assert whole[f"seen 1 to {FEW} times"] == pytest.approx(40 / 42)
    assert whole["first of their class"] == pytest.approx(0.5)
    assert [each["instances learned"] for each in points] == [*range(5, 101, 5)]
    assert [each["R1 of the latest"] for each in points] == [0] * 10 + [1] * 8 + [0] * 2
    assert points[14]["R1 so far"] == pytest.approx(25 / 75)


def test_a_memory_tree_sees_the_same_stream(monkeypatch):
    seen = []

    class Tree:
        def __init__(self, name, seed):
            self.seed = seed

        def stream(self, rows):
            seen.append((rows.class_indices.tolist(), self.seed))
            return np.ones(len(rows), np.int32)

    monkeypatch.setattr(few_shot, "MemoryTree", Tree)
    rows = separable(200)

    [whole, *points] = progressive(Dataset("made", rows), few_shot.MEMORY_TREE, 1, 7)

    assert seen == [(arriving(rows, 7).class_indices.tolist(), 7)]
    assert whole["R1"] == 1
    assert len(points) == POINTS
