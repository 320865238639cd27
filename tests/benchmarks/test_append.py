"""The benchmark of an append appends what it says, and compares what it measured."""

import json
import sys

import pytest

from benchmarks import append


@pytest.mark.parametrize(("load", "events"), [(0, 20), (1, 20), (2, 160)])
def test_each_load_appends_all_events(load, events):
    appended = []
    figures = list(append.LOADS.values())[load](appended.extend, 20)
    assert len(appended) == events
    assert set(figures) == {"median", "cpu", "rate"}
    assert figures["median"] > 0


def test_a_run_compares_the_store_with_a_bare_insert(tmp_path, monkeypatch, capsys):
    result = tmp_path / "result.json"
    words = f"append --rounds 1 --appends 5 --folder {tmp_path} --json {result}"
    monkeypatch.setattr(sys, "argv", words.split())
    append.main()
    tables = json.loads(result.read_text())
    assert set(tables) == set(append.LOADS)
    for rows in tables.values():
        store, bare, ratio = (row["CPU ms"] for row in rows)
        assert ratio == pytest.approx(store / bare)
    assert "ratio" in capsys.readouterr().out
