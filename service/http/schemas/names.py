"""The answers about classes and features."""

from pydantic import BaseModel, Field


class ClassCount(BaseModel):
    """A class and the number of events that named it."""

    name: str = Field(serialization_alias="class")
    learned: int


class ClassPage(BaseModel):
    """Classes in the order of their names' UTF-8 bytes. Pass `next` as `after` for more."""

    classes: list[ClassCount]
    next: str | None


class FeatureWeight(BaseModel):
    """A feature and the weight of its edge to the class."""

    feature: str
    weight: float


class ClassDetail(BaseModel):
    """A class, and the features with an edge to it, heaviest first."""

    name: str = Field(serialization_alias="class")
    learned: int
    features: list[FeatureWeight]


class ClassWeight(BaseModel):
    """A class and the weight of the feature's edge to it."""

    name: str = Field(serialization_alias="class")
    weight: float


class FeatureDetail(BaseModel):
    """A feature and its edges, heaviest first."""

    feature: str
    times_seen: int
    rating: float
    outdegree: int
    edges: list[ClassWeight]


class Forgotten(BaseModel):
    """The number of the event that removed the name."""

    seq: int
