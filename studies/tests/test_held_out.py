import numpy as np
import pytest

from manyclass.core.errors import OptionError
from studies import held_out as module
from studies.held_out import ESTIMATORS, held_out
from tests.evaluation.examples import Always, data_set


def test_a_learner_has_a_record_for_each_pass():
    records = [*held_out(data_set(), "pa", 2, 0)]

    assert [each["pass"] for each in records] == [1, 2]
    assert records[1]["R1"] == records[1]["training R1"] == 1
    assert {"HR", "P5", "T_train s", "d", "|W|", "bytes", "ranks/s"} <= records[0].keys()


def test_a_peer_has_one_record_without_edges(monkeypatch):
    monkeypatch.setitem(ESTIMATORS, "always", Always)

    [record] = held_out(data_set(), "always", 5, 0)

    assert record["R5"] == 1
    assert "|W|" not in record


def test_an_infinite_rank_is_left_out(monkeypatch):
    class Silent(Always):
        def rank(self, rows, k):
            return super().rank(rows, k) * 0 - 1

    monkeypatch.setitem(ESTIMATORS, "silent", Silent)

    [record] = held_out(data_set(), "silent", 1, 0)

    assert record["MRR"] == 0
    assert "HR" not in record


def test_accuracy_falls_with_the_share_of_edges_that_is_kept():
    [whole], [sparse] = (held_out(data_set(), f"pa keep={share}", 2, 0) for share in (1, 0.02))

    assert whole["R1"] == 1
    assert sparse["R1"] < 1
    assert sparse["bytes"] < whole["bytes"]


def test_a_committee_has_no_edges_to_drop():
    with pytest.raises(OptionError, match="cannot drop edges"):
        [*held_out(data_set(), "committee(members=ff+pa) keep=0.5", 1, 0)]


def test_rare_classes_are_repeated_in_the_training_rows_only(monkeypatch):
    seen = []
    run = module.train_and_test

    def noted(options, training, test, *rest):
        seen.append((int(np.bincount(training.class_indices).min()), len(test)))
        return run(options, training, test, *rest)

    monkeypatch.setattr(module, "train_and_test", noted)
    for name in ("pa", "pa oversample=30"):
        [*held_out(data_set(), name, 1, 0)]

    (few, tested), (many, also_tested) = seen
    assert few < 30 <= many
    assert tested == also_tested == 20
