"""The answers about classes and features."""

from pydantic import BaseModel, Field


class _Described(BaseModel):
    title: str | None = Field(description="the name of the class for people")
    description: str | None
    alt_labels: list[str] = Field(description="other names of the class")
    has_vector: bool = Field(description="true if its description has a vector")


class ClassCount(_Described):
    """A class, the number of events that named it, and its description."""

    name: str = Field(serialization_alias="class")
    learned: int
    path: list[str] = Field(
        description="the names from the top of the taxonomy down to the class; empty for a class"
        " outside the taxonomy"
    )


class ClassPage(BaseModel):
    """Classes in the order of the request. Pass `next` as `after` for the next page."""

    classes: list[ClassCount]
    next: str | None


class Alias(BaseModel):
    """A former name, and the present name of the class."""

    former: str
    name: str = Field(serialization_alias="class")


class AliasPage(BaseModel):
    """Former names in order. Pass `next` as `after` for the next page; it is null at the end."""

    aliases: list[Alias]
    next: str | None


class FeatureCount(BaseModel):
    """A feature and the number of events that had it."""

    feature: str
    times_seen: int


class FeaturePage(BaseModel):
    """Features in order of their names' UTF-8 bytes. Pass `next` as `after` for the next page."""

    features: list[FeatureCount]
    next: str | None


class FeatureWeight(BaseModel):
    """A feature and the weight of its edge to the class."""

    feature: str
    weight: float


class ClassDetail(_Described):
    """A class, the features with an edge to it, heaviest first, its place in the taxonomy, and its
    description.

    `path` has the names from the top of the taxonomy down to the class; it is empty for a class
    outside the taxonomy. Pass `next` as `after` for more children.
    """

    name: str = Field(serialization_alias="class")
    learned: int
    features: list[FeatureWeight]
    parent: str | None
    path: list[str]
    children: list[str] = Field(description="the classes below it, in the order of their placing")
    next: str | None
    former_names: list[str] = Field(description="names that stand for it since they were renamed")


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
