from collections.abc import Sequence
from typing import Self, final

@final
class Columns:
    """The names of the columns of CSR arrays, and their ids in an index, looked up once."""

    def __new__(cls, names: Sequence[str]) -> Self: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: int, /) -> str:
        """Return the name of a column; raise IndexError for a column out of range."""
