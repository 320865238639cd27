import subprocess
import sys

import pytest

from manyclass.evaluation import cost

SPIN = "import time\nwhile time.process_time() < 0.2: pass"


def test_work_gives_its_result_and_its_seconds():
    result, seconds = cost.timed(lambda: sum(range(300_000)))

    assert result == sum(range(300_000))
    assert seconds > 0


def test_the_seconds_of_child_processes_count():
    command = [sys.executable, "-c", SPIN]

    _, seconds = cost.timed(lambda: subprocess.run(command, check=True))

    assert seconds > 0.19


def test_short_work_is_repeated_until_there_is_enough_to_measure(monkeypatch):
    clock = iter([10.0, 10.05, 10.15, 10.3])
    monkeypatch.setattr(cost, "cpu_seconds", lambda: next(clock))
    monkeypatch.setattr(cost, "SHORTEST", 0.2)
    times = []

    assert cost.mean_seconds_of(lambda: times.append(1)) == pytest.approx(0.1)
    assert len(times) == 3


def test_long_work_is_done_once(monkeypatch):
    clock = iter([0.0, 7.0])
    monkeypatch.setattr(cost, "cpu_seconds", lambda: next(clock))

    assert cost.mean_seconds_of(lambda: None) == 7
