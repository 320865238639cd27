"""The search for parameters that minimise the cross-validation likelihood."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from manyclass.training.klr.crossvalidation import Evaluation

LOWEST, HIGHEST = -5.0, 9.0  # of the log of a variance
FALL = 1e-4  # stop at a smaller relative fall of Psi in one iteration
FLAT = 1e-3  # stop at a gradient below this share of Psi
EXTRA: Final = "fit"

Evaluate = Callable[[NDArray[np.float64]], Evaluation]


class ExtraMissing(ImportError):
    """SciPy is not installed; the message names the extra that brings it."""

    def __init__(self) -> None:
        super().__init__(f"the search for parameters needs SciPy: pip install 'manyclass[{EXTRA}]'")


class _Enough(Exception):
    """The search has made all evaluations that it may make."""


@dataclass(frozen=True)
class Found:
    """The best evaluation of a search, and all of them in their order."""

    best: Evaluation
    evaluations: list[Evaluation]
    at_bounds: list[int]  # numbers of the parameters at a bound of the search


def search(
    evaluate: Evaluate,
    start: NDArray[np.float64],
    most: int,
    known: Sequence[Evaluation] = (),
    highest: NDArray[np.float64] | None = None,
) -> Found:
    """Minimise Psi from `start` by L-BFGS-B with at most this many evaluations, one or more.

    The first evaluations are taken from `known` as long as they are at the parameters that the
    search asks for: so a stopped search goes on where it was. Raises ExtraMissing without SciPy.
    """
    minimize = minimizer()
    left = list(known)
    made = list[Evaluation]()

    def objective(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        if len(made) == most:
            raise _Enough
        if left and np.array_equal(left[0].logs, logs):
            made.append(left.pop(0))
        else:
            left.clear()
            made.append(evaluate(logs))
        # The search's first step is the gradient: scaled, so that no variance is far off at once.
        scale = max(float(np.linalg.norm(made[0].gradient)), 1e-9)
        return made[-1].psi / scale, made[-1].gradient / scale

    above = np.full(len(start), HIGHEST) if highest is None else highest
    with suppress(_Enough, StopIteration):
        minimize(
            objective,
            np.clip(start, LOWEST, above),
            jac=True,
            method="L-BFGS-B",
            bounds=[(LOWEST, most_) for most_ in above.tolist()],
            options={"ftol": FALL, "gtol": 0.0, "maxfun": most},
            callback=lambda logs: _stop_when_flat(made),
        )
    best = min(made, key=lambda each: each.psi)
    bound = np.flatnonzero((best.logs <= LOWEST) | (best.logs >= above))
    return Found(best, made, bound.tolist())


def _stop_when_flat(made: Sequence[Evaluation]) -> None:
    last = made[-1]
    if np.abs(last.gradient).max() < FLAT * last.psi:
        raise StopIteration


def minimizer() -> Any:
    """Return `scipy.optimize.minimize`; ExtraMissing if SciPy is not installed."""
    try:
        return import_module("scipy.optimize").minimize
    except ImportError as error:
        raise ExtraMissing from error
