"""The answers about the quality of the newest events, as immutable structs."""

from typing import Literal

import msgspec

Sort = Literal["errors", "events", "recall", "precision", "r5", "trend", "class"]


class RecallOf(msgspec.Struct, frozen=True):
    """A number of events, and the shares with a true class ranked first, and among the first five,
    before the event was learned; None without events."""

    events: int
    r1: float | None
    r5: float | None


class CurvePoint(RecallOf, frozen=True):
    """Consecutive events up to `seq`; `time` is that of the last one in unix seconds."""

    seq: int
    time: float | None


class SourceQuality(RecallOf, frozen=True):
    """The events of a source; None: without a source."""

    source: str | None


class WeekQuality(RecallOf, frozen=True):
    """Seven days up to `end` in unix seconds. `unknown_features` is the estimated share of features
    that the learner had not seen before, `confidence` the mean before each event was learned."""

    end: float
    unknown_features: float | None
    confidence: float | None


class ClassShare(msgspec.Struct, frozen=True):
    """A class, and its share of the true classes in the newest week and in the weeks before."""

    name: str = msgspec.field(name="class")
    share: float
    before: float


class ClassMix(msgspec.Struct, frozen=True):
    """The total variation distance of the classes of the newest week from those of the weeks
    before, and the classes whose shares changed most."""

    distance: float
    changed: tuple[ClassShare, ...]


class ParentQuality(RecallOf, frozen=True):
    """The events with a true class below this parent in the taxonomy; None: the top."""

    parent: str | None
    classes: int


class QualityReport(msgspec.Struct, frozen=True):
    """The accuracy of the newest events before they were learned.

    `curve` is about the whole history. `weeks` are counted back from the newest event. `complete`
    is False if `seconds` ended the count.
    """

    seq: int
    complete: bool
    all: RecallOf
    begin: float | None
    end: float | None
    classes: int
    seen_classes: int
    curve: tuple[CurvePoint, ...]
    weeks: tuple[WeekQuality, ...]
    class_mix: ClassMix | None
    sources: tuple[SourceQuality, ...]
    parents: tuple[ParentQuality, ...]


class ConfusedWith(msgspec.Struct, frozen=True):
    """A class that was ranked first instead, and how often."""

    name: str = msgspec.field(name="class")
    count: int


class ClassQuality(msgspec.Struct, frozen=True):
    """A class in the counted events. `trend` is its recall in the newest week minus that of the
    time before, None unless both have five events."""

    name: str = msgspec.field(name="class")
    parent: str | None
    events: int
    first: int
    recall: float | None
    precision: float | None
    r5: float | None
    trend: float | None
    confusions: tuple[ConfusedWith, ...]


class ClassQualityPage(msgspec.Struct, frozen=True):
    """Some of the classes of the counted events; `next` is None on the last page."""

    total: int
    classes: tuple[ClassQuality, ...]
    next: int | None
