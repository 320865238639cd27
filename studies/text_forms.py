"""Forms of an analysis of texts, as parts of the features of a larger one.

Runs of characters have names of their own, with a ~ in front, so any form of them can be had from
rows with all runs of 3 to 5 characters, without reading the texts again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows

SHORTEST, LONGEST = 3, 5  # runs in the rows, each worth 1
WORD, PAIR = 1, 2  # kinds of features beside the lengths of runs


@dataclass(frozen=True)
class Runs:
    """Runs of characters: their lengths and worth, and of which places and texts."""

    shortest: int = SHORTEST
    longest: int = LONGEST
    worth: float = 0.4
    ends: str = ""  # only runs with one of these signs: < begins a word, > ends it
    most_words: int = 0  # of a text; 0: of any
    first_words: int = 0  # different ones, that have runs; 0: all

    def __str__(self) -> str:
        lengths = f"{self.shortest}" + (f"-{self.longest}" if self.longest > self.shortest else "")
        places = {"": "", "<": " at the beginning", "<>": " at both ends"}[self.ends]
        texts = f", to {self.most_words} words" if self.most_words else ""
        words = f", of {self.first_words} words" if self.first_words else ""
        return f"{lengths} at {self.worth}{places}{texts}{words}"


@dataclass(frozen=True)
class Form:
    """The parts that a form keeps of the features of rows; words always."""

    pairs: bool = True
    runs: Runs | None = None

    def of(self, rows: Rows) -> Rows:
        """Return the rows with the features of this form alone."""
        kinds, at_ends = kinds_of(rows.features, self.runs.ends if self.runs else "")
        kind = kinds[rows.indices]
        kept = (kind == WORD) | (self.pairs & (kind == PAIR))
        values = rows.values
        if self.runs:
            of_runs = (kind >= self.runs.shortest) & (kind <= self.runs.longest)
            of_runs &= at_ends[rows.indices]
            if self.runs.most_words:
                short = words_of(rows, kind) <= self.runs.most_words
                of_runs &= np.repeat(short, np.diff(rows.indptr))
            if self.runs.first_words:
                of_runs &= words_before(rows, kind) <= self.runs.first_words
            kept |= of_runs
            values = np.where(kind >= SHORTEST, values * np.float32(self.runs.worth), values)
        return replace(
            rows,
            indptr=np.concatenate([[0], np.cumsum(kept)])[rows.indptr],
            indices=rows.indices[kept],
            values=values[kept],
        )


def kinds_of(names: Iterable[str], ends: str = "") -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return WORD, PAIR or the length of a run for each name, and if it has one of these ends."""
    kinds, at_ends = list[int](), list[bool]()
    for name in names:
        is_run = len(name) > SHORTEST and name[0] == "~"
        kinds.append(len(name) - 1 if is_run else PAIR if " " in name else WORD)
        at_ends.append(not ends or name[1:2] in ends[:1] or name[-1] in ends[1:])
    return np.array(kinds, np.int8), np.array(at_ends, np.bool_)


def words_of(rows: Rows, kind: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the number of words of each row."""
    counts = np.concatenate([[0.0], np.cumsum(np.where(kind == WORD, rows.values, 0))])
    found: NDArray[np.float64] = np.diff(counts[rows.indptr])
    return found


def words_before(rows: Rows, kind: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return for each feature how many words its row has up to there: runs follow their word."""
    counts = np.cumsum(kind == WORD)
    before = np.concatenate([[0], counts])[rows.indptr[:-1]]
    found: NDArray[np.int64] = counts - np.repeat(before, np.diff(rows.indptr))
    return found


def few(rows: Rows, most: int) -> Rows:
    """Return the rows, in their order, whose rarest class is in fewer than `most` rows before."""
    seen = np.zeros(len(rows.classes), np.int64)
    kept = list[int]()
    for row, columns in enumerate(rows.true_columns()):
        if seen[columns].min() < most:
            kept.append(row)
            seen[columns] += 1
    return rows.take(np.array(kept, np.int64))
