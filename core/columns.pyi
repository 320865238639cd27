from collections.abc import Sequence
from typing import Self, final

@final
class Columns:
    """The names of the columns of CSR arrays, and their ids in a learner, looked up once."""

    def __new__(cls, names: Sequence[str]) -> Self:
        """Raise InstanceError for a repeated name, and for one that no feature can have."""

    def __len__(self) -> int:
        """Return the number of columns."""

    def __getitem__(self, column: int, /) -> str:
        """Return the name of a column by its number; raise IndexError for one out of range."""
