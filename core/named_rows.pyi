from collections.abc import Iterable, Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.instance import Instance

@final
class NamedRows:
    """Rows of named values as CSR arrays: each new name becomes the next column.

    Threads: one at a time.
    """

    def __new__(cls) -> NamedRows: ...
    def append(self, row: Instance | Mapping[str, float] | Iterable[str]) -> None:
        """Add a row: an instance, values by their names, or names with the value 1 each.

        Raise InstanceError for a name that is empty, overlong or not valid Unicode.
        """

    def __len__(self) -> int:
        """Return the number of rows."""

    def names(self) -> list[str]:
        """Return the names of the columns, in the order of their numbers."""

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Return the CSR arrays indptr (rows + 1,), indices and values (both: entries)."""
