from collections.abc import Iterable
from typing import final

@final
class Titles:
    """Titles by the names of classes. Threads: one at a time changes them."""

    def __len__(self) -> int:
        """Return the number of classes with a title."""

    def put(self, name: str, title: str | None) -> None:
        """Give a class this title, or none."""

    def replace(self, titles: Iterable[tuple[str, str | None]]) -> None:
        """Forget all titles, and take these by the names of classes."""
