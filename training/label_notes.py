"""Labels that may be no labels, and labels that may be one, for a note to the user."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from manyclass.training.label_survey import clusters_of

EMPTY: Final = (  # folded; programs write these for an empty cell
    *("nan", "none", "null", "nil", "na", "n/a", "#n/a", "<na>", "nat", "undefined"),
    *("-", "--", "\u2013", "\u2014", "?", "."),
)
SEPARATORS: Final = "|;,"  # of labels in a cell
MOST_COUNTED: Final = 100_000  # labels
MOST_NAMED: Final = 5  # of a note


class LabelNotes:
    """Counts labels, up to a bound, and says which of them to look at."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def add(self, labels: Iterable[str]) -> None:
        """Count the labels of a row."""
        for label in labels:
            if label in self._counts or len(self._counts) < MOST_COUNTED:
                self._counts[label] += 1

    def notes(self) -> list[str]:
        """Return a line about labels as `nan`, one about labels that differ in their writing only,
        and one about labels that join others, as `bill|urgent`."""
        return [note for note in (self._empty(), self._variants(), self._joined()) if note]

    def _empty(self) -> str:
        found = [label for label in self._counts if is_empty_label(label)]
        if not found:
            return ""
        options = " ".join(f"--leave-out={label!r}" for label in found[:MOST_NAMED])
        return (
            f"labels that may stand for an empty cell: {self._counted(found)}; {options} leaves out"
            " their rows"
        )

    def _variants(self) -> str:
        several = [each.labels for each in clusters_of(self._counts) if each.is_spelling]
        if not several:
            return ""
        named = ", ".join(self._counted(group, " and ") for group in several[:MOST_NAMED])
        more = f", and {len(several) - MOST_NAMED:,} more" if len(several) > MOST_NAMED else ""
        return (
            f"labels that differ only by case, blanks, accents, width, - or _ are classes of their"
            f" own: {named}{more}; `manyclass classes merge` makes two of them one"
        )

    def _joined(self) -> str:
        for separator in SEPARATORS:
            parts = {label: label.split(separator) for label in self._counts if separator in label}
            times = Counter(part.strip() for each in parts.values() for part in each)
            times.update(label for label in self._counts if label not in parts)
            joined = [
                label
                for label, each in parts.items()
                if all(part.strip() and times[part.strip()] > 1 for part in each)
            ]
            if len(joined) > 1:  # one alone may be a name
                return (
                    f"labels that join others: {self._counted(joined)};"
                    f" --class-separator={separator!r} makes each part a class"
                )
        return ""

    def _counted(self, labels: list[str], separator: str = ", ") -> str:
        shown = [f"{label!r} ({self._counts[label]:,})" for label in labels[:MOST_NAMED]]
        return separator.join(shown) + (", …" if len(labels) > MOST_NAMED else "")


def is_empty_label(label: str) -> bool:
    """Return whether programs write this label for an empty cell."""
    return label.strip().casefold() in EMPTY
