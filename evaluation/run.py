"""One run: a contender is trained on some rows and tested on others, and what that took."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation.contender import Contender, UsesTaxonomy
from manyclass.evaluation.cost import mean_seconds_of, timed
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.measures import Truth, best_ranks, by_ranks, hits_of, measures
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows

RETRIEVED = 50  # places looked at for MRR; the paper's FF looks for a true class among as many
ANSWERED = 5  # places of the rankings whose speed is measured
TRAINING_ROWS = 20_000  # at most so many, drawn at random, are ranked for the training accuracy
SEGMENTS = 50  # of a stream, for its curve


@dataclass(frozen=True)
class Pass:
    """What stands after so many passes over the training rows.

    Peers are trained in one go: their only pass is number 1, and they have no edges.
    """

    number: int
    train_seconds: float  # CPU seconds since the training began
    test: dict[str, float]
    training: dict[str, float]  # R1, R5, R10, MRR and HR on rows that were learned
    bytes: int
    edges: int | None = None
    touched: float | None = None  # d: edges touched per known active feature when ranking


@dataclass(frozen=True)
class Stream:
    """Progressive accuracy: every instance was ranked before it was learned."""

    overall: dict[str, float]
    curve: dict[str, list[float]]  # "learned": the end of each segment; "R1", "R5", "MRR" within it
    seconds: float  # CPU seconds to rank and learn it all
    edges: int
    bytes: int

    @classmethod
    def of(cls, ranks: NDArray[np.int32], seconds: float, taught: Indexed) -> "Stream":
        """The accuracy that the ranks of a stream give, 0 being not retrieved."""
        segments = [part for part in np.array_split(ranks, min(SEGMENTS, len(ranks))) if len(part)]
        each = [by_ranks(part) for part in segments]
        curve = {name: [found[name] for found in each] for name in ("R1", "R5", "MRR")}
        learned = np.cumsum([len(part) for part in segments]).tolist()
        return cls(
            by_ranks(ranks),
            {"learned": learned, **curve},
            seconds,
            taught.learner.edges,
            taught.bytes(),
        )


@dataclass(frozen=True)
class Outcome:
    """What one run came to."""

    seed: int
    passes: list[Pass]
    ranks_per_second: float | None = None  # test rows in a CPU second, their best 5 classes
    stream: Stream | None = None  # of the first pass

    @property
    def seconds(self) -> float | None:
        """CPU seconds of the whole training, or of the stream where nothing was tested."""
        if self.passes:
            return self.passes[-1].train_seconds
        return self.stream.seconds if self.stream else None

    @property
    def bytes(self) -> int | None:
        """Of the model at the end."""
        if self.passes:
            return self.passes[-1].bytes
        return self.stream.bytes if self.stream else None


def train_and_test(
    options: Options,
    training: Rows,
    test: Rows,
    passes: int = 1,
    seed: int = 0,
    taxonomy: Taxonomy | None = None,
    shuffle: bool = True,
) -> Outcome:
    """One of our learners, tested after each pass over the training rows.

    The first pass is in their order; each other is shuffled anew, or without `shuffle` the same. A
    label tree that is planted is so over the training rows: its stream has been told their classes.
    """
    learner = Indexed(training, options, seed=seed, shuffle=shuffle)
    probe = _Probe.of(training, test, seed, taxonomy)
    _, seconds = timed(lambda: learner.plant(training))
    done = list[Pass]()
    stream: Stream | None = None
    for number in range(1, passes + 1):
        ranks, spent = timed(lambda: learner.learn(training))
        seconds += spent
        stream = stream or Stream.of(ranks, seconds, learner)
        done.append(_with_work(learner, probe, number, seconds))
    return Outcome(seed, done, _speed(learner, test), stream)


def fit_and_test(
    contender: Contender,
    training: Rows,
    test: Rows,
    seed: int = 0,
    taxonomy: Taxonomy | None = None,
) -> Outcome:
    """Any contender, tested once it is trained; it is told the taxonomy where it can use one."""
    if taxonomy is not None and isinstance(contender, UsesTaxonomy):
        contender.use(taxonomy)
    _, seconds = timed(lambda: contender.fit(training))
    probe = _Probe.of(training, test, seed, taxonomy)
    return Outcome(seed, [probe.passed(contender, 1, seconds)], _speed(contender, test))


def stream_through(options: Options, rows: Rows, seed: int = 0) -> Outcome:
    """One of our learners over a stream, each row ranked before it is learned; no testing."""
    learner = Indexed(rows, options)
    ranks, seconds = timed(lambda: learner.learn(rows))
    return Outcome(seed, [], stream=Stream.of(ranks, seconds, learner))


@dataclass(frozen=True)
class _Probe:
    """The rows that a contender is asked about after each pass."""

    test: Rows
    truth: Truth
    training: Rows  # a sample of what was learned
    training_truth: Truth
    taxonomy: Taxonomy | None

    @classmethod
    def of(cls, training: Rows, test: Rows, seed: int, taxonomy: Taxonomy | None) -> "_Probe":
        sample = training
        if len(training) > TRAINING_ROWS:
            chosen = np.random.default_rng(seed).choice(len(training), TRAINING_ROWS, replace=False)
            sample = training.take(np.sort(chosen))
        return cls(test, Truth.of(test, training), sample, Truth.of(sample, training), taxonomy)

    def passed(self, contender: Contender, number: int, seconds: float) -> Pass:
        """The contender as it stands after this pass."""
        ranking = contender.rank(self.test, RETRIEVED)
        learned = hits_of(contender.rank(self.training, RETRIEVED), self.training_truth)
        return Pass(
            number,
            seconds,
            measures(ranking, self.truth, self.taxonomy),
            by_ranks(best_ranks(learned)),
            contender.bytes(),
        )


def _with_work(taught: Indexed, probe: _Probe, number: int, seconds: float) -> Pass:
    """The same of one of our learners, with its edges and what it touches of them."""
    active, touched = taught.learner.active_features_ranked, taught.learner.edges_touched
    taught.rank(probe.test, ANSWERED)
    active = taught.learner.active_features_ranked - active
    touched = taught.learner.edges_touched - touched
    passed = probe.passed(taught, number, seconds)
    return replace(passed, edges=taught.learner.edges, touched=touched / max(active, 1))


def _speed(contender: Contender, test: Rows) -> float:
    """Test rows ranked in a CPU second."""
    return len(test) / mean_seconds_of(lambda: contender.rank(test, ANSWERED))
