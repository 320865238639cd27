"""Which learner, and which FEATURE_MEMORY of feature focus, keeps up with a drifting stream.

The drifting stream: half of the classes are there from the start, the others arrive one by one
until its last tenth; and in its middle a share of the features change their meaning (their names
are exchanged among them). The steady stream is the same data, shuffled. Both are learned once, in
order, every instance ranked before it is learned; R1 is over the stream and, drifting, over its
second half.

The rule for the memory: of those whose mean loss on the steady streams is at most 1 % of the R1
that infinite memory has there, the one with the best mean R1 on the drifting streams' second
halves; of those within 0.2 % of the best, the largest, because more memory is a steadier vote.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.figures import Figure
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.plot import Axis, Plot, Point, Series
from manyclass.evaluation.report import Cell, Table, best_of
from manyclass.evaluation.studies.study import Study, heard, parser_of
from manyclass.training.rows import Rows

SETS: Final = ("words", "newsgroups", "clinc", "banking", "cpv")
MEMORIES: Final = (0, 10, 30, 100, 300, 1000, 3000, 10000)
MARGIN_THRESHOLDS: Final = (0.0, 0.1, 0.5)
LEARNERS: Final = (
    "ff(sublinear=no,mass_cap=0.0)",
    "ff(sublinear=no)",
    "ema",
    "ema(rate=0.3)",
    "pa",
    "pa(sublinear=yes,tfidf=yes)",
    "svm(replay=0)",
    "svm",
    "svm(replay_size=1000)",
)
STEADY_LOSS = 0.01
AS_GOOD = 0.002
TENTHS = 10  # a curve has a point for each tenth of a stream


def drifting(rows: Rows, seed: int, changed: float) -> Rows:
    """The rows as a stream in which classes arrive and features change their meaning."""
    random = np.random.default_rng(seed)
    arrival = random.uniform(-0.9, 0.9, len(rows.classes)).clip(0)
    first_class = rows.class_indices[rows.class_indptr[:-1]]
    when = random.uniform(arrival[first_class], 1)
    stream = rows.take(np.argsort(when))

    meaning = np.arange(len(rows.features), dtype=np.int32)
    moved = np.flatnonzero(random.random(len(meaning)) < changed)
    meaning[moved] = random.permutation(moved)
    middle = stream.indptr[len(stream) // 2]
    indices = stream.indices.copy()
    indices[middle:] = meaning[indices[middle:]]
    return replace(stream, indices=indices)


@dataclass(frozen=True)
class Kept:
    """Progressive R1 of a learner: how it keeps up."""

    steady: float
    drifting: float
    second_half: float
    tenths: tuple[float, ...]  # of the drifting stream

    @classmethod
    def of(cls, steady: NDArray[np.int32], drifting: NDArray[np.int32]) -> "Kept":
        """From the ranks of both streams."""
        second = drifting[len(drifting) // 2 :]
        tenths = tuple(map(first_places, np.array_split(drifting, TENTHS)))
        return cls(first_places(steady), first_places(drifting), first_places(second), tenths)

    @classmethod
    def mean(cls, several: Sequence["Kept"]) -> "Kept":
        """The mean over data sets."""
        tenths = zip(*(each.tenths for each in several), strict=True)
        return cls(
            mean(each.steady for each in several),
            mean(each.drifting for each in several),
            mean(each.second_half for each in several),
            tuple(map(mean, tenths)),
        )


def first_places(ranks: NDArray[np.int32]) -> float:
    """R1: the share of the ranks that are 1."""
    return float((ranks == 1).mean())


Measured = Mapping[Options, Kept]


def measure(
    rows: Rows, learners: Sequence[Options], seed: int, changed: float
) -> dict[Options, Kept]:
    """What each learner keeps on the rows as a steady and as a drifting stream."""
    steady, drift = rows.shuffled(seed), drifting(rows, seed, changed)
    return {
        options: Kept.of(Indexed(rows, options).learn(steady), Indexed(rows, options).learn(drift))
        for options in learners
    }


def memories(threshold: float) -> dict[int, Options]:
    """Feature focus with each of the memories."""
    return {
        memory: Options.of("ff", margin_threshold=threshold, feature_memory=memory, sublinear=False)
        for memory in MEMORIES
    }


def recommend(found: Sequence[Measured], threshold: float) -> int:
    """The memory that the rule at the head of this module picks; 0 is infinite."""
    options = memories(threshold)

    def share(memory: int, figure: Callable[[Kept], float]) -> float:
        """Mean over the sets of R1 as a share of infinite memory's."""
        return mean(figure(each[options[memory]]) / figure(each[options[0]]) for each in found)

    def steady(memory: int) -> float:
        return share(memory, lambda kept: kept.steady)

    def later(memory: int) -> float:
        return share(memory, lambda kept: kept.second_half)

    allowed = [memory for memory in MEMORIES if steady(memory) >= 1 - STEADY_LOSS]
    best = max(map(later, allowed))
    good = [memory for memory in allowed if later(memory) >= best - AS_GOOD]
    return 0 if 0 in good else max(good)


