"""The interface of the compared systems: train on rows, then rank other rows."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows


class Estimator(Protocol):
    """A learner of many-class ranking, untrained when it is made.

    Training rows and ranked rows share their columns: `features` and `classes` are the same lists,
    and may name classes without a training row. Values are those of the data set; the estimator
    scales them. A row has one or several true classes.
    """

    @property
    def name(self) -> str:
        """Return the name in tables and figures."""

    def fit(self, rows: Rows) -> None:
        """Train on the rows, in their order if the order matters; called once.

        The training time is its CPU seconds, with those of awaited child processes. Imports and
        paths belong into the constructor.
        """

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """Return columns of classes (n, k), int32, best first, distinct, -1 where fewer.

        Must not read the true classes of the rows.
        """

    def bytes(self) -> int:
        """Return the size of the saved model; called after `fit`."""


@runtime_checkable
class UsesTaxonomy(Protocol):
    """An estimator that descends a taxonomy of the classes if the data set has one."""

    def use(self, taxonomy: Taxonomy) -> None:
        """Take the taxonomy; called before `fit` if there is one."""


Maker = Callable[[int], Estimator]
"""Returns an untrained estimator; the number seeds its random choices."""
