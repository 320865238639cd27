"""The columns and the notation of a table, as the user gives them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns are given by name, or by number from 1; None and () are determined by the file."""

    text: tuple[str, ...] = ()  # joined by blanks, unless they are fields
    classes: tuple[str, ...] = ()
    class_separator: str = ""  # between several classes of a cell; empty: a cell is one class
    id: str | None = None
    source: str | None = None  # has the source of a row
    ranked_id: str | None = None  # has the id of a ranked instance, which the row labels
    vector: str | None = None  # has the vector of a row, as an embedding of its text
    vectors_beside: bool = False  # the vectors of the rows are in another file
    one_hot: tuple[str, ...] = ()  # columns named as classes, with 1 in the rows of the class
    left_out: frozenset[str] = frozenset()  # labels that are not taught
    delimiter: str | None = None  # of CSV
    encoding: str | None = None  # of CSV and of lines
    header: bool | None = None  # the first row has the names; None: guessed
    sheet: str | None = None  # of a workbook, by default the first
    fields: bool = False  # each column of the text is a field, named as the column

    @property
    def has_vectors(self) -> bool:
        """True if the rows have vectors, and so need no text."""
        return self.vector is not None or self.vectors_beside

    @property
    def names_columns(self) -> bool:
        """True if the user gave any column, so that the file is a table."""
        one = self.id or self.source or self.ranked_id or self.vector
        return bool(self.text or self.classes or self.one_hot or one)