# --- tables ---------------------------------------------------------------------------------------


def table_of(title: str, found: Measured) -> Table:
    """A row for each learner."""
    rows = [
        [Cell(options.specification), *(Cell(f"{figure:.4f}", figure) for figure in figures)]
        for options, kept in found.items()
        for figures in [(kept.steady, kept.drifting, kept.second_half)]
    ]
    best = [best_of([row[at] for row in rows], "more") for at in (1, 2, 3)]
    return Table(title, ["learner", "steady", "drifting", "its 2nd half"], rows, [-1, *best])


def curve_of(name: str, found: Measured) -> Figure:
    """R1 in each tenth of the drifting stream."""
    series = [
        Series(
            options.specification,
            [
                Point(at, r1, note=f"tenth {at + 1}: R1 {r1:.3f}")
                for at, r1 in enumerate(kept.tenths)
            ],
            colour,
        )
        for colour, (options, kept) in enumerate(found.items())
    ]
    steps = [str(number) for number in range(1, TENTHS + 1)]
    plot = Plot(f"{name}: the drifting stream", Axis("tenth", steps=steps), Axis("R1"), series)
    return Figure(plot, "Progressive R1. Features change after the fifth tenth.", own_legend=True)


def main() -> None:
    parser = parser_of(__doc__, SETS)
    parser.add_argument("--rows", type=int, default=200_000, help="most rows of a set")
    parser.add_argument("--changed", type=float, default=0.3, help="share of features that change")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learner", action="append", metavar="SPEC", help="in place of the usual")
    parser.add_argument("--memory", action="store_true", help="memories of ff, not learners")
    given = parser.parse_args()
    learners = [Options.parse(each) for each in given.learner or LEARNERS]
    if given.memory:
        learners = [each for one in MARGIN_THRESHOLDS for each in memories(one).values()]
    study = Study("manyclass.evaluation.studies.drift", given)
    results = list[Measured]()
    for name in given.sets:
        rows = sets.read(name, given.data).rows
        if len(rows) > given.rows:
            rows = rows.shuffled(0).take(np.arange(given.rows))
        found = measure(rows, learners, given.seed, given.changed)
        results.append(found)
        heard(name, len(results))
        title = f"{name}: {len(rows):,} rows, {len(rows.classes):,} classes; progressive R1"
        study.show(table_of(title, found))
        if not given.memory:
            study.figures.append(curve_of(name, found))
    means = {options: Kept.mean([found[options] for found in results]) for options in learners}
    study.show(table_of(f"Mean over {len(results)} sets; progressive R1", means))
    if given.memory:
        rows_of = [
            [Cell(str(one)), Cell(str(recommend(results, one) or "infinite"))]
            for one in MARGIN_THRESHOLDS
        ]
        study.show(
            Table("Recommended FEATURE_MEMORY", ["margin_threshold", "memory"], rows_of, [-1, -1])
        )
    study.write()


if __name__ == "__main__":
    main()
