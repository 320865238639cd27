"""The columns and the notation of a table, as the user gives them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns are given by name, or by number from 1; None and () are determined by the file."""

    text: tuple[str, ...] = ()  # joined by blanks
    classes: tuple[str, ...] = ()
    class_separator: str = ""  # between several classes of a cell; empty: a cell is one class
    id: str | None = None
    delimiter: str | None = None  # of CSV
    encoding: str | None = None  # of CSV
    header: bool = True  # the first row has the names

    @property
    def names_columns(self) -> bool:
        """True if the user gave any column, so that the file is a table."""
        return bool(self.text or self.classes or self.id)
