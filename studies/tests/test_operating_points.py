"""The promises of operating points: limits of the first half, measured in the second."""

import random

import pytest

from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies.operating_points import promises


def stream(events, told):
    """Return a data set whose feature tells the class with this probability, else another."""
    chance = random.Random(3)
    rows = []
    for _ in range(events):
        label = chance.randrange(4)
        is_sure = chance.random() < 0.5
        shown = label if is_sure or chance.random() < told else chance.randrange(4)
        rows.append(({f"{'sure' if is_sure else 'unsure'} {shown}": 1.0}, [f"c{label}"]))
    return Dataset("made", Rows.of(rows))


def test_sure_instances_reach_a_target_that_others_cannot():
    found = {each["target"]: each for each in promises(stream(6_000, 0.3), "svm", 1, 0)}
    assert [each["reached"] for each in found.values()] == [1, 1, 1, 1]
    for target in ("95%", "99%"):
        each = found[target]
        assert each["answered"] == pytest.approx(0.5, abs=0.1)
        assert each["right of these"] > 0.97
        assert each["kept"] == 1
    assert found["80%"]["answered"] >= found["99%"]["answered"]


def test_a_target_out_of_reach_has_no_limit():
    chance = random.Random(1)
    rows = Rows.of([({f"f{n % 5}": 1.0}, [f"c{chance.randrange(3)}"]) for n in range(2_000)])
    for each in promises(Dataset("made", rows), "svm", 1, 0):
        assert each == {"target": each["target"], "reached": 0.0}
