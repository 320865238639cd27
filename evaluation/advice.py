"""Advice on learners: what other learners and analyses of texts would bring on past events.

Each candidate ranks every event before it learns it, in the order of the events, as a service does.
The newest events count: each candidate is compared with the present learner event by event.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import Options
from manyclass.core.text import TextAnalysis
from manyclass.evaluation.cost import cpu_seconds, mean_seconds_of
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import by_ranks, sign_test
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.formats.given import Text
from manyclass.training.rows import Rows

LEARNERS: Final = (
    *("svm", "svm(fast)", "svm(best)", "svm(C=0.3)", "svm(C=0.3,C_negative=0.1)"),
    *("svm(budget=64)", "svm(best,C=0.3,C_negative=0.1,budget=64)"),
)
OF_TAXONOMY: Final = ("path", "path(best)")
TEXTS: Final = ("words", "words+pairs", "words+pairs+characters")
COUNTED_SHARE = 0.3  # of the events, the newest; their ranks count
MOST_COUNTED = 10_000
LEAST_COUNTED = 100
PART = 1_000  # events learned between two looks at the clock
RANKED = 1_000  # newest events that are ranked to measure the time of a ranking
# A 99 % interval, and p below 1 %: of ten candidates that bring nothing, few seem to bring much.
INTERVAL = 2.576
SURE = 0.01


class Candidate(msgspec.Struct, frozen=True):
    """A learner by its specification, and an analysis of texts."""

    learner: str
    text: str


class Gain(msgspec.Struct, frozen=True):
    """A mean difference between two learners on the same events, with its 99 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: NDArray[np.float64]) -> "Gain":
        """Return the gain of one or more differences."""
        mean = float(differences.mean())
        half = INTERVAL * float(differences.std()) / sqrt(len(differences))
        return cls(mean, mean - half, mean + half)


class Advice(msgspec.Struct, frozen=True):
    """The accuracy and the cost of a candidate, beside the present learner.

    `learn_seconds` and `rank_seconds` are CPU seconds per event, `bytes` those of a snapshot. The
    gains are None for the present learner. `advised` is True if the candidate ranks surely better,
    `worse` if the present learner does. `failed` is the reason why there are no figures.
    """

    learner: str
    text: str
    r1: float | None = None
    r5: float | None = None
    all_r1: float | None = None  # over all events, not the newest alone
    all_r5: float | None = None
    r1_gain: Gain | None = None
    r5_gain: Gain | None = None
    learn_seconds: float | None = None
    rank_seconds: float | None = None
    bytes: int | None = None
    advised: bool = False
    worse: bool = False
    failed: str = ""


def candidates(
    primary: Options,
    text: str,
    has_texts: bool,
    has_taxonomy: bool,
    more: Sequence[str] = (),
) -> list[Candidate]:
    """Return the present learner, then the learners and analyses to compare with it."""
    learners = [*more, *(OF_TAXONOMY if has_taxonomy else ()), *LEARNERS]
    found = {primary.specification: Candidate(primary.specification, text)}
    for each in learners:
        label = Options.parse(each).specification
        found.setdefault(label, Candidate(label, text))
    others = [each for each in TEXTS if has_texts and each != text]
    return [*found.values(), *(Candidate(primary.specification, each) for each in others)]


class OutOfTime(Exception):
    """The time for all candidates is over."""


@dataclass(frozen=True)
class Events:
    """Past events, oldest first: texts, instances where there is no text, and true classes."""

    texts: Sequence[Text | None]
    instances: Sequence[Mapping[str, float]]
    classes: Sequence[Sequence[str]]

    def rows(self, text: TextAnalysis) -> Rows:
        """Return the events as rows, with texts read by this analysis."""
        return Rows.of(self._labelled(text))

    def _labelled(self, text: TextAnalysis) -> Iterator[tuple[Mapping[str, float], Sequence[str]]]:
        for given, features, classes in zip(self.texts, self.instances, self.classes, strict=True):
            yield features if given is None else text.features_of(given), classes


