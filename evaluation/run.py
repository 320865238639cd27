"""One run: train an estimator on some rows, test it on other rows, measure the cost."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyclass.core.calibration import MOST_OUTCOMES, Calibration
from manyclass.core.confidence_limits import drawn
from manyclass.core.expected_loss import ExpectedLoss
from manyclass.core.learners.options import Options
from manyclass.evaluation.cost import mean_seconds_of, timed
from manyclass.evaluation.estimator import Estimator, UsesTaxonomy
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import by_ranks, decoded_measures, hits_in, measures
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.accuracy import best_ranks
from manyclass.training.rows import Rows

RETRIEVED = 50  # ranks counted for MRR, as many as the paper's FF retrieves
ANSWERED = 5  # classes ranked when the speed is measured
TRAINING_ROWS = 20_000  # the largest random sample for training accuracy
SEGMENTS = 50  # points of the curve of a stream


@dataclass(frozen=True)
class Pass:
    """Accuracy and cost after a number of passes over the training rows.

    Peers have one pass and no edges.
    """

    number: int
    train_seconds: float  # CPU seconds since the training began
    test: dict[str, float]
    training: dict[str, float]  # R1, R5, R10, MRR and HR on a sample of the training rows
    bytes: int
    edges: int | None = None
    touched: float | None = None  # d: edges touched per known active feature when ranking


@dataclass(frozen=True)
class Stream:
    """Progressive accuracy: every instance is ranked before it is learned."""

    overall: dict[str, float]
    curve: dict[str, list[float]]  # "learned": the end of each segment; "R1", "R5", "MRR" within it
    seconds: float  # CPU seconds to rank and learn it all
    edges: int
    bytes: int
    # "answered": shares of the stream above falling limits of confidence; "right": of these
    answers: dict[str, list[float]]

    @classmethod
    def of(cls, ranks: NDArray[np.int32], seconds: float, learner: LearnerEstimator) -> "Stream":
        """Return the accuracy of the ranks (n,) of a stream; a rank of 0 means not retrieved."""
        segments = [part for part in np.array_split(ranks, min(SEGMENTS, len(ranks))) if len(part)]
        each = [by_ranks(part) for part in segments]
        curve = {name: [found[name] for found in each] for name in ("R1", "R5", "MRR")}
        learned = np.cumsum([len(part) for part in segments]).tolist()
        return cls(
            by_ranks(ranks),
            {"learned": learned, **curve},
            seconds,
            learner.learner.edges,
            learner.bytes(),
            _answers(ranks, learner.first_scores),
        )


def _answers(ranks: NDArray[np.int32], scores: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return how many rows of a stream are answered above a limit, and how many of these right."""
    calibration = Calibration()
    for (first, second), is_right in zip(scores.tolist(), (ranks == 1).tolist(), strict=True):
        calibration.add(first, second, is_right)
    curve = calibration.curve(MOST_OUTCOMES, {})
    points = [curve.points[at] for at in drawn(curve.points, curve.outcomes)]
    return {
        "answered": [each.answers / curve.outcomes for each in points],
        "right": [each.accuracy for each in points],
    }


@dataclass(frozen=True)
class Outcome:
    """The result of one run."""

    seed: int
    passes: list[Pass]
    ranks_per_second: float | None = None  # test rows ranked in a CPU second, with k = 5
    stream: Stream | None = None  # of the first pass

    @property
    def seconds(self) -> float | None:
        """Return the CPU seconds of the training, or of the stream without tests."""
        if self.passes:
            return self.passes[-1].train_seconds
        return self.stream.seconds if self.stream else None

    @property
    def bytes(self) -> int | None:
        """Return the bytes of the final model."""
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
    """Train a learner and test it after each pass over the training rows.

    The first pass is in the order of the rows; later passes shuffle them, unless `shuffle` is
    False. A learner that builds its label tree offline builds it over the classes of the training
    rows first. With a taxonomy, all classes are placed before, and rankings are decoded by expected
    losses that another learner of these options has fitted.
    """
    learner = LearnerEstimator(training, options, seed=seed, shuffle=shuffle)
    losses = None
    if taxonomy is not None:
        learner.use(taxonomy)
        losses = _losses(options, training, taxonomy)
    probe = _Probe.of(training, test, seed, taxonomy)
    _, seconds = timed(lambda: learner.build_tree(training))
    done = list[Pass]()
    stream: Stream | None = None
    for number in range(1, passes + 1):
        ranks, spent = timed(lambda: learner.learn(training))
        seconds += spent
        stream = stream or Stream.of(ranks, seconds, learner)
        done.append(_with_work(learner, probe, number, seconds, losses))
    return Outcome(seed, done, _speed(learner, test), stream)


