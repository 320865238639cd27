import numpy as np

from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies import drift
from studies.drift import TENTHS, drifting, progressive


def made(count):
    random = np.random.default_rng(0)
    return Rows.of(
        (
            [f"f{number}" for number in sorted(set(random.integers(0, 50, 5).tolist()))],
            [f"c{random.integers(20)}"],
        )
        for _ in range(count)
    )


def test_drift_changes_meanings_in_the_second_half_only():
    rows = made(400)
    still, moved = drifting(rows, 1, 0.0), drifting(rows, 1, 0.5)
    middle = still.indptr[200]

    assert np.array_equal(still.indices[:middle], moved.indices[:middle])
    assert np.array_equal(still.class_indices, moved.class_indices)
    meanings = dict(zip(still.indices[middle:], moved.indices[middle:], strict=True))
    pairs = zip(still.indices[middle:], moved.indices[middle:], strict=True)
    assert all(meanings[a] == b for a, b in pairs)
    assert len(set(meanings.values())) == len(meanings)  # exchanged, none merged
    assert 0 < sum(a != b for a, b in meanings.items()) < len(meanings)


def test_drift_keeps_every_row_and_lets_classes_arrive():
    rows = made(400)
    stream = drifting(rows, 1, 0.0)

    assert sorted(stream.class_indices) == sorted(rows.class_indices)
    first = {label: at for at, label in reversed(list(enumerate(stream.class_indices)))}
    assert sum(at > 100 for at in first.values()) >= 3  # shuffled, all would be there by then


def test_a_learner_is_measured_on_a_steady_and_a_drifting_stream(monkeypatch):
    data = Dataset("made", Rows.of(([f"f{at % 4}"], [f"c{at % 4}"]) for at in range(400)))
    still, changed = [], []
    for share, found in ((0.0, still), (1.0, changed)):
        monkeypatch.setattr(drift, "CHANGED", share)
        found += progressive(data, "ff", 1, 0)

    assert still[0]["steady"] > 0.95
    assert still[0]["its 2nd half"] > 0.95
    assert changed[0]["its 2nd half"] < still[0]["its 2nd half"]
    assert [each["tenth"] for each in changed[1:]] == [*range(1, TENTHS + 1)]
    assert changed[1:6] == still[1:6]
