"""Reads the named arrays of a snapshot and checks their types."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import DTypeLike, NDArray

from manyclass.core.errors import SnapshotError

Sections = Mapping[str, NDArray[np.generic]]

LARGEST_COUNT = 2**62  # no count of a real state is larger


def run(sections: Sections, name: str, dtype: DTypeLike) -> NDArray[np.generic]:
    """Return the array of this name; SnapshotError unless it has one dimension and this type."""
    if name not in sections:
        raise SnapshotError("it is missing", name)
    array = sections[name]
    if array.dtype != np.dtype(dtype) or array.ndim != 1:
        raise SnapshotError(f"it is not an array of one dimension and type {np.dtype(dtype)}", name)
    return np.ascontiguousarray(array)


def runs(sections: Sections, dtypes: Mapping[str, DTypeLike]) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of these names; SnapshotError as from `run`."""
    return {name: run(sections, name, dtype) for name, dtype in dtypes.items()}


@contextmanager
def within(sections: Sections, prefix: str) -> Iterator[Sections]:
    """Yield the sections with this prefix, by the rest of their names.

    A SnapshotError raised in the block names its section with the prefix."""
    try:
        yield {
            name.removeprefix(prefix): array
            for name, array in sections.items()
            if name.startswith(prefix)
        }
    except SnapshotError as error:
        raise error.within(prefix) from error


def need(holds: bool, section: str, fault: str) -> None:
    """Raise SnapshotError for the section unless the condition holds."""
    if not holds:
        raise SnapshotError(fault, section)
