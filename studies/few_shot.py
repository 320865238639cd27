"""Few-shot progress: R1 along a stream in which classes arrive all the time.

In kind figure 1 of the poster of Jasinska-Kobus et al. (Online Probabilistic Label Trees). Every
instance has one class, the first of its true classes. A class arrives at any time of the first nine
tenths, and its instances are spread evenly from there to the end: as instances grow more frequent
with the classes, the last class arrives when three quarters of them are over. Each is ranked before
it is learned, once. The contextual memory tree (Vowpal Wabbit's `--memory_tree`) is online as well.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation.cost import timed
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Plot, Record, Study, trials
from studies.peers.vw import MemoryTree
from studies.samples import as_stream

DATASETS: Final = ("clinc", "cpv", "yso")
MEMORY_TREE: Final = "vw-memory-tree"
LEARNERS: Final = (
    "oplt",
    "oplt(policy=random)",
    "ff",
    "pa(sublinear=yes,tfidf=yes)",
    "arow(sublinear=yes,tfidf=yes)",
    "svm",
)
LAST_ARRIVAL: Final = 0.9  # of the time
FEW: Final = 5  # earlier instances of a class
POINTS: Final = 20  # of a curve


def of_one_class(rows: Rows) -> Rows:
    """Return the rows, each with the first of its classes only."""
    return replace(
        rows,
        class_indptr=np.arange(len(rows) + 1, dtype=np.int64),
        class_indices=rows.class_indices[rows.class_indptr[:-1]],
    )


def arriving(rows: Rows, seed: int) -> Rows:
    """Return rows of one class each as a stream in which classes arrive for most of its length."""
    random = np.random.default_rng(seed)
    arrival = random.uniform(0, LAST_ARRIVAL, len(rows.classes))
    when = random.uniform(arrival[rows.class_indices], 1)
    return rows.take(np.argsort(when))


def seen_before(rows: Rows) -> NDArray[np.int64]:
    """Return the number of earlier rows with the class of each row, which has one class."""
    order = np.argsort(rows.class_indices, kind="stable")
    ordered = rows.class_indices[order]
    seen = np.empty(len(rows), np.int64)
    seen[order] = np.arange(len(rows)) - np.searchsorted(ordered, ordered)
    return seen


def progressive(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield R1 over the stream, then along it: of all rows so far, and of the latest ones."""
    stream = arriving(of_one_class(data.rows), seed)
    if name == MEMORY_TREE:
        learn = partial(MemoryTree(name, seed).stream, stream)
    else:
        learn = partial(LearnerEstimator(stream, Options.parse(name)).learn, stream)
    ranks, seconds = timed(learn)
    right, seen = ranks == 1, seen_before(stream)
    few = (seen > 0) & (seen <= FEW)
    yield {
        "R1": float(right.mean()),
        "its last tenth": float(right[-max(len(right) // 10, 1) :].mean()),
        f"seen 1 to {FEW} times": float(right[few].mean()) if few.any() else 0.0,
        "first of their class": float((seen == 0).mean()),
        "T s": seconds,
    }
    end = 0
    for part in np.array_split(right, POINTS):
        end += len(part)
        so_far, latest = float(right[:end].mean()), float(part.mean())
        yield {"instances learned": end, "R1 so far": so_far, "R1 of the latest": latest}


STUDY: Final = Study(
    "Few-shot progress (Jasinska-Kobus et al. 2021)",
    trials(DATASETS, [*LEARNERS, MEMORY_TREE]),
    progressive,
    [
        Pivot(
            "classes arrive all the time",
            ["R1", "its last tenth", f"seen 1 to {FEW} times", "first of their class", "T s"],
            digits=4,
        )
    ],
    [
        Plot("R1 of all instances so far", "instances learned", "R1 so far", "instances learned"),
        Plot("R1 of the latest", "instances learned", "R1 of the latest", "instances learned"),
    ],
    rows=50_000,
    prepare=as_stream,
)
