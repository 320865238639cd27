"""Rebuilds of a real service, killed: a short version of load_tests/rebuilds.py."""

import pytest

from load_tests import rebuilds


@pytest.mark.slow
def test_killed_rebuilds_lose_nothing_and_leave_no_trace(tmp_path):
    assert "4 kills" in rebuilds.run(kills=4, seed=7, events=800, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [rebuilds.OnRedis, rebuilds.OnRedisWithoutArchive])
def test_so_do_those_of_three_processes_on_redis(tmp_path, kind):
    line = rebuilds.run(kills=4, seed=11, events=400, folder=tmp_path, kind=kind)
    assert "4 kills" in line
