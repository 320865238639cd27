"""Few-shot progress: R1 against the number of instances where classes arrive all the time.

In kind figure 1 of the poster of Jasinska-Kobus et al. (Online Probabilistic Label Trees). Every
instance has one class, the first that its set gives it. A class arrives at any time of the first
nine tenths, and its instances are spread evenly from there to the end: as instances grow more
frequent with the classes, the last class arrives when three quarters of them are over. Each is
ranked before it is learned, once. Beside our learners stands a contextual memory tree (Vowpal
Wabbit's `--memory_tree`), online as well. R1 is counted over the whole stream, over its last tenth,
and over the instances whose class had come one to five times.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.cost import timed
from manyclass.evaluation.figures import Figure
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.peers import PeerMissing
from manyclass.evaluation.peers.vw import MemoryTree
from manyclass.evaluation.plot import Axis, Plot, Point, Series
from manyclass.evaluation.report import Cell, Table, best_of
from manyclass.evaluation.studies.study import Study, heard, parser_of
from manyclass.evaluation.writing import short
from manyclass.training.rows import Rows

SETS: Final = ("clinc", "cpv", "yso")
LEARNERS: Final = (
    "oplt",
    "oplt(policy=random)",
    "ff",
    "pa(sublinear=yes,tfidf=yes)",
    "arow(sublinear=yes,tfidf=yes)",
    "svm",
)
MEMORY_TREE: Final = "vw-memory-tree"
LAST_ARRIVAL: Final = 0.9  # of the time
FEW: Final = 5  # earlier instances of a class
POINTS: Final = 20  # of a curve

Streamed = Callable[[Rows, int], NDArray[np.int32]]  # the number is a seed
PEERS: Final[dict[str, Streamed]] = {
    MEMORY_TREE: lambda rows, seed: MemoryTree(MEMORY_TREE, seed).stream(rows)
}


def of_one_class(rows: Rows) -> Rows:
    """The rows, each with the first of its classes only."""
    return replace(
        rows,
        class_indptr=np.arange(len(rows) + 1, dtype=np.int64),
        class_indices=rows.class_indices[rows.class_indptr[:-1]],
    )


def arriving(rows: Rows, seed: int) -> Rows:
    """Rows of one class each as a stream in which classes arrive for most of its length."""
    random = np.random.default_rng(seed)
    arrival = random.uniform(0, LAST_ARRIVAL, len(rows.classes))
    when = random.uniform(arrival[rows.class_indices], 1)
    return rows.take(np.argsort(when))


def seen_before(rows: Rows) -> NDArray[np.int64]:
    """How often the class of each row, which has one, came before it."""
    order = np.argsort(rows.class_indices, kind="stable")
    ordered = rows.class_indices[order]
    seen = np.empty(len(rows), np.int64)
    seen[order] = np.arange(len(rows)) - np.searchsorted(ordered, ordered)
    return seen


@dataclass(frozen=True)
class Progress:
    """R1 of a learner along a stream."""

    so_far: tuple[float, ...]  # R1 of all instances up to each of the POINTS
    latest: tuple[float, ...]  # R1 of those since the point before
    of_few: float  # R1 where the class had come one to FEW times
    seconds: float  # CPU seconds to rank and learn all of it

    @classmethod
    def of(cls, ranks: NDArray[np.int32], seen: NDArray[np.int64], seconds: float) -> "Progress":
        """From the rank of each true class and how often it had come."""
        right = ranks == 1
        parts = [part for part in np.array_split(right, POINTS) if len(part)]
        ends = np.cumsum([len(part) for part in parts])
        sums = np.cumsum([part.sum() for part in parts])
        few = (seen > 0) & (seen <= FEW)
        return cls(
            tuple((sums / ends).tolist()),
            tuple(float(part.mean()) for part in parts),
            float(right[few].mean()) if few.any() else 0.0,
            seconds,
        )

    @property
    def last_tenth(self) -> float:
        """R1 over the last tenth of the stream."""
        last = self.latest[-max(POINTS // 10, 1) :]
        return sum(last) / len(last)


Measured = Mapping[str, Progress]


def measure(
    stream: Rows, learners: Sequence[Options], peers: Mapping[str, Streamed], seed: int
) -> tuple[dict[str, Progress], list[str]]:
    """The progress of each by its name, and which peers could not be had."""
    seen = seen_before(stream)
    found, missing = dict[str, Progress](), list[str]()
    for options in learners:
        learner = Indexed(stream, options)
        ranks, seconds = timed(partial(learner.learn, stream))
        found[options.specification] = Progress.of(ranks, seen, seconds)
        heard(options.specification, 1)
    for name, streamed in peers.items():
        try:
            ranks, seconds = timed(partial(streamed, stream, seed))
        except PeerMissing as error:
            missing.append(f"{name} {error}")
        else:
            found[name] = Progress.of(ranks, seen, seconds)
            heard(name, 1)
    return found, missing


def title_of(name: str, stream: Rows) -> str:
    """The set, what its stream is made of, and the most that can be had: no class is known new."""
    new = float((seen_before(stream) == 0).mean())
    size = f"{len(stream):,} instances of {len(np.unique(stream.class_indices)):,} classes"
    return f"{name}: {size}; {new:.1%} of them are the first of their class"


def table_of(title: str, found: Measured, missing: Sequence[str]) -> Table:
    """A row for each learner."""
    rows = [
        [
            Cell(name),
            *(Cell(f"{each:.4f}", each) for each in (it.so_far[-1], it.last_tenth, it.of_few)),
            Cell(short(it.seconds), it.seconds),
        ]
        for name, it in found.items()
    ]
    columns = ["learner", "R1", "its last tenth", f"seen 1 to {FEW} times", "T s"]
    best = [best_of([row[at] for row in rows], "more") for at in (1, 2, 3)]
    best.append(best_of([row[4] for row in rows], "less"))
    return Table(title, columns, rows, [-1, *best], list(missing))


def curves_of(name: str, found: Measured, instances: int) -> list[Figure]:
    """R1 so far, and R1 of the latest instances, against the number of instances."""
    step = max(instances // POINTS, 1)
    kinds: list[tuple[str, Callable[[Progress], Sequence[float]]]] = [
        ("all instances so far", lambda it: it.so_far),
        (f"the last {step:,} instances", lambda it: it.latest),
    ]
    return [
        Figure(
            Plot(
                f"{name}: R1 of {kind}",
                Axis("instances learned"),
                Axis("R1"),
                [
                    Series(each, _points(curve(it), instances), colour)
                    for colour, (each, it) in enumerate(found.items())
                ],
            ),
            "Classes arrive all the time. Each instance was ranked before it was learned.",
            own_legend=True,
        )
        for kind, curve in kinds
    ]


def _points(curve: Sequence[float], instances: int) -> list[Point]:
    places = [round(instances * at / len(curve)) for at in range(1, len(curve) + 1)]
    return [
        Point(place, r1, note=f"{place:,} instances: R1 {r1:.3f}")
        for place, r1 in zip(places, curve, strict=True)
    ]


def main(given: Namespace) -> None:
    study = Study("manyclass.evaluation.studies.fewshot", given)
    learners = [Options.parse(each) for each in given.learner or LEARNERS]
    for name in given.sets:
        rows = of_one_class(sets.read(name, given.data).rows)
        if len(rows) > given.rows:
            rows = rows.shuffled(0).take(np.arange(given.rows))
        stream = arriving(rows, given.seed)
        found, missing = measure(stream, learners, PEERS, given.seed)
        study.show(table_of(title_of(name, stream), found, missing))
        study.figures += curves_of(name, found, len(stream))
    study.write()


if __name__ == "__main__":
    parser = parser_of(__doc__, SETS)
    parser.add_argument("--rows", type=int, default=50_000, help="most rows of a set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learner", action="append", metavar="SPEC", help="in place of the usual")
    main(parser.parse_args())