def counted_of(events: int) -> int:
    """Return how many of the newest events count."""
    return min(MOST_COUNTED, max(LEAST_COUNTED, round(events * COUNTED_SHARE)))


def advise(
    events: Events,
    asked: Sequence[Candidate],
    options_of: Callable[[str], Options],
    taxonomy: Taxonomy | None,
    end: float,
    clock: Callable[[], float],
    on_part: Callable[[int, float], None],
) -> Iterator[Advice]:
    """Yield the advice on each candidate; the first one is the present learner.

    `on_part` is called with the number of the candidate and its share that is done. Candidates that
    are not done at `end`, by the clock, have failed.
    """
    counted = counted_of(len(events.classes))
    present: NDArray[np.int32] | None = None
    read = ""
    for number, candidate in enumerate(asked):
        try:
            if clock() > end:
                raise OutOfTime
            if candidate.text != read:
                rows, read = events.rows(TextAnalysis.parse(candidate.text)), candidate.text
            learner = LearnerEstimator(rows, options_of(candidate.learner))
            if taxonomy is not None:
                learner.use(taxonomy)
            began, ranks = cpu_seconds(), list[NDArray[np.int32]]()
            for part in learner.learn_in_parts(rows, PART):
                ranks.append(part)
                on_part(number, len(ranks) * PART / len(rows))
                if clock() > end:
                    raise OutOfTime
            learned = (cpu_seconds() - began) / len(rows)
            whole = np.concatenate(ranks)
            advice = _measured(candidate, learner, rows, whole, learned, counted)
        except OutOfTime:
            yield Advice(candidate.learner, candidate.text, failed="there was no time left for it")
            continue
        except MemoryError:
            yield Advice(candidate.learner, candidate.text, failed="it needs more memory")
            continue
        except OptionError as error:
            yield Advice(candidate.learner, candidate.text, failed=str(error))
            continue
        newest = whole[-counted:]
        if number == 0:
            present = newest
        if present is not None and number > 0:
            advice = compared(advice, newest, present)
        yield advice


def compared(advice: Advice, ranks: NDArray[np.int32], present: NDArray[np.int32]) -> Advice:
    """Return the advice with its gains over the present learner's ranks of the same events."""
    first = _differences(ranks, present, 1)
    five = _differences(ranks, present, 5)
    return msgspec.structs.replace(
        advice,
        r1_gain=Gain.of(first),
        r5_gain=Gain.of(five),
        advised=_is_better(first, five),
        worse=_is_better(-first, -five),
    )


def _is_better(first: NDArray[np.float64], five: NDArray[np.float64]) -> bool:
    """Return whether the R1 is surely higher, by the differences of first ranks and of first five.

    Or whether the R5 is, by more than the R1 is lower, if the R1 is not surely lower.
    """
    widens = _is_sure(five) and not _is_sure(-first) and five.mean() + first.mean() > 0
    return _is_sure(first) or bool(widens)


def _differences(
    ranks: NDArray[np.int32], present: NDArray[np.int32], k: int
) -> NDArray[np.float64]:
    """Return for each event 1 if only the first ranks are up to k, -1 if only the others are."""
    found: NDArray[np.float64] = ((ranks > 0) & (ranks <= k)).astype(float) - (
        (present > 0) & (present <= k)
    )
    return found


def _is_sure(differences: NDArray[np.float64]) -> bool:
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return wins > losses and sign_test(wins, losses) < SURE and Gain.of(differences).low > 0


def _measured(
    candidate: Candidate,
    learner: LearnerEstimator,
    rows: Rows,
    ranks: NDArray[np.int32],
    learned: float,
    counted: int,
) -> Advice:
    newest, whole = by_ranks(ranks[-counted:]), by_ranks(ranks)
    some = rows.take(np.arange(max(0, len(rows) - RANKED), len(rows)))
    return Advice(
        candidate.learner,
        candidate.text,
        newest["R1"],
        newest["R5"],
        whole["R1"],
        whole["R5"],
        learn_seconds=learned,
        rank_seconds=mean_seconds_of(lambda: learner.rank(some, 5)) / len(some),
        bytes=learner.bytes(),
    )
