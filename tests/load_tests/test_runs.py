"""Load tests run, and say what they found."""

import asyncio
import re
from argparse import Namespace

import pytest

from load_tests import differential
from load_tests.hostile_requests import Requests
from load_tests.stretches import bodies, measure, watched
from tests.load_tests.commands import run_module

# --- differential ---------------------------------------------------------------------------------


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


# --- run ------------------------------------------------------------------------------------------

USERS = ("--users", "2", "--seconds")


@pytest.mark.slow
def test_every_request_of_the_scenario_is_answered():
    result = run_module("run", *USERS, "8")  # a busy machine starts the users late
    assert result.returncode == 0, result.stderr
    assert re.search(r"^learned at once: [\d,]+ events, progressive R1 0\.\d", result.stdout, re.M)
    for name in ("/rank", "/learn", "/rank, for a late label", "/learn, a late label"):
        assert re.search(rf"^POST +{name} +\d+ +0\(0\.00%\)", result.stderr, re.M), result.stderr


def test_a_failed_request_fails_the_run():
    result = run_module("run", *USERS, "1", "--url", "http://127.0.0.1:9")
    assert result.returncode == 1


# --- stretches ------------------------------------------------------------------------------------

SMALL = 40_000


@pytest.mark.parametrize(
    ("name", "body"), [pytest.param(*each, id=each[0]) for each in bodies(SMALL, 100)]
)
def test_every_body_is_answered_and_measured(name, body):
    sent, empty = asyncio.run(measure(body, "ff", 2**21))
    assert sent.status in (200, 400, 413, 422)
    assert empty.status == 422
    assert sent.answer_bytes > 0
    assert 0 < sent.longest <= sent.total


def test_each_callback_is_measured():
    async def three_turns():
        for _ in range(3):
            await asyncio.sleep(0)

    async def counted():
        with watched() as stretches:
            await asyncio.ensure_future(three_turns())
        return stretches.callbacks

    assert asyncio.run(counted()) >= 4


def test_a_stretch_over_the_limit_fails_the_run():
    options = ("stretches", "--bytes", str(SMALL), "--only", "deep JSON")
    assert run_module(*options).returncode == 0
    result = run_module(*options, "--limit", "0")
    assert result.returncode == 1
    assert "longer than 0 ms: /rank deep JSON, /learn deep JSON" in result.stderr
