"""Threads for the native kernels, which release the GIL."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from manyclass.training.klr.arrays import Targets

LEAST_NUMBERS = 1 << 16  # in a part: a thread costs about as much as this many numbers


class Workers:
    """A number of threads that share the rows or classes of one call.

    The parts do not depend on the number of threads, and no two write the same numbers: results do
    not depend on it either.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def over(self, size: int, unit: int, numbers: int, call: Callable[[int, int], None]) -> None:
        """Call `call(begin, end)` for parts of 0 .. size, cut at multiples of `unit`.

        `numbers` is the amount of numbers read, which decides whether threads are worth it.
        """
        parts = -(-size // unit)
        if self._pool is None or numbers < LEAST_NUMBERS or parts < 2:
            call(0, size)
            return
        pieces = min(parts, 4 * self.threads)
        cuts = [min(size, parts * at // pieces * unit) for at in range(pieces + 1)]
        for done in [self._pool.submit(call, *cut) for cut in pairwise(cuts)]:
            done.result()

    def over_rows(
        self, call: Callable[..., None], arguments: tuple[Any, ...], folds: int = 1
    ) -> None:
        """Call `call` with the same rows of all arguments: arrays, numbers, targets or None.

        Arrays have `folds` rows for each row of targets.
        """
        arrays = [each for each in arguments if isinstance(each, np.ndarray)]

        def part(begin: int, end: int) -> None:
            given = list[Any]()
            for each in arguments:
                if isinstance(each, Targets):
                    given += each.part(begin, end)
                elif isinstance(each, np.ndarray):
                    given.append(each[begin * folds : end * folds])
                else:
                    given.append(each)
            call(*given)

        self.over(len(arrays[0]) // folds, 1, sum(each.size for each in arrays), part)


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """Yield threads that end with the context."""
    made = Workers(threads)
    try:
        yield made
    finally:
        made.close()
