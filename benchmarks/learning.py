"""Costs of learning an event beside `Learner.rank` of an instance (k = 5), in one process.

A model learns the training rows of a set in order. The last of them are timed, in turns of a
hundred with as many test rows, Python's collector off; figures are medians of the turns, so that a
busy machine is busy for both. One model applies each event by itself, another a hundred as a batch,
which is how a service applies plain events.
"""

import gc
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import cycle, islice
from statistics import median
from time import process_time

from benchmarks.report import Cell, Figures, Report, add_json_option
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.evaluation import datasets, readers
from manyclass.training.rows import Rows

ONE_LABEL, SEVERAL_LABELS = 4.0, 8.0  # limits of learning ÷ ranking
LIMIT_OF_FF = 2.0
ONE_LABEL_SETS = ("clinc", "newsgroups", "cpv")
LIMITS = {
    "svm": {**dict.fromkeys(ONE_LABEL_SETS, ONE_LABEL), "eurlex": SEVERAL_LABELS},
    "ff": dict.fromkeys(ONE_LABEL_SETS, LIMIT_OF_FF),
}
TIMED, TURN = 3000, 100


def events_of(rows: Rows) -> Iterable[Event]:
    for features, classes in rows:
        yield Event.learn(Instance(features), classes)


def microseconds(call: Callable[[], object], count: int) -> float:
    """Return the CPU time of a call for each of `count`."""
    begin = process_time()
    call()
    return (process_time() - begin) / count * 1e6


def apply_each(model: Model, events: Sequence[Event]) -> None:
    for event in events:
        model.apply(model.seq + 1, event)


def apply_as_batch(model: Model, events: Sequence[Event]) -> None:
    batch = EventBatch()
    for event in events:
        batch.add(event.instance, event.classes)
    batch.begin(model.seq + 1)
    while batch.learned < len(batch):
        model.apply_batch(batch, seconds=1.0)


def rank_all(learner: Learner, instances: Sequence[Instance]) -> None:
    for instance in instances:
        learner.rank(instance, 5)


def measure(training: Rows, test: Rows, specification: str) -> Figures:
    """Return the CPU times of learning and ranking an instance, and their ratios."""
    each, batched = Model(Options.parse(specification)), Model(Options.parse(specification))
    learner = each.learner
    events = list(events_of(training))
    tested = cycle([Instance(features) for features, _ in islice(test, TIMED)])
    apply_each(each, events[:-TIMED])
    apply_as_batch(batched, events[:-TIMED])
    learned, learned_batched, ranked = [], [], []
    gc.disable()
    ways = [(apply_each, each, learned), (apply_as_batch, batched, learned_batched)]
    for begin in range(max(len(events) - TIMED, 0), len(events), TURN):
        turn = events[begin : begin + TURN]
        instances = list(islice(tested, len(turn)))
        for way, model, found in ways:
            found.append(microseconds(partial(way, model, turn), len(turn)))
        ranked.append(microseconds(partial(rank_all, learner, instances), len(turn)))
        ways.reverse()  # the first one of a turn brings the events into the caches
    gc.enable()

    def beside_ranking(costs: Sequence[float]) -> float:
        return median(cost / rank for cost, rank in zip(costs, ranked, strict=True))

    return {
        "labels": len(training.class_indices) / len(training),
        "rank µs": median(ranked),
        "learn µs": median(learned),
        "batch µs": median(learned_batched),
        "learn / rank": beside_ranking(learned),
        "batch / rank": beside_ranking(learned_batched),
    }


def main(options: Namespace) -> None:
    report = Report(options)
    learners = options.learner or list(LIMITS)
    found: dict[str, list[dict[str, Cell]]] = {learner: [] for learner in learners}
    for name in options.set or LIMITS["svm"]:
        training, test = datasets.read(name, options.data).split(seed=0)
        for learner in learners:
            found[learner].append({"set": name, **measure(training, test, learner)})
    for learner, rows in found.items():
        report.table(f"Learning an event beside ranking an instance, {learner}", rows)
    for learner, rows in found.items():
        for row in rows:
            name = str(row["set"])
            if name in LIMITS.get(learner, {}):
                ratio = float(row["learn / rank"] or 0)
                report.limit(f"{learner}, {name}, learn / rank", ratio, LIMITS[learner][name])
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--learner", action="append", metavar="SPEC", help="instead of svm and ff")
    parser.add_argument("--set", action="append", metavar="NAME", help="instead of the usual four")
    main(parser.parse_args())
