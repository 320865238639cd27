import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from studies import noise
from studies.noise import by_cleanlab, by_report, by_suspects, reviewed, with_errors
from tests.evaluation.examples import separable


@pytest.fixture
def rows():
    return separable(600)


def test_a_tenth_of_the_labels_is_wrong(rows):
    noisy, wrong = with_errors(rows, 1)
    assert len(wrong) == 60
    differ = np.flatnonzero(noisy.class_indices != rows.class_indices)
    assert differ.tolist() == wrong.tolist()
    assert noisy.class_indices.max() < len(rows.classes)
    assert with_errors(rows, 2)[1].tolist() != wrong.tolist()


def test_every_way_finds_errors_among_separable_rows(rows):
    noisy, wrong = with_errors(rows, 1)
    ways = {"report": by_report(noisy, 0), "suspects": by_suspects(noisy)}
    for way, order in (ways | by_cleanlab(noisy, 0)).items():
        assert sorted(order) == [*range(600)], way
        assert np.isin(order[:60], wrong).mean() > 0.9, way


def test_the_errors_found_are_corrected(rows, monkeypatch):
    data = Dataset("made", rows)
    noisy, wrong = with_errors(data.split(0)[0], 0)
    others = np.setdiff1d(np.arange(len(noisy)), wrong)
    for found, of_all in ((wrong, 1), (others, 0)):
        order = np.concatenate([found, np.setdiff1d(np.arange(len(noisy)), found)])
        monkeypatch.setattr(noise, "by_report", lambda rows, seed, order=order: order)
        [record] = reviewed(data, "report", 1, 0)
        assert record["first n"] == of_all
        same = "R1 without errors" if of_all else "R1 uncorrected"
        assert record["R1"] == record[same]
