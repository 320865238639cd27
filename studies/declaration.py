"""The declaration of a study: its trials, its measure, its tables and plots."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from manyclass.evaluation import datasets
from manyclass.evaluation.datasets import Dataset
from studies.samples import sampled

Record = dict[str, Any]
"""The keys of a run (`dataset`, `estimator`, `split`, `pass`, tags) and its measures, by name."""

Measure = Callable[[Dataset, str, int, int], Iterable[Record]]
"""Measures an estimator, by its name, on a data set, with a number of passes and a seed."""

At = Literal["first", "best", "last", "every"]
"""The passes that a table shows; the best has the highest mean R1."""


@dataclass(frozen=True)
class Trial:
    """An estimator on a data set. `tags` are further keys of its records."""

    dataset: str
    estimator: str
    splits: int = 1
    passes: int = 1
    tags: Mapping[str, str] = field(default_factory=dict)


def trials(
    names: Iterable[str], estimators: Iterable[str], splits: int = 1, passes: int = 1
) -> list[Trial]:
    """Return every estimator on every data set."""
    made = list(estimators)
    return [Trial(name, each, splits, passes) for name in names for each in made]


@dataclass(frozen=True)
class Pivot:
    """A table of measures: a row for each value of one key, columns for the measures.

    With `across`, there is a column for each measure and value of this key. There is a table for
    each value of the key `each`, or one table without. `mean` adds the mean over the columns that
    all rows have; `wins_of` adds the splits won and lost by the best estimator of this prefix.
    """

    title: str
    measures: Sequence[str]
    rows: str = "estimator"
    across: str = ""
    each: str = "dataset"
    at: At = "last"
    digits: int = 3
    mean: bool = False
    wins_of: str = ""


@dataclass(frozen=True)
class Beside:
    """A table of pairs of estimators: differences in points, ratios of costs."""

    title: str
    pairs: Sequence[tuple[str, str]]
    points: Sequence[str]
    ratios: Sequence[str]


@dataclass(frozen=True)
class Gaps:
    """A table of an estimator beside the best of others, by each measure, on each data set."""

    title: str
    ours: str
    peers: Sequence[str]
    points: Sequence[str]


@dataclass(frozen=True)
class Plot:
    """A figure for each data set, with a series for each estimator, or for those in `only`.

    Points are the means over the records with an equal value of the key `along`; without it there
    is one point for each estimator. With `front`, the side of the better x, a line joins the points
    that no other exceeds in both measures (the Pareto front), the others are faint, and those below
    three quarters of the best y are left out.
    """

    title: str
    x: str
    y: str
    along: str = ""
    logarithmic: bool = False
    only: Sequence[str] = ()
    front: Literal["left", "right"] | None = None


@dataclass(frozen=True)
class Bounds:
    """Bounds of a search for parameters; None: not given.

    Searches write their states to the folder `states`, and go on from the states found there.
    """

    evaluations: int | None = None  # in each stage
    rows: int | None = None  # at random
    states: Path | None = None

    def over(self, usual: "Bounds") -> "Bounds":
        """Return these bounds, and the usual ones where none is given."""
        return Bounds(
            self.evaluations or usual.evaluations,
            self.rows or usual.rows,
            self.states or usual.states,
        )


@dataclass(frozen=True)
class Study:
    """A study. `printed` holds records of the paper; `rows` limits the rows of a data set.

    `bounded` makes the measure of a study that searches for parameters within given bounds.
    """

    about: str
    trials: Sequence[Trial]
    measure: Measure
    tables: Sequence[Pivot | Beside | Gaps]
    plots: Sequence[Plot] = ()
    printed: Sequence[Record] = ()
    rows: int | None = None
    prepare: Callable[[Dataset, int | None], Dataset] = sampled
    read: Callable[[str, Path], Dataset] = datasets.read
    bounded: Callable[[Bounds], Measure] | None = None
