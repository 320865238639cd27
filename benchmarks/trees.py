"""The cost of growing a label tree: an `oplt` beside an IPLT on its final tree.

Jasinska-Kobus et al. (Online Probabilistic Label Trees) prove that time and memory of the two are
within a constant factor; this measures the factor. The IPLT has the shape of the grown tree, but
no weights, and learns the same stream; every row checks that both then rank alike, score by score.
Before an instance is learned, only its first class is ranked, so the time is mostly that
of learning. A second table compares the microseconds of an instance with other learners and
napkinXC's OPLT.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.learner import BoundLearner, names_of, rows_of
from benchmarks.report import Cell, Report, add_json_option
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.evaluation import datasets, readers
from manyclass.evaluation.cost import mean_seconds_of, timed
from manyclass.evaluation.estimator import Estimator
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.run import ANSWERED
from manyclass.training.rows import Rows
from studies.peers import PEERS, PeerMissing

CLASS_COUNTS: Final = (100, 1_000, 10_000)
INSTANCES_OF_A_CLASS: Final = 10
YSO_ROWS: Final = (2_000, 8_000, 32_000)
TREES: Final = ("oplt(retrieval_window=1)", "oplt(policy=random,retrieval_window=1)")
LEARNERS: Final = ("oplt", "oplt(policy=random)", "iplt", "ff", "svm(replay=0)", "svm")
PEERS_TIMED: Final = ("napkinxc-oplt-16+tfidf", "napkinxc-oplt+tfidf")
CHECKED: Final = 200  # instances on which both trees must rank alike

State = dict[str, NDArray[np.generic]]


def synthetic(class_count: int) -> Rows:
    """Return instances with two of three features of their class, and three of 900 others."""
    random = np.random.default_rng(class_count)
    count = class_count * INSTANCES_OF_A_CLASS
    classes = random.integers(0, class_count, count)
    signs = 3 * classes[:, None] + np.array([[0, 1], [0, 2], [1, 2]])[random.integers(0, 3, count)]
    noise = 3 * class_count + random.integers(0, 300, (count, 3)) + np.array([0, 300, 600])
    features = np.concatenate([signs, noise], axis=1)
    names = names_of("feature", 3 * class_count + 900)
    return rows_of(names, features, names_of("class", class_count), classes[:, None])


def untrained(state: State) -> State:
    """Return the state of an untrained tree of the same shape, as an incremental one has.

    Inner nodes do not grow any more, pre-leaves do.
    """
    emptied = {name: section.copy() for name, section in state.items()}
    is_preleaf = emptied["node_kinds"] & 1
    emptied["node_kinds"] = 3 * is_preleaf
    seen = ("feature_times_seen", "feature_last_seen", "class_learned", "class_last_learned")
    for counted in ("node_blocks", *seen):
        emptied[counted][:] = 0
    for run in ("block_features", "block_weights", "tree_weights", "tree_squares"):
        emptied[run] = emptied[run][:0]
    emptied["counts"][:2] = 0  # learned, counted
    return emptied


def taught(rows: Rows, options: Options) -> tuple[BoundLearner, float]:
    """Return a learner that learned the rows, and the CPU seconds."""
    bound = BoundLearner(rows, options)
    _, seconds = timed(partial(bound.learn, rows))
    return bound, seconds


def on_final_tree(rows: Rows, grown: BoundLearner) -> tuple[BoundLearner, float]:
    """Return a learner whose tree begins with the final shape of `grown`, and the seconds."""
    bound = BoundLearner(rows, grown.learner.options)
    bound.learner = Learner.load(grown.learner.options, untrained(grown.learner.dump()))
    _, seconds = timed(partial(bound.learn, rows))
    return bound, seconds


def ranks_alike(one: BoundLearner, other: BoundLearner, rows: Rows) -> bool:
    """Return whether both rank the first rows alike, score by score."""
    some = rows.take(np.arange(min(CHECKED, len(rows))))
    return all(map(np.array_equal, one.rank(some), other.rank(some)))


def efficiency(name: str, rows: Rows, options: Options) -> dict[str, Cell]:
    """Return CPU time and memory of a growing tree over those of its final shape."""
    grown, growing = taught(rows, options)
    fixed, learning = on_final_tree(rows, grown)
    return {
        "stream": name,
        "policy": options.policy,
        "instances": len(rows),
        "classes": grown.learner.classes,
        "grown s": growing,
        "fixed s": learning,
        "time ratio": growing / max(learning, 1e-9),
        "grown MB": grown.learner.bytes / 1e6,
        "fixed MB": fixed.learner.bytes / 1e6,
        "memory ratio": grown.learner.bytes / fixed.learner.bytes,
        "rank alike": "yes" if ranks_alike(grown, fixed, rows) else "no",
    }


def speed(name: str, estimator: Estimator, training: Rows, test: Rows) -> dict[str, Cell]:
    """Return CPU microseconds to learn a row, and to rank one."""
    _, learning = timed(partial(estimator.fit, training))
    ranking = mean_seconds_of(partial(estimator.rank, test, ANSWERED))
    return {
        "learner": name,
        "learn µs": learning / len(training) * 1e6,
        "rank µs": ranking / len(test) * 1e6,
        "MB": estimator.bytes() / 1e6,
    }


def speeds(
    training: Rows, test: Rows, learners: Sequence[str], peers: Sequence[str]
) -> tuple[list[dict[str, Cell]], list[str]]:
    """Return the speed of each, and the peers that are not installed."""
    made: list[tuple[str, Callable[[], Any]]] = [
        (each, partial(LearnerEstimator, training, Options.parse(each))) for each in learners
    ]
    made += [(each, partial(PEERS[each], 0)) for each in peers]
    rows, missing = list[dict[str, Cell]](), list[str]()
    for name, make in made:
        try:
            rows.append(speed(name, make(), training, test))
        except PeerMissing as error:
            missing.append(f"{name} {error}")
    return rows, missing


def yso(data: Path) -> Rows:
    """Return titles and their subjects, in one order."""
    return datasets.read("yso", data).rows.shuffled(0)


def main(options: Namespace) -> None:
    report = Report(options)
    titles = yso(options.data)
    streams = [("synthetic", synthetic(count)) for count in CLASS_COUNTS]
    streams += [("yso", titles.take(np.arange(count))) for count in YSO_ROWS]
    report.table(
        "A growing tree over an IPLT on its final tree",
        [efficiency(name, rows, Options.parse(each)) for name, rows in streams for each in TREES],
    )
    training = titles.take(np.arange(options.rows))
    test = titles.take(np.arange(options.rows, options.rows + 2_000))
    rows, missing = speeds(training, test, LEARNERS, PEERS_TIMED)
    report.table(f"CPU time an instance: yso, {options.rows:,} rows learned, 2,000 ranked", rows)
    for each in missing:
        report.say(each)
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--rows", type=int, default=10_000, help="learned for the second table")
    main(parser.parse_args())
