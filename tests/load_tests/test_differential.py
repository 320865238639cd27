import re

from load_tests import differential
from load_tests.hostile_requests import Requests
from tests.load_tests.commands import run_module


def test_both_ways_give_equal_answers():
    result = run_module("differential", "--requests", "400", "--slow", "2")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "verdict: equal" in result.stdout
    assert re.search(r"^100 %: 4\d\d requests, .* 0 differences", result.stdout, re.M)


def test_equal_seeds_draw_equal_requests():
    first, second = Requests(3), Requests(3)
    assert [first.draw() for _ in range(200)] == [second.draw() for _ in range(200)]


def test_a_difference_is_found(capsys):
    native = differential.NATIVE | {"max_features_per_instance": 2}  # so that it refuses more
    outcome = differential.compare_ways(100, 1, native=native)
    kinds = {kind for kind, *_ in outcome.differences}
    assert "digests" in kinds
    assert "plain rank" in kinds
    assert "DIFFERENCE plain rank, from character" in capsys.readouterr().out
