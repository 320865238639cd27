"""What takes part in a comparison: anything that is trained on rows and then ranks others."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows


class Contender(Protocol):
    """A way to learn many-class ranking, not yet trained when it is made.

    The rows it is given for training and those it then ranks share their columns: `features` and
    `classes` are the same lists, and may name classes that no training row has. Values are those of
    the data set; scaling them is the contender's own affair. A row has one or several true classes.
    """

    @property
    def name(self) -> str:
        """What tables and plots call it."""

    def fit(self, rows: Rows) -> None:
        """Train on the rows, in their order where order matters.

        Called once. Its CPU seconds, those of child processes it has waited for included, are the
        training time; what it does not need to train (paths, imports) belongs into its making.
        """

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """Columns of classes (n, k), best first, no class twice in a row, -1 where there are fewer.

        The true classes of these rows must not be looked at.
        """

    def bytes(self) -> int:
        """The size of the trained model as it is saved; called after `fit`."""


@runtime_checkable
class UsesTaxonomy(Protocol):
    """A contender that goes down a taxonomy of the classes where a data set has one."""

    def use(self, taxonomy: Taxonomy) -> None:
        """Know the taxonomy; called before `fit`, and not at all where there is none."""


Maker = Callable[[int], Contender]
"""Makes a contender that has learned nothing; the number seeds its random choices."""
