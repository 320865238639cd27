"""The clocks and the random seed that a process hands to its parts."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Runtime:
    """Time and randomness from outside, so that tests can choose them.

    `clock` measures intervals and must never be set; `wall_clock` says the Unix time. `hash_seed`
    salts the tables of names of the state.
    """

    clock: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time
    hash_seed: int = 0
