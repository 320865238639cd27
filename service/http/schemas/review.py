"""The answer of GET /review."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.http.schemas.parts import TextFields

DEFAULT_REVIEWED = 20
MOST_REVIEWED = 100
MOST_FEATURES = 500  # of one instance

# A map with a name, so that it is a component of the document: generated clients name it too.
StoredFeatures = TypeAliasType("StoredFeatures", dict[str, float])


class ReviewInstance(BaseModel):
    """A ranked instance that waits for its label, and its ranking: as it was served, or that of the
    `learner` asked for."""

    id: str = Field(description="POST /learn takes the label by it")
    ranked: list[str] = Field(description="the first classes, best first, at most five")
    confidence: float | None = Field(description="with six digits")
    abstained: bool = Field(description="true if the ranking was served without classes")
    age: float = Field(description="seconds since it was ranked")
    source: str | None = Field(description="as it was sent with the instance")
    text: str | TextFields | None = Field(
        description="its first 4,096 bytes, which fields share, of an instance sent as a text"
    )
    text_cut: bool = Field(description="true if the text was longer")
    features: StoredFeatures
    omitted_features: int = Field(description="the number of features beyond the first 500")


class Review(BaseModel):
    """Instances to label, least certain first, in the memory of one process.

    `process` is the name of the process that answered, null when the store is for one process.
    """

    process: str | None
    instances: list[ReviewInstance]
