"""The answers about learners: the primary one and its shadows."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

# A named map, so that it is a component of the document and generated clients name it too.
LearnerOptions = TypeAliasType("LearnerOptions", dict[str, bool | int | float | str])


class Accuracy(BaseModel):
    """Recall at 1, 5 and 10 before learning, and mean reciprocal rank; 0 without examples.

    `taxonomic_loss` is half the number of edges from the class ranked first to the nearest true
    class, on average; it is 1 between siblings. `parent_accuracy` is the share of events whose
    class ranked first is a true class or a sibling of one. Both are null without a taxonomy.
    """

    examples: int
    r1: float
    r5: float
    r10: float
    mrr: float
    taxonomic_loss: float | None
    parent_accuracy: float | None


AccuracyByWindow = TypeAliasType("AccuracyByWindow", dict[str, Accuracy])


class ReliabilityBin(BaseModel):
    """Outcomes of similar confidence: their mean confidence, and the share of right rankings."""

    outcomes: int
    confidence: float | None = Field(description="the mean, null without outcomes")
    right: float | None = Field(description="the share, null without outcomes")


class Confidence(BaseModel):
    """The calibration of a learner's confidence over the last 10,000 outcomes.

    `calibration_error` is the mean over the bins of |confidence - share right|, `brier` the mean
    square of confidence - outcome. Both are null before the first confidence.
    """

    calibration_error: float | None
    brier: float | None
    reliability: list[ReliabilityBin] = Field(description="ten bins of confidence, of equal width")


class MemberStats(BaseModel):
    """A member of a committee, and its own accuracy over the events of the committee."""

    learner: str
    accuracy: AccuracyByWindow = Field(description="by the number of last events it covers")


class MixtureWeights(BaseModel):
    """The weights of the parts of a score, as outcomes have moved them so far.

    `neighbors` is that of the vote of the nearest past instances, beside the features. `words`,
    `descriptions` and `vectors` are those of the learner's own scores, of the descriptions of the
    classes and of the vector of the instance, each divided by the spread of its scores; the last
    two are null while there is no description, or no vector.
    """

    words: float
    neighbors: float
    descriptions: float | None
    vectors: float | None


class LearnerStats(BaseModel):
    """A learner, its size and its accuracy.

    `learner` is its specification, and `options` lists the options that have an effect on it. The
    `primary` learner answers /rank. The other learners are shadows: they rank and learn the same
    events but answer no request. `learn_seconds` is the mean time to learn an event since the
    process started, null before the first event.
    """

    learner: str
    primary: bool
    options: LearnerOptions
    features: int
    classes: int = Field(
        description="classes in its weights; a class with only a description or vectors is in none"
    )
    edges: int
    learned: int
    bytes: int = Field(description="size of its state; MANYCLASS_MAX_BYTES bounds it")
    resident_bytes: int
    evicted_features: int
    evicted_classes: int
    mixture: MixtureWeights
    learn_seconds: float | None
    accuracy: AccuracyByWindow = Field(description="by the number of last events it covers")
    confidence: Confidence
    members: list[MemberStats] = Field(description="the members of a committee, else empty")


class LearnerList(BaseModel):
    """The learners after event `seq`, the primary one first."""

    seq: int
    learners: list[LearnerStats]


class Promoted(BaseModel):
    """The number of the event that promoted a learner, and the new primary learner."""

    seq: int
    learner: str


class Removed(BaseModel):
    """The number of the event that removed a shadow, and the shadow."""

    seq: int
    learner: str
