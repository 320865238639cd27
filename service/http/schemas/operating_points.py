"""The answer of GET /operating-points."""

from pydantic import BaseModel, Field


class OperatingPoint(BaseModel):
    """The answers with a confidence of at least `limit`: how many there were, and how many of them
    were right.

    `coverage` is their share of all outcomes, `accuracy` the share of right ones among them. `low`
    and `high` are the ends of a Wilson interval at 90 %. `classes` is the number of different
    classes ranked first among these answers, null for a group.
    """

    limit: float
    answers: int
    right: int
    coverage: float
    coverage_low: float
    coverage_high: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    classes: int | None


class TargetPoint(BaseModel):
    """A target accuracy, and the point of the least limit that reaches it: its `accuracy_low` is at
    least the target. `point` is null if no limit does."""

    target: float
    point: OperatingPoint | None


class OperatingCurve(BaseModel):
    """The operating points of outcomes, each ranked before it was learned.

    `best` is the point of the highest `accuracy_low`, null without a confidence. `curve` has at
    most 150 points, the highest limit first, from 20 answers on; the last is at the lowest limit.
    """

    outcomes: int = Field(description="also those of instances for which no class was ranked")
    right: int
    accuracy: float | None = Field(description="null without outcomes")
    classes: int = Field(description="different classes ranked first")
    targets: list[TargetPoint]
    best: OperatingPoint | None
    curve: list[OperatingPoint]


class ProbabilityPoint(BaseModel):
    """The ranked classes with a probability of at least `limit`: how many there were, how many of
    them were right, and how many rankings have such a class.

    `precision` is the share of right ones, `low` and `high` are the ends of a Wilson interval at
    90 %; `recall` is their share of all true classes.
    """

    limit: float
    classes: int
    right: int
    rankings: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float


class TargetPrecision(BaseModel):
    """A target precision, and the point of the least limit that reaches it: its `precision_low` is
    at least the target. `point` is null if no limit does."""

    target: float
    point: ProbabilityPoint | None


class ProbabilityCurve(BaseModel):
    """Precision and recall of the first ten classes of past rankings, by their probability.

    The first 1,000 outcomes are all kept, later ones by samples, at most 4,000. `best` is the point
    of the highest `precision_low`, null without a probability. `curve` has the highest limit first.
    """

    rankings: int
    true_classes: int = Field(description="of the events, also those that were not ranked")
    targets: list[TargetPrecision]
    best: ProbabilityPoint | None
    curve: list[ProbabilityPoint]


class OutcomeGroup(BaseModel):
    """The outcomes with one class ranked first, or of one source."""

    name: str
    outcomes: int
    right: int
    accuracy: float
    targets: list[TargetPoint]
    best: OperatingPoint | None


class ReachedBy(BaseModel):
    """The number of groups that reach a target at a limit of their own."""

    target: float
    groups: int


class OutcomeGroups(BaseModel):
    """A page of groups, the one with most outcomes first; equal ones are in order of their names.

    `next` is the `offset` of the next page, null on the last one.
    """

    by: str
    total: int
    reached: list[ReachedBy]
    groups: list[OutcomeGroup]
    next: int | None


class OperatingPoints(BaseModel):
    """The operating points of a learner after event `seq`, over its newest 10,000 outcomes and over
    all that are kept, at most 100,000."""

    seq: int
    learner: str
    newest: OperatingCurve
    all: OperatingCurve
    probabilities: ProbabilityCurve
    groups: OutcomeGroups | None = Field(description="null without `by`")
