"""A learner of the core as a contender: it learns rows and ranks others by their columns."""

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.training.rows import Rows


class Indexed:
    """A learner that knows the columns of one data set. It can be trained pass by pass."""

    def __init__(
        self,
        rows: Rows,
        options: Options,
        passes: int = 1,
        seed: int = 0,
        shuffle: bool = True,
    ) -> None:
        self.name = options.specification
        self.learner = make(options)
        self.passes = passes
        self.passes_done = 0
        self._seed = seed
        self._shuffle = shuffle
        self._features = Columns(rows.features)
        self._classes = Columns(rows.classes)

    def fit(self, rows: Rows) -> None:
        """Learn the rows as many times as there are passes; `plant` comes first."""
        self.plant(rows)
        for _ in range(self.passes):
            self.learn(rows)

    def plant(self, rows: Rows) -> None:
        """Let a label tree that is to be planted begin with one over the classes of the rows.

        What is learned as a stream must not be told beforehand: there `learn` comes alone.
        """
        self.learner.plant_csr(*rows.labelled(self._features, self._classes))

    def learn(self, rows: Rows) -> NDArray[np.int32]:
        """One more pass: the first in the order of the rows, others shuffled anew if at all.

        Returns ranks (n,): where the best true class of each row stood right before it was
        learned, in the order in which they were learned; 0: not retrieved.
        """
        if self.passes_done and self._shuffle:
            rows = rows.shuffled(self._seed + self.passes_done)
        ranks = self.learner.learn_csr(
            *rows.labelled(self._features, self._classes), self.passes_done
        )
        self.passes_done += 1
        return ranks

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """Columns of classes (n, k), best first, -1 where there are fewer."""
        ids, _ = self.learner.rank_csr(self._features, rows.indptr, rows.indices, rows.values, k)
        id_of_column = self.learner.class_ids(self._classes)
        known = np.flatnonzero(id_of_column >= 0)
        column_of_id = np.full(int(id_of_column.max(initial=-1)) + 2, -1, np.int32)
        column_of_id[id_of_column[known]] = known
        columns: NDArray[np.int32] = column_of_id[ids]  # an id of -1 finds the last place: -1
        return columns

    def bytes(self) -> int:
        """What a snapshot of the learner holds, not compressed."""
        return sum(section.nbytes for section in self.learner.dump().values())
