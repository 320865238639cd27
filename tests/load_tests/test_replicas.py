import json

import pytest

from tests.load_tests.commands import run_module

pytestmark = pytest.mark.slow

BRIEF = [
    *("--minutes", "0.1", "--kill-seconds", "2", "--redis-seconds", "3", "--fault-seconds", "1"),
    *("--compare-seconds", "1"),
]


def run_briefly(result, *options):
    folders = ("--folder", result.parent, "--result", result)
    return run_module("replicas", *BRIEF, *folders, *options)


def test_a_run_that_keeps_every_promise_says_so(tmp_path):
    result = tmp_path / "replicas.json"
    ended = run_briefly(result, "--margin", "30")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "verdict: every promise was kept" in ended.stdout
    recorded = json.loads(result.read_text())
    assert recorded["verdict"] == "kept"
    assert recorded["broken"] == []
    assert recorded["done"]["kill"] > 0
    assert recorded["done"]["kill redis"] > 0
    assert recorded["events acknowledged"] > 0
    assert recorded["seqs compared"] > 0
    assert [*tmp_path.iterdir()] == [result]


def test_a_broken_promise_fails_the_run(tmp_path):
    result = tmp_path / "replicas.json"
    ended = run_briefly(result, "--margin", "-30")  # every request takes longer than allowed
    assert ended.returncode == 1, ended.stderr
    assert "promises were broken" in ended.stdout
    recorded = json.loads(result.read_text())
    assert recorded["verdict"] == "broken"
    assert "the limit is" in recorded["broken"][0]
    assert [*tmp_path.glob("*/process-0/log")]  # kept for diagnosis
