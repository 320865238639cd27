"""Errors in the history: pairs of confused classes, and likely label errors."""

from collections import Counter
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import NamedTuple

from manyclass.core.calibration import Calibration
from manyclass.core.model import Model
from manyclass.service.history.reader import Record
from manyclass.service.log.outcomes import UNKNOWN

EXAMPLES = 3  # events shown for each pair
RANKED = 50  # classes ranked, to find the score of a label among them


class Dispute(NamedTuple):
    """The best other class for an event, and the confidence that the label is wrong.

    None for a confidence while the model has none (100 outcomes).
    """

    other: str
    confidence: float | None


def dispute(model: Model, record: Record) -> Dispute | None:
    """Return the best other class of the present model for an event, or None without one.

    The model has learned the event since, so most wrong labels rank first by now. The confidence is
    that of a ranking of the best other class and the label alone.
    """
    instance = record.event.read_by(model.text).instance
    ranked = model.rank(instance, max(RANKED, 1 + len(record.classes)))
    other = next((each for each in ranked if each[0] not in record.classes), None)
    if other is None:
        return None
    own = (score for name, score in ranked if name in record.classes)
    # A class that is not retrieved scores at most as much as the last retrieved one.
    label = max(own, default=min(ranked[-1][1], 0.0))
    return Dispute(other[0], _against(model.answering.calibration, label, other[1]))


def _against(calibration: Calibration, label: float, other: float) -> float | None:
    """Return the confidence that the label is wrong, from its score and that of another class."""
    if other > label:
        return calibration.confidence(other, label)
    in_label = calibration.confidence(label, other)
    return None if in_label is None else 1 - in_label


@dataclass(slots=True)
class ClassCounts:
    """Counts of a class: events with it as a true class, rankings with it first, both.

    The history does not record which of several true classes ranked first, so a ranking with one of
    them first counts for each.
    """

    true: int = 0
    first: int = 0
    right: int = 0

    @property
    def errors(self) -> int:
        """The number of rankings with another class instead of it, or the reverse."""
        return self.true + self.first - self.right


@dataclass(slots=True)
class Confusions:
    """Counts of how events ranked before they were learned.

    `pairs` counts (class ranked first, true class) of wrong rankings. The history records only the
    rank of the true class, so the class ranked first is the best other class of the present model.
    """

    events: int = 0
    right: int = 0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    classes: dict[str, ClassCounts] = field(default_factory=dict)

    def add(self, record: Record, disputed: Dispute | None) -> None:
        """Count a record with a true class, if its outcome is known."""
        if record.outcome == UNKNOWN:
            return
        self.events += 1
        is_right = record.outcome == 1
        self.right += is_right
        for true in dict.fromkeys(record.classes):
            counts = self._of(true)
            counts.true += 1
            counts.right += is_right
            counts.first += is_right
            if disputed is not None:
                self._add_pair(disputed.other, true, record.seq)
        if disputed is not None:
            self._of(disputed.other).first += 1

    def most(self, limit: int) -> "Confusions":
        """Return a copy with the `limit` most frequent pairs and the classes with most errors."""
        pairs = Counter(dict(self.pairs.most_common(limit)))
        classes = sorted(self.classes.items(), key=lambda item: -item[1].errors)
        return Confusions(
            self.events,
            self.right,
            pairs,
            {pair: list(self.examples[pair]) for pair in pairs},
            {name: replace(counts) for name, counts in classes[:limit]},
        )

    def _add_pair(self, first: str, true: str, seq: int) -> None:
        self.pairs[first, true] += 1
        examples = self.examples.setdefault((first, true), [])
        if len(examples) < EXAMPLES:
            examples.append(seq)

    def _of(self, name: str) -> ClassCounts:
        return self.classes.setdefault(name, ClassCounts())


class Suspect(NamedTuple):
    """An event whose label is likely wrong, with the confidence that it is, and the best other
    class.
    """

    confidence: float
    seq: int
    suggested: str
    source: str | None
    batch: str | None


class LikelyErrors:
    """The confusions of events, and the likeliest suspects among them.

    Suspects are events whose label did not rank first before it was learned. Corrected events are
    left out. Until the model has a confidence (100 outcomes), there are no suspects.
    """

    def __init__(self) -> None:
        self.confusions = Confusions()
        self._suspects: list[Suspect] = []

    def add(self, record: Record, disputed: Dispute | None) -> None:
        """Count a record; `disputed` is None if its label ranked first."""
        if not record.classes:
            return
        self.confusions.add(record, disputed)
        if disputed is None or disputed.confidence is None or record.is_corrected:
            return
        origin = record.event.source, record.event.batch
        self._suspects.append(Suspect(disputed.confidence, record.seq, disputed.other, *origin))

    def suspects(
        self, limit: int, source: str | None = None, batch: str | None = None
    ) -> list[Suspect]:
        """Return the events whose labels are most likely wrong, the likeliest first: of all, or of
        those with this source and batch.
        """
        chosen = (
            each
            for each in self._suspects
            if (source is None or each.source == source) and (batch is None or each.batch == batch)
        )
        return nlargest(limit, chosen, key=lambda each: (each.confidence, each.seq))
