"""A learner of the engine as an estimator."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.expected_loss import ExpectedLoss
from manyclass.core.learner import Learner
from manyclass.core.learners.csr import block_of
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.losses import COUNTED_AT_ONCE, count_losses, decoded
from manyclass.training.rows import Rows


def ranked_columns(
    learner: Learner, rows: Rows, features: Columns, classes: Columns, k: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return columns of classes (n, k), best first, padded with -1, and their scores.

    `features` and `classes` are the columns of the rows. The learner does not change.
    """
    ids, scores = learner.rank_csr(features, rows.indptr, rows.indices, rows.values, k)
    id_of_column = learner.class_ids(classes)
    known = np.flatnonzero(id_of_column >= 0)
    # The taxonomy may have more classes than there are columns.
    column_of_id = np.full(int(max(id_of_column.max(initial=-1), ids.max())) + 2, -1, np.int32)
    column_of_id[id_of_column[known]] = known
    columns: NDArray[np.int32] = column_of_id[ids]  # id -1 reads the last entry, which is -1
    return columns, scores


class LearnerEstimator:
    """A learner bound to the columns of one data set, which can be trained pass by pass."""

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
        self.first_scores = np.empty((0, 2))  # the two highest of each ranking in the first pass
        self._seed = seed
        self._shuffle = shuffle
        self._features = Columns(rows.features)
        self._names = rows.classes
        self._classes = Columns(rows.classes)

    def use(self, taxonomy: Taxonomy) -> None:
        """Place all classes of the data set and their ancestors, before any is learned."""
        parents = taxonomy.single_parents(self._names)
        for name, parent in sorted(parents.items()):
            self.learner.taxonomy.place(name, parent or None)
        self.learner.placed(sorted(parents))

    def fit(self, rows: Rows) -> None:
        """Build the tree if the learner has one, then learn the rows once for each pass."""
        self.build_tree(rows)
        for _ in range(self.passes):
            self.learn(rows)

    def build_tree(self, rows: Rows) -> None:
        """Build a label tree over the classes of the rows if the learner builds one offline.

        The classes of a stream are not known beforehand: use `learn` alone.
        """
        self.learner.build_csr(*rows.labelled(self._features, self._classes))

    def learn(self, rows: Rows) -> NDArray[np.int32]:
        """Learn the rows once more: in their order in the first pass, shuffled in later ones.

        Return ranks (n,), int32, in the order of learning: the rank of the best true class of each
        row just before the row was learned; 0 if not retrieved.
        """
        if self.passes_done and self._shuffle:
            rows = rows.shuffled(self._seed + self.passes_done)
        scores = np.empty((len(rows), 2))
        ranks = self.learner.learn_csr(
            *rows.labelled(self._features, self._classes), self.passes_done, top_two=scores
        )
        if self.passes_done == 0:
            self.first_scores = scores
        self.passes_done += 1
        return ranks

    def learn_in_parts(self, rows: Rows, size: int) -> Iterator[NDArray[np.int32]]:
        """Learn the rows once in their order; yield the ranks of `learn` after each `size` rows."""
        whole = rows.labelled(self._features, self._classes)
        for begin in range(0, len(rows), size):
            part = block_of(whole, begin, min(begin + size, len(rows)))
            yield self.learner.learn_csr(*part, 0)
        self.passes_done += 1

    def fit_losses(self, rows: Rows) -> ExpectedLoss:
        """Return expected losses fitted to the ranking of each row before the row is learned.

        This learns the rows too: use a separate learner for it.
        """
        losses = ExpectedLoss()
        for begin in range(0, len(rows), COUNTED_AT_ONCE):
            some = rows.take(np.arange(begin, min(begin + COUNTED_AT_ONCE, len(rows))))
            count_losses(losses, self.learner, some, self._features, self._classes)
            self.learner.learn_csr(*some.labelled(self._features, self._classes), 0)
        self.passes_done += 1
        return losses

    def decode(self, rows: Rows, losses: ExpectedLoss) -> NDArray[np.int32]:
        """Return columns of classes (n, 50), int32, least expected loss first, padded with -1."""
        return decoded(losses, self.learner, rows, self._features, self._classes)

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """Return columns of classes (n, k), int32, best first, padded with -1."""
        return ranked_columns(self.learner, rows, self._features, self._classes, k)[0]

    def bytes(self) -> int:
        """Return the bytes of an uncompressed snapshot of the learner."""
        return sum(section.nbytes for section in self.learner.dump().values())
