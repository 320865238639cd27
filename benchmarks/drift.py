"""Which FEATURE_MEMORY keeps up with a drifting stream, and what it costs on a steady one.

The drifting stream: half of the classes are there from the start, the others arrive one by one
until its last tenth; and in its middle a share of the features change their meaning (their names
are exchanged among them). The steady stream is the same data, shuffled. Both are learned once, in
order, every instance ranked before it is learned; R1 is over the stream and, drifting, over its
second half.

The rule: of the memories whose mean loss on the steady streams is at most 1 % of the R1 that
infinite memory has there, the one with the best mean R1 on the drifting streams' second halves;
of those within 0.2 % of the best, the largest, because more memory is a steadier vote.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks import data
from benchmarks.learner import Learner
from benchmarks.report import Cell, Report, add_json_option
from core.options import Options
from evaluation import readers
from training.rows import Rows

MEMORIES = [0, 10, 30, 100, 300, 1000, 3000, 10000]
MARGIN_THRESHOLDS = [0.0, 0.1, 0.5]
STEADY_LOSS = 0.01
AS_GOOD = 0.002


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


def progressive_r1(rows: Rows, options: Options, begin: float = 0.0) -> float:
    """The share of rows whose true class ranked first before it was learned, from `begin` on."""
    ranks = Learner(rows, options).learn(rows)
    return float((ranks[round(begin * len(ranks)) :] == 1).mean())


def measure(rows: Rows, seed: int, changed: float) -> dict[tuple[float, int], list[float]]:
    """(margin threshold, memory) -> R1 on the steady stream, drifting, drifting's second half."""
    steady, drift = rows.shuffled(seed), drifting(rows, seed, changed)
    found = {}
    for threshold in MARGIN_THRESHOLDS:
        for memory in MEMORIES:
            options = Options(margin_threshold=threshold, feature_memory=memory)
            found[threshold, memory] = [
                progressive_r1(steady, options),
                progressive_r1(drift, options),
                progressive_r1(drift, options, 0.5),
            ]
    return found


def recommend(results: list[dict[tuple[float, int], list[float]]], threshold: float) -> int:
    """The memory that the rule at the head of this module picks."""

    def share(memory: int, which: int) -> float:
        """Mean over the sets of R1 as a share of infinite memory's."""
        figures = [
            found[threshold, memory][which] / found[threshold, 0][which] for found in results
        ]
        return float(np.mean(figures))

    allowed = [memory for memory in MEMORIES if share(memory, 0) >= 1 - STEADY_LOSS]
    best = max(share(memory, 2) for memory in allowed)
    good = [memory for memory in allowed if share(memory, 2) >= best - AS_GOOD]
    return 0 if 0 in good else max(good)


def table_of(found: Mapping[tuple[float, int], Sequence[float]]) -> list[dict[str, Cell]]:
    return [
        {
            "margin": threshold,
            "memory": memory or "infinite",
            "steady": float(steady),
            "drifting": float(drift),
            "its 2nd half": float(second),
        }
        for (threshold, memory), (steady, drift, second) in found.items()
    ]


def main(options: Namespace) -> None:
    report = Report(options)
    results = []
    for name in options.sets:
        rows = data.SETS[name](options.data)
        if len(rows) > options.rows:
            rows = rows.shuffled(0).take(np.arange(options.rows))
        found = measure(rows, options.seed, options.changed)
        results.append(found)
        title = f"{name}: {len(rows):,} rows, {len(rows.classes):,} classes; progressive R1"
        report.table(title, table_of(found))
    means = {choice: np.mean([found[choice] for found in results], 0) for choice in results[0]}
    report.table("Means over the sets", table_of(means))
    report.table(
        "Recommended FEATURE_MEMORY",
        [
            {"margin": threshold, "memory": recommend(results, threshold) or "infinite"}
            for threshold in MARGIN_THRESHOLDS
        ],
    )
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--sets", nargs="+", choices=data.SETS, default=list(data.SETS))
    parser.add_argument("--rows", type=int, default=200_000, help="most rows of a set")
    parser.add_argument("--changed", type=float, default=0.3, help="share of features that change")
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
