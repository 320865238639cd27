"""Tests of the ratios between two checkouts."""

import random
from statistics import median

from benchmarks.pairs import interval, times


def test_the_interval_holds_the_true_median_as_often_as_it_says():
    draws = random.Random(0)
    held = 0
    for _ in range(2000):
        low, high = interval([draws.expovariate(1.0) for _ in range(10)])
        held += low <= 0.6931 <= high
    assert 0.95 <= held / 2000 < 0.995


def test_few_ratios_have_the_widest_interval():
    assert interval([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert median([3.0, 1.0, 2.0]) == 2.0


def test_only_cpu_times_are_compared():
    tables = {"costs": [{"set": "words", "rank µs": 4, "active": 11.5, "of": "x"}]}
    assert times(tables) == {("costs", "words", "rank µs"): 4.0}
