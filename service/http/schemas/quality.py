"""The answers about the quality of the newest events."""

from pydantic import BaseModel, Field


class RecallOf(BaseModel):
    """A number of events, and the shares with a true class ranked first, and among the first five,
    before the event was learned. The shares are null without events."""

    events: int
    r1: float | None
    r5: float | None


class CurvePoint(RecallOf):
    """Consecutive events up to `seq`; `time` is that of the last one, null if it is not known."""

    seq: int
    time: float | None


class SourceQuality(RecallOf):
    """The events of a source; null: without a source."""

    source: str | None


class WeekQuality(RecallOf):
    """Seven days up to `end` (unix seconds).

    `unknown_features` is the share of features, each counted once for each event with it, that the
    learner had not seen before these days; it is estimated from a sample of features. `confidence`
    is the mean before each event was learned, 0 for one without a ranked class; null while there is
    none, and beyond the newest 100,000 events.
    """

    end: float
    unknown_features: float | None
    confidence: float | None


class ClassShare(BaseModel):
    """A class, and its share of the true classes in the newest week and in the weeks before."""

    name: str = Field(serialization_alias="class")
    share: float
    before: float


class ClassMix(BaseModel):
    """The classes of the newest week beside those of the weeks before.

    `distance` is the total variation distance of their shares: 0 for equal shares, 1 for no common
    class. `changed` lists the classes whose shares changed most.
    """

    distance: float
    changed: list[ClassShare]


class ParentQuality(RecallOf):
    """The events with a true class below this parent in the taxonomy; null: the top."""

    parent: str | None
    classes: int


class QualityReport(BaseModel):
    """The accuracy of the newest events as they were ranked before they were learned.

    `curve` is about the whole history, up to its newest 200,000 events. `weeks` are counted back
    from the newest event, at most nine.
    """

    seq: int = Field(description="number of the newest event when the count began")
    complete: bool = Field(
        description="false if the count is unfinished, which only `seconds` allows"
    )
    all: RecallOf
    begin: float | None = Field(description="time of the oldest counted event, in unix seconds")
    end: float | None = Field(description="time of the newest")
    classes: int = Field(description="classes that a ranking can have, as in `/stats`")
    seen_classes: int = Field(description="classes of the counted events")
    curve: list[CurvePoint]
    weeks: list[WeekQuality] = Field(description="the newest first")
    class_mix: ClassMix | None = Field(description="null before there are two weeks")
    sources: list[SourceQuality] = Field(description="those of most events, at most 100")
    parents: list[ParentQuality] = Field(description="those of most events, at most 1,000")


class ConfusedWith(BaseModel):
    """A class that was ranked first instead, and how often."""

    name: str = Field(serialization_alias="class")
    count: int


class ClassQuality(BaseModel):
    """A class in the counted events.

    `events` are those with this class as a true class, alone or with others. `recall` is the share
    of them with a true class ranked first, `r5` among the first five; `precision` the share of
    rankings with this class first that were right. It is not recorded which of several true classes
    was ranked first: such a ranking counts as `first` for each. `trend` is its recall in the newest
    week minus that of the time before, null unless both have five events.
    `confusions` are the classes ranked first instead of it, at most three.
    """

    name: str = Field(serialization_alias="class")
    parent: str | None = Field(description="in the taxonomy")
    events: int
    first: int = Field(description="rankings with this class first, as far as it is known")
    recall: float | None
    precision: float | None
    r5: float | None
    trend: float | None
    confusions: list[ConfusedWith]


class ClassQualityPage(BaseModel):
    """Some of the classes of the counted events, in the order asked for.

    `total` counts all that match; `next` is the `after` of the next page, null on the last one.
    """

    seq: int
    complete: bool
    total: int
    classes: list[ClassQuality]
    next: int | None
