"""The answers about what the model gets wrong."""

from pydantic import BaseModel, Field

from manyclass.service.http.schemas.events import EventRecord


class ConfusedPair(BaseModel):
    """A class ranked first in place of the true one, how often, and the numbers of some events."""

    ranked_first: str
    true: str
    count: int
    events: list[int]


class ClassErrors(BaseModel):
    """A class among the events counted: recall, of those with it as their first true class, and
    precision, of the rankings with it at the top."""

    name: str = Field(serialization_alias="class")
    events: int
    recall: float | None
    precision: float | None


class ConfusionReport(BaseModel):
    """Recall at 1 of the newest events before they were learned, and the classes ranked above the
    true ones."""

    seq: int = Field(description="the newest event when the count began")
    complete: bool = Field(description="false while events are counted; only with `seconds`")
    events: int = Field(description="with a known rank, counted so far")
    r1: float | None
    pairs: list[ConfusedPair]
    classes: list[ClassErrors]


class SuspectEvent(BaseModel):
    """An event, the best other class of the model, and the confidence that the label is wrong."""

    suggested: str
    confidence: float
    event: EventRecord


class SuspectList(BaseModel):
    """Likely label errors, the likeliest first. `seq` and `complete` are those of the count, as in
    the answer of /confusions."""

    seq: int
    complete: bool
    suspects: list[SuspectEvent]
