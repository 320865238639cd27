import re
from argparse import Namespace

import pytest

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


STRICTER = differential.NATIVE | {"max_features_per_instance": 16}  # so that it refuses more


def test_a_difference_is_found(capsys):
    outcome = differential.compare_ways(100, 1, native=STRICTER)
    kinds = {kind for kind, *_ in outcome.differences}
    assert "digests" in kinds
    assert "plain rank" in kinds
    first = f"DIFFERENCE {outcome.differences[0][0]}, request {outcome.sent_until_first}, from"
    assert first in capsys.readouterr().out
    assert 0 < outcome.sent_until_first < outcome.sent


@pytest.mark.slow
def test_its_seed_and_number_of_requests_repeat_the_first_difference():
    outcome = differential.compare_ways(100, 1, native=STRICTER)
    again = differential.compare_ways(outcome.sent_until_first, 1, native=STRICTER)
    assert again.sent == outcome.sent_until_first
    assert again.differences[0][:2] == outcome.differences[0][:2]  # kind and request


def test_a_run_with_a_difference_names_the_command_that_repeats_it():
    chosen = Namespace(seed=7, slow=2, open=True)
    outcome = differential.Outcome(sent_until_first=31)
    assert differential.repetition(outcome, chosen) == (
        "python -m load_tests.differential --seed 7 --requests 31 --slow 2 --open"
    )
    chosen = Namespace(seed=7, slow=differential.SLOW_CLIENTS, open=False)
    assert differential.repetition(outcome, chosen).endswith("--seed 7 --requests 31")
