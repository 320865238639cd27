import numpy as np
import pytest

from manyclass.training.rows import Rows
from studies.peers.tfidf import TfIdf


class Recorder:
    name = "recorder"

    def fit(self, rows):
        self.learned = rows

    def rank(self, rows, k):
        self.asked = rows
        return np.zeros((len(rows), k), np.int32)

    def bytes(self):
        return 100


@pytest.fixture
def rows():
    return Rows.of([({"a": 2.0, "b": 1.0}, ["x"]), ({"a": 1.0}, ["x"]), ({"c": 5.0}, ["y"])])


def test_values_are_weighted_by_how_few_training_rows_have_the_feature(rows):
    recorder = Recorder()
    peer = TfIdf(recorder)

    peer.fit(rows.take(np.array([0, 1])))
    peer.rank(rows, 1)

    everywhere, once, never = 1.0, np.log(3 / 2) + 1, np.log(3) + 1
    assert peer.name == "recorder+tfidf"
    assert recorder.learned.values.tolist() == pytest.approx([2 * everywhere, once, everywhere])
    assert recorder.asked.values.tolist()[3:] == pytest.approx([5 * never])
    assert rows.values.tolist() == [2, 1, 1, 5]


def test_a_feature_repeated_in_a_row_counts_once():
    recorder = Recorder()

    TfIdf(recorder).fit(Rows.of([(["a", "a", "b"], ["x"]), (["b"], ["x"])]))

    once = np.log(3 / 2) + 1
    assert recorder.learned.values.tolist() == pytest.approx([once, once, 1, 1])


def test_the_weights_are_part_of_the_model(rows):
    peer = TfIdf(Recorder())

    peer.fit(rows)

    assert peer.bytes() == 100 + 4 * 3
