"""The accuracy rows of Madani et al., JMLR 2009: one pass of FF over a shuffled stream.

Words: Jane Austen, 90/10, margin threshold 0. Newsgroups: 20 Newsgroups, 80/20, margin threshold
0.5. Minimum weight 0.01, outdegree 25, l2, no limit on memory, as there.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from time import process_time

from benchmarks import data
from benchmarks.learner import Learner
from benchmarks.report import Report, add_json_option, spread
from manyclass.core.learners.options import Options
from manyclass.evaluation import readers
from manyclass.training.rows import Rows


@dataclass(frozen=True)
class Row:
    """A row of the paper's tables, and its protocol."""

    name: str
    training_share: float
    margin_threshold: float
    shuffles: int
    paper: dict[str, float]


ROWS = [
    Row("words", 0.9, 0.0, 3, {"R1": 0.272, "R5": 0.480, "d": 8.7}),
    Row("newsgroups", 0.8, 0.5, 10, {"R1": 0.865}),
]


@dataclass(frozen=True)
class Trained:
    """The accuracy and cost of one pass over a training share."""

    r1: float
    r5: float
    touched: float  # edges per known active feature when ranking
    edges: int
    seconds: float


def train_and_test(rows: Rows, share: float, options: Options) -> Trained:
    """Learn the first share of the rows once, then rank the others."""
    training, held_out = rows.split(share)
    learner = Learner(rows, options)
    begin = process_time()
    learner.learn(training)
    seconds = process_time() - begin
    index = learner.index
    active, touched = index.active_features_ranked, index.edges_touched
    hits = learner.hits(held_out, 5)
    return Trained(
        r1=float(hits[:, 0].mean()),
        r5=float(hits.any(axis=1).mean()),
        touched=(index.edges_touched - touched) / (index.active_features_ranked - active),
        edges=index.edges,
        seconds=seconds,
    )


def measure(row: Row, rows: Rows, shuffles: int) -> list[dict[str, str | int | float | None]]:
    options = Options.of(
        "ff", margin_threshold=row.margin_threshold, feature_memory=0, sublinear=False
    )
    runs = [
        train_and_test(rows.shuffled(seed), row.training_share, options) for seed in range(shuffles)
    ]
    return [
        {
            "": f"{row.name}, {shuffles} shuffles",
            "R1": spread([run.r1 for run in runs], 4),
            "R5": spread([run.r5 for run in runs], 4),
            "d": spread([run.touched for run in runs], 2),
            "|W|": spread([run.edges for run in runs], 0),
            "T_train s": spread([run.seconds for run in runs], 2),
            "instances": len(rows),
            "features": len(rows.features),
            "classes": len(rows.classes),
            "active": len(rows.indices) / len(rows),
        },
        {
            "": "  in the paper",
            **{name: row.paper.get(name) for name in ("R1", "R5", "d")},
            **dict.fromkeys(("|W|", "T_train s", "instances", "features", "classes", "active")),
        },
    ]


def main(options: Namespace) -> None:
    report = Report(options)
    for row in ROWS:
        rows = data.SETS[row.name](options.data)
        report.table(row.name, measure(row, rows, options.shuffles or row.shuffles))
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--shuffles", type=int, help="orders to average over (fixed seeds)")
    main(parser.parse_args())
