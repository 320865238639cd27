"""Arithmetic with the same results on every machine, bit by bit."""

from math import frexp, ldexp

import numpy as np
from numpy import float32

SMALLEST_VALUE = 1e-30  # values of a smaller size count as absent
SMALLEST_WEIGHT = np.finfo(float32).tiny  # subnormal weights depend on the processor


def log(x):
    """Return the natural logarithm by the learner's series; others differ in the last bit."""
    fraction, exponent = frexp(x)
    if fraction < 0.7071067811865476:
        fraction, exponent = fraction * 2, exponent - 1
    z = (fraction - 1) / (fraction + 1)
    total = 0.0
    for n in range(21, 0, -2):
        total = total * (z * z) + 1 / n
    return 2 * z * total + exponent * 0.6931471805599453


def damped(x):
    """Return 1 + ln |x| with the sign of x where |x| is above 1, else x."""
    if x > 1:
        return 1 + log(x)
    return -1 - log(-x) if x < -1 else x


def logistic(x):
    """Return 1 / (1 + e^-x) by the learner's series; x is clipped at 700."""
    return 1 / (1 + _exp(-max(-700.0, min(x, 700.0))))


def _exp(x):
    doublings = int(x * 1.4426950408889634 + (-0.5 if x < 0 else 0.5))
    rest = x - doublings * 0.6931471805599453
    series = [1.0]
    for n in range(1, 14):
        series.append(series[-1] / n)
    total = 0.0
    for coefficient in reversed(series):
        total = total * rest + coefficient
    return ldexp(total, doublings)


def total(numbers):
    """Return the sum by plain successive additions; Python's `sum` rounds better."""
    so_far = 0.0
    for number in numbers:
        so_far += number
    return so_far


def is_weight(weight):
    return abs(weight) >= SMALLEST_WEIGHT


class Random:
    """SplitMix64 (Steele, Lea, Flood): 64 bits of state, any seed."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) % 2**64
        return mixed ^ (mixed >> 31)

    def below(self, end):
        return self.bits() * end // 2**64


def bounded(weight):
    """Return the weight in single precision, clipped to the bounds of signed weights."""
    return float32(max(-1e30, min(weight, 1e30)))
