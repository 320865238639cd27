"""The cost of a committee beside the sum of its members', each learning and ranking on its own.

CPU time on one thread: rows through CSR arrays, and instances one at a time. If votes cost nothing,
the ratio would be 1. A learner alone ranks an instance once, while it learns it; in a committee
each member ranks it before that too, for the vote.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Final

import numpy as np

from benchmarks.learner import names_of, rows_of
from benchmarks.report import Cell, Figures, Report, add_json_option
from benchmarks.trees import synthetic
from manyclass.core.columns import Columns
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.evaluation import datasets, readers
from manyclass.evaluation.cost import mean_seconds_of, timed
from manyclass.training.rows import Rows

BY_SCORE: Final = "committee(members=svm+arow(sublinear=yes,tfidf=yes)+ff,vote=score)"
BY_PROBABILITY: Final = (
    "committee(members=iplt+iplt+iplt,vote=probability)",
    "committee(members=oplt+oplt+oplt,vote=probability)",
)
ALONE: Final = 2_000  # instances that are learned and ranked one at a time
ANSWERED: Final = 5  # classes of a ranking
STEPS: Final = ("learn_csr", "rank_csr", "learn", "rank")


def texts(class_count: int, count: int) -> Rows:
    """Return instances like short texts: 4 of 30 words of their class, and 8 common ones."""
    random = np.random.default_rng(class_count)
    classes = random.integers(0, class_count, count)
    own = 30 * classes[:, None] + random.permuted(np.tile(np.arange(30), (count, 1)), axis=1)[:, :4]
    common = (500 * random.random((count, 8)) ** 3).astype(int) + 500 * np.arange(8)
    features = np.concatenate([own, 30 * class_count + common], axis=1)
    names = names_of("word", 30 * class_count + 4_000)
    return rows_of(names, features, names_of("class", class_count), classes[:, None])


def microseconds_of(options: Options, training: Rows, test: Rows) -> Figures:
    """Return CPU microseconds a row of each step, by a new learner."""
    learner = make(options)
    features, classes = Columns(training.features), Columns(training.classes)
    labelled = training.labelled(features, classes)
    learner.build_csr(*labelled)
    _, learning = timed(partial(learner.learn_csr, *labelled))
    arrays = features, test.indptr, test.indices, test.values
    learner.rank_csr(*arrays, ANSWERED)  # ids of columns are looked up once
    ranking = mean_seconds_of(partial(learner.rank_csr, *arrays, ANSWERED))
    some = [(Instance(instance), true) for instance, true in test.take(np.arange(ALONE))]

    def rank() -> None:
        for instance, _ in some:
            learner.rank(instance, ANSWERED)

    def learn() -> None:
        for instance, true in some:
            learner.learn(instance, true)

    ranking_alone = mean_seconds_of(rank)
    _, learning_alone = timed(learn)
    rows = {"learn_csr": len(training), "rank_csr": len(test), "learn": ALONE, "rank": ALONE}
    spent = learning, ranking, learning_alone, ranking_alone
    return {step: each / rows[step] * 1e6 for step, each in zip(STEPS, spent, strict=True)}


def compared(options: Options, training: Rows, test: Rows, rounds: int) -> Sequence[Figures]:
    """Return the median microseconds of a row by the members together, and by the committee."""
    together, committee = list[Figures](), list[Figures]()
    for _ in range(rounds):
        members = [microseconds_of(each, training, test) for each in options.member_options]
        together.append({step: sum(each[step] for each in members) for step in STEPS})
        committee.append(microseconds_of(options, training, test))
    return [
        {step: median(each[step] for each in measured) for step in STEPS}
        for measured in (together, committee)
    ]


def table(rows: tuple[Rows, Rows], specification: str, rounds: int) -> list[dict[str, Cell]]:
    """Return a line for each step: microseconds of members and committee, and their ratio."""
    members, committee = compared(Options.parse(specification), *rows, rounds)
    return [
        {
            "step": step,
            "members µs": members[step],
            "committee µs": committee[step],
            "committee / members": committee[step] / members[step],
        }
        for step in STEPS
    ]


def main(options: Namespace) -> None:
    report = Report(options)
    linear, trees = texts(200, 10_000).split(0.7), synthetic(1_000).split(0.7)
    measured = [
        ("texts", linear, BY_SCORE),
        *(("synthetic", trees, each) for each in BY_PROBABILITY),
    ]
    try:
        clinc = datasets.read("clinc", options.data).split(0)
    except readers.DataMissing as missing:
        report.say(str(missing))
    else:
        measured += [("clinc", clinc, each) for each in (BY_SCORE, *BY_PROBABILITY)]
    for name, rows, specification in measured:
        report.table(f"{specification} on {name}", table(rows, specification, options.rounds))
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--rounds", type=int, default=5, help="whose medians are printed")
    main(parser.parse_args())
