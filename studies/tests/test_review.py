import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from studies import review
from studies.review import by_pool, by_stream, needed
from tests.evaluation.examples import separable


class Recorded:
    """Stands in for a learner: the confidence of a row is given, and what is learned is noted."""

    def __init__(self, confidences):
        self.given = np.array(confidences)
        self.learned = []

    @property
    def count(self):
        return len(self.learned)

    def learn(self, row):
        self.learned.append(row)

    def confidence(self, row):
        found = self.given[row]
        return None if found < 0 else found

    def confidences(self, rows):
        return self.given[rows]


def test_a_pool_is_labelled_from_the_least_certain_on():
    labelled = Recorded([0.9, 0.8, 0.7, -1, 0.1, 0.7])
    rounds = [labelled.count for _ in by_pool(labelled, 6, 2)]
    assert rounds == [2, 4, 6]
    assert labelled.learned == [0, 1, 3, 4, 2, 5]


def test_of_a_stream_the_uncertain_rows_are_labelled():
    labelled = Recorded([0.9, 0.8, 0.7, -1, 0.1, 0.7])
    rounds = [labelled.count for _ in by_stream(labelled, 6, 2, 0.75)]
    assert labelled.learned == [2, 3, 4, 5]
    assert rounds == [2, 4]


def test_the_rest_of_a_stream_counts_too():
    labelled = Recorded([-1.0] * 5)
    assert [labelled.count for _ in by_stream(labelled, 5, 2, 0.5)] == [2, 4, 5]


def test_random_order_ends_with_all_labels(monkeypatch):
    monkeypatch.setattr(review, "ROUNDS", 10)
    whole, *curve = needed(Dataset("made", separable(500)), "random", 1, 0)
    assert whole["share at the end"] == 1
    assert whole["R1 at the end"] == whole["R1 of all labels"]
    assert whole["reached"] == 1
    assert [each["labels learned"] for each in curve] == [*range(45, 451, 45)]
    near = next(each for each in curve if each["R1"] >= 0.95 * whole["R1 of all labels"])
    assert whole["share needed"] == near["labels learned"] / 450


@pytest.mark.parametrize("way", ["pool", "stream 0.9"])
def test_the_least_certain_rows_suffice(way):
    whole, *_ = needed(Dataset("made", separable(500)), way, 1, 0)
    assert whole["reached"] == 1
    assert whole["R1 at the end"] > 0.9