def fit_and_test(
    estimator: Estimator,
    training: Rows,
    test: Rows,
    seed: int = 0,
    taxonomy: Taxonomy | None = None,
) -> Outcome:
    """Train an estimator and test it once; pass it the taxonomy if it can use one."""
    if taxonomy is not None and isinstance(estimator, UsesTaxonomy):
        estimator.use(taxonomy)
    _, seconds = timed(lambda: estimator.fit(training))
    probe = _Probe.of(training, test, seed, taxonomy)
    return Outcome(seed, [probe.passed(estimator, 1, seconds)], _speed(estimator, test))


def stream_through(
    options: Options, rows: Rows, seed: int = 0, taxonomy: Taxonomy | None = None
) -> Outcome:
    """Rank and then learn each row of a stream with one learner, without test rows."""
    learner = LearnerEstimator(rows, options)
    if taxonomy is not None:
        learner.use(taxonomy)
    ranks, seconds = timed(lambda: learner.learn(rows))
    return Outcome(seed, [], stream=Stream.of(ranks, seconds, learner))


@dataclass(frozen=True)
class _Probe:
    """The rows ranked after each pass."""

    test: Rows
    training: Rows
    sample: Rows  # of the training rows
    taxonomy: Taxonomy | None

    @classmethod
    def of(cls, training: Rows, test: Rows, seed: int, taxonomy: Taxonomy | None) -> "_Probe":
        sample = training
        if len(training) > TRAINING_ROWS:
            chosen = np.random.default_rng(seed).choice(len(training), TRAINING_ROWS, replace=False)
            sample = training.take(np.sort(chosen))
        return cls(test, training, sample, taxonomy)

    def passed(self, estimator: Estimator, number: int, seconds: float) -> Pass:
        """Return accuracy and size after this pass."""
        ranking = estimator.rank(self.test, RETRIEVED)
        learned = hits_in(estimator.rank(self.sample, RETRIEVED), self.sample)
        return Pass(
            number,
            seconds,
            measures(ranking, self.test, self.training, self.taxonomy),
            by_ranks(best_ranks(learned)),
            estimator.bytes(),
        )


def _losses(options: Options, training: Rows, taxonomy: Taxonomy) -> ExpectedLoss:
    """Return expected losses fitted by a separate learner."""
    learner = LearnerEstimator(training, options)
    learner.use(taxonomy)
    learner.build_tree(training)
    return learner.fit_losses(training)


def _with_work(
    learner: LearnerEstimator,
    probe: _Probe,
    number: int,
    seconds: float,
    losses: ExpectedLoss | None,
) -> Pass:
    """Return accuracy and size of a learner with its edges and the edges touched in ranking.

    With expected losses, the measures of decoded rankings are added.
    """
    active, touched = learner.learner.active_features_ranked, learner.learner.edges_touched
    learner.rank(probe.test, ANSWERED)
    active = learner.learner.active_features_ranked - active
    touched = learner.learner.edges_touched - touched
    passed = probe.passed(learner, number, seconds)
    if losses is not None and probe.taxonomy is not None:
        ranking = learner.decode(probe.test, losses)
        passed.test.update(decoded_measures(ranking, probe.test, probe.taxonomy))
    return replace(passed, edges=learner.learner.edges, touched=touched / max(active, 1))


def _speed(estimator: Estimator, test: Rows) -> float:
    """Return the number of test rows ranked in a CPU second."""
    return len(test) / mean_seconds_of(lambda: estimator.rank(test, ANSWERED))
