import numpy as np

from benchmarks.drift import MEMORIES, drifting, recommend
from training.rows import Rows


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


def test_the_largest_memory_that_is_about_as_good_is_recommended():
    def found(second_half, steady):
        return {
            (0.0, memory): [steady.get(memory, 0.5), 0.5, second_half.get(memory, 0.5)]
            for memory in MEMORIES
        }

    assert recommend([found({}, {})], 0.0) == 0
    assert recommend([found({30: 0.6, 100: 0.5999}, {})], 0.0) == 100
    assert recommend([found({30: 0.6, 100: 0.55}, {})], 0.0) == 30
    assert recommend([found({30: 0.6, 100: 0.55}, {30: 0.4})], 0.0) == 100
