"""A test of the ratios between the services of two checkouts."""

import json
import os
import sys

import pytest

from benchmarks import serving_pairs
from benchmarks.process import CHECKOUT


@pytest.fixture(autouse=True)
def own_cores():
    """Give the cores back that the benchmark takes."""
    cores = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cores)


def test_two_services_are_loaded_in_turns(monkeypatch, tmp_path):
    monkeypatch.setattr(serving_pairs, "TAUGHT", 100)
    monkeypatch.setattr(serving_pairs, "BODIES", 100)
    result = tmp_path / "result.json"
    arguments = ["--pairs", "6", "--seconds", "0.05", "--json", str(result), str(CHECKOUT)]
    monkeypatch.setattr(sys, "argv", ["serving_pairs", *arguments])
    serving_pairs.main()
    [(title, rows)] = json.loads(result.read_text()).items()
    assert title == f"CPU time beside {CHECKOUT}, svm, 1 workers"
    assert [row["requests"] for row in rows] == [*serving_pairs.kinds()]
    assert all(row["from"] <= row["ratio"] <= row["to"] for row in rows)
    assert all(row["CPU µs/request"] > 0 for row in rows)


def test_fewer_pairs_than_show_an_interval_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["serving_pairs", "--pairs", "5", str(CHECKOUT)])
    with pytest.raises(SystemExit):
        serving_pairs.main()
    assert "must be 6 or more" in capsys.readouterr().err
