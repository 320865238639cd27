"""Errors in the history: pairs of confused classes, and likely label errors."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nlargest

from manyclass.core.calibration import Calibration
from manyclass.core.model import Model
from manyclass.service.history.reader import Record
from manyclass.service.log.outcomes import UNKNOWN

EXAMPLES = 3  # events shown of each pair
PLACES = 50  # classes ranked, to find the score of a label among them


@dataclass(slots=True)
class ClassCounts:
    """Counts of a class: events with it as the first true class, rankings with it first, both."""

    true: int = 0
    first: int = 0
    right: int = 0


@dataclass(slots=True)
class Confusions:
    """Counts of how events ranked before they were learned.

    `pairs` counts (class ranked first, true class) of wrong rankings. The history records the
    rank of the true class alone, so the class ranked first is the best other class of the model as
    it is now.
    """

    events: int = 0
    right: int = 0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    classes: dict[str, ClassCounts] = field(default_factory=dict)

    def add(self, model: Model, record: Record) -> None:
        """Count a record, if its outcome and a true class are known."""
        if record.outcome == UNKNOWN or not record.classes:
            return
        self.events += 1
        true = record.classes[0]
        self._of(true).true += 1
        if record.outcome == 1:
            self.right += 1
            self._of(true).right += 1
            self._of(true).first += 1
            return
        others = model.rank(record.event.instance, 1 + len(record.classes))
        first = next((name for name, _ in others if name not in record.classes), None)
        if first is None:
            return  # nothing else was ranked
        self._of(first).first += 1
        self.pairs[first, true] += 1
        examples = self.examples.setdefault((first, true), [])
        if len(examples) < EXAMPLES:
            examples.append(record.seq)

    def _of(self, name: str) -> ClassCounts:
        return self.classes.setdefault(name, ClassCounts())


def confusions(model: Model, records: Iterable[Record]) -> Confusions:
    """Count records, newest first. Blocks."""
    counted = Confusions()
    for record in records:
        counted.add(model, record)
    return counted


@dataclass(frozen=True, slots=True, order=True)
class Suspect:
    """An event whose label is likely wrong, the best other class, and the confidence that the label
    is wrong.
    """

    confidence: float
    seq: int
    suggested: str = field(compare=False)
    record: Record = field(compare=False)


def suspects(model: Model, records: Iterable[Record], limit: int) -> list[Suspect]:
    """Return the events whose labels are most likely wrong, the likeliest first. Blocks.

    Candidates are events whose label did not rank first before it was learned. The model has
    learned them since, so that most wrong labels rank first by now: the confidence is that of a
    ranking of the best other class and the label alone. Corrected events are left out. While the
    model has no confidence yet (100 outcomes), there are none.
    """
    return nlargest(limit, _disputed(model, records))


def _disputed(model: Model, records: Iterable[Record]) -> Iterator[Suspect]:
    for record in records:
        if record.outcome == 1 or record.is_corrected or not record.classes:
            continue
        ranked = model.rank(record.event.instance, PLACES)
        other = next((each for each in ranked if each[0] not in record.classes), None)
        if other is None:
            continue
        own = (score for name, score in ranked if name in record.classes)
        # A class that is not retrieved scores no more than the last one that is.
        label = max(own, default=min(ranked[-1][1], 0.0))
        confidence = _against(model.answering.calibration, label, other[1])
        if confidence is not None:
            yield Suspect(confidence, record.seq, other[0], record)


def _against(calibration: Calibration, label: float, other: float) -> float | None:
    """Return the confidence that the label is wrong, by its score and that of another class."""
    if other > label:
        return calibration.confidence(other, label)
    in_label = calibration.confidence(label, other)
    return None if in_label is None else 1 - in_label
