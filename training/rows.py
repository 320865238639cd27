"""Labelled sparse instances as CSR arrays: order, split, oversample."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.instance import Instance
from manyclass.core.learners.csr import Labelled
from manyclass.core.named_rows import NamedRows

Features = Instance | Mapping[str, float] | Iterable[str]


class Ids(dict[str, int]):
    """A dict that assigns the next number to each new name."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


@dataclass(frozen=True)
class Rows:
    """Labelled instances as CSR arrays; columns index the names `features` and `classes`."""

    features: list[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]
    classes: list[str]
    class_indptr: NDArray[np.int64]
    class_indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None = None  # of each row; None: all 1

    @classmethod
    def of(cls, labelled: Iterable[tuple[Features, Iterable[str]]]) -> Self:
        """Return rows of (instance, true classes) pairs; a name without a value has the value 1.

        Pairs are read one by one: only the arrays are held in memory.
        """
        instances, classes = NamedRows(), NamedRows()
        for instance, true in labelled:
            instances.append(instance)
            classes.append(true)
        indptr, indices, values = instances.arrays()
        class_indptr, class_indices, _ = classes.arrays()
        return cls(
            instances.names(), indptr, indices, values, classes.names(), class_indptr, class_indices
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[dict[str, float], list[str]]]:
        """Yield each instance and its true classes by name, as `of` collects them."""
        for row, true in enumerate(self.true_columns()):
            active = slice(self.indptr[row], self.indptr[row + 1])
            names = [self.features[column] for column in self.indices[active]]
            instance = dict(zip(names, self.values[active].tolist(), strict=True))
            yield instance, [self.classes[column] for column in true]

    def true_columns(self) -> Iterator[NDArray[np.int32]]:
        """Yield the columns of each row's true classes."""
        for first, end in pairwise(self.class_indptr):
            yield self.class_indices[first:end]

    def labelled(self, features: Columns, classes: Columns) -> Labelled:
        """Return the arguments of `Learner.learn_csr`, given the columns of all names."""
        return (
            features,
            self.indptr,
            self.indices,
            self.values,
            classes,
            self.class_indptr,
            self.class_indices,
        )

    def take(self, order: NDArray[np.int64]) -> Self:
        """Return the rows at these positions, in this order."""
        entries, indptr = runs(self.indptr, order)
        class_entries, class_indptr = runs(self.class_indptr, order)
        return replace(
            self,
            indptr=indptr,
            indices=self.indices[entries],
            values=self.values[entries],
            class_indptr=class_indptr,
            class_indices=self.class_indices[class_entries],
            weights=None if self.weights is None else self.weights[order],
        )

    def shuffled(self, seed: int) -> Self:
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    def split(self, share: float) -> tuple[Self, Self]:
        """Split off the first `share` of the rows; return both parts."""
        first = round(len(self) * share)
        return self.take(np.arange(first)), self.take(np.arange(first, len(self)))

    def oversampling(self, least: int) -> NDArray[np.int64]:
        """Return row positions, repeated so that each class has at least `least` rows.

        A row is repeated as often as its rarest class needs, in adjacent positions.
        """
        counts = np.bincount(self.class_indices, minlength=len(self.classes))
        rarest = np.full(len(self), max(least, 1))
        row_of = np.repeat(np.arange(len(self)), np.diff(self.class_indptr))
        np.minimum.at(rarest, row_of, counts[self.class_indices])
        return np.repeat(np.arange(len(self)), -(-least // rarest) if least > 0 else 1)

    def without_singletons(self) -> Self:
        """Return the rows without features that occur in only one row."""
        kept = np.bincount(self.indices, minlength=len(self.features)) > 1
        stays = kept[self.indices]
        number = np.cumsum(kept) - 1
        return replace(
            self,
            features=[name for name, keep in zip(self.features, kept, strict=True) if keep],
            indptr=np.concatenate([[0], np.cumsum(stays)])[self.indptr],
            indices=number[self.indices[stays]].astype(np.int32),
            values=self.values[stays],
        )


def runs(
    indptr: NDArray[np.int64], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the entries of the rows `order`, and the indptr of these rows."""
    sizes = np.diff(indptr)[order]
    taken = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(taken[-1]) + np.repeat(indptr[:-1][order] - taken[:-1], sizes)
    return entries, taken
