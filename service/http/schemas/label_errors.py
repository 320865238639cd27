"""The answers about errors of the model and of labels."""

from pydantic import BaseModel, Field

from manyclass.service.http.schemas.events import EventRecord


class ConfusedPair(BaseModel):
    """A class ranked first instead of the true one, how often, and the numbers of some events."""

    ranked_first: str
    true: str
    count: int
    events: list[int]


class ClassErrors(BaseModel):
    """A class in the counted events: its recall over the events with this class as a true class,
    and its precision over the rankings with this class first. A ranking with one of several true
    classes first counts for each of them: which one it was is not recorded."""

    name: str = Field(serialization_alias="class")
    events: int
    recall: float | None
    precision: float | None


class ConfusionReport(BaseModel):
    """Recall at 1 of the newest events before they were learned, and the classes ranked above the
    true ones."""

    seq: int = Field(description="number of the newest event when the count began")
    complete: bool = Field(
        description="false if the count is unfinished, which only `seconds` allows"
    )
    events: int = Field(description="number of events counted so far, those with a known rank")
    r1: float | None
    pairs: list[ConfusedPair]
    classes: list[ClassErrors]


class SuspectEvent(BaseModel):
    """An event, the best other class, and the confidence that the label is wrong."""

    suggested: str
    confidence: float
    event: EventRecord


class SuspectList(BaseModel):
    """Likely label errors, most likely first. `seq` and `complete` are as in the answer of
    /confusions."""

    seq: int
    complete: bool
    suspects: list[SuspectEvent]
