import re

import pytest

from tests.load_tests.commands import run_module

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
