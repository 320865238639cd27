"""Learners on a steady and on a drifting stream, and the memory of FF that suits both.

The drifting stream: half of the classes exist from the start, the others arrive one by one until
its last tenth; in its middle 30 % of the features exchange their meanings. The steady stream is the
same data, shuffled. Every instance is ranked before it is learned, once.

The default memory follows this rule: among those whose mean loss on the steady streams is at most
1 % of R1 with infinite memory, the one with the best mean R1 on the drifting streams' second
halves; among those within 0.2 % of the best, the largest.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from manyclass.core.learners.options import Options
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Plot, Record, Study, trials
from studies.samples import as_stream

DATASETS: Final = ("words", "newsgroups", "clinc", "banking", "cpv")
LEARNERS: Final = (
    "ff(sublinear=no,mass_cap=0)",
    "ff(sublinear=no)",
    "ema",
    "ema(rate=0.3)",
    "pa",
    "pa(sublinear=yes,tfidf=yes)",
    "svm(replay=0)",
    "svm",
    "svm(replay_size=1000)",
)
MEMORIES: Final = [
    f"ff(margin_threshold={margin},mass_cap={memory},sublinear=no)"
    for margin in ("0", "0.1", "0.5")
    for memory in (0, 10, 30, 100, 300, 1_000, 3_000, 10_000)
]
CHANGED: Final = 0.3  # share of the features
LAST_ARRIVAL: Final = 0.9  # of the time
TENTHS: Final = 10


def drifting(rows: Rows, seed: int, changed: float) -> Rows:
    """Return the rows as a stream with arriving classes and a share of changing features."""
    random = np.random.default_rng(seed)
    arrival = random.uniform(-LAST_ARRIVAL, LAST_ARRIVAL, len(rows.classes)).clip(0)
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


def progressive(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield R1 on both streams, then R1 in each tenth of the drifting one."""
    options = Options.parse(name)
    streams = data.rows.shuffled(seed), drifting(data.rows, seed, CHANGED)
    steady, drift = (LearnerEstimator(each, options).learn(each) == 1 for each in streams)
    yield {
        "steady": float(steady.mean()),
        "drifting": float(drift.mean()),
        "its 2nd half": float(drift[len(drift) // 2 :].mean()),
    }
    for tenth, part in enumerate(np.array_split(drift, TENTHS), 1):
        yield {"tenth": tenth, "R1": float(part.mean())}


MEASURES: Final = ["steady", "drifting", "its 2nd half"]
TABLES: Final = [
    Pivot("progressive R1", MEASURES, digits=4),
    Pivot("Mean over the data sets, progressive R1", MEASURES, each="", digits=4),
]

STUDY: Final = Study(
    "A drifting stream",
    trials(DATASETS, LEARNERS),
    progressive,
    TABLES,
    [Plot("the drifting stream", "tenth", "R1", along="tenth")],
    rows=200_000,
    prepare=as_stream,
)
MEMORY: Final = replace(
    STUDY,
    about="The memory of FF on a drifting stream",
    trials=trials(DATASETS, MEMORIES),
    plots=(),
)
