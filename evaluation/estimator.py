"""The interface of compared programs: train on rows, then rank other rows."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows


class Estimator(Protocol):
    """A many-class ranker, untrained at first.

    Training rows and ranked rows share their columns: `features` and `classes` are the same lists,
    and may name classes without a training row. Values are not scaled: the estimator may do so. A
    row has one or more true classes.
    """

    @property
    def name(self) -> str:
        """Return the name in tables and figures."""

    def fit(self, rows: Rows) -> None:
        """Train on the rows, in their order if it matters; called once.

        Its CPU seconds, with those of awaited child processes, are the training time: imports and
        look-ups of paths belong in the constructor.
        """

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """Return columns of classes (n, k), int32, best first, distinct, padded with -1.

        Must not read the true classes of the rows.
        """

    def bytes(self) -> int:
        """Return the bytes of the saved model; called after `fit`."""


@runtime_checkable
class UsesTaxonomy(Protocol):
    """An estimator that descends a taxonomy of the classes if the data set has one."""

    def use(self, taxonomy: Taxonomy) -> None:
        """Use the taxonomy; called before `fit` if the data set has one."""


Maker = Callable[[int], Estimator]
"""A function that returns an untrained estimator; its argument is the seed."""
