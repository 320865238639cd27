"""The answer of GET /review."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.http.schemas.parts import TextFields

DEFAULT_REVIEWED = 20
MOST_REVIEWED = 100
MOST_FEATURES = 500  # of one instance

# A named map, so that it is a component of the document and generated clients name it too.
StoredFeatures = TypeAliasType("StoredFeatures", dict[str, float])


class ReviewInstance(BaseModel):
    """A ranked instance that waits for its label, and its ranking: as it was served, or by the
    `learner` of the request."""

    id: str = Field(description="the id by which POST /learn labels the instance")
    ranked: list[str] = Field(description="the first classes, best first, at most five")
    confidence: float | None = Field(description="rounded to six decimal places")
    abstained: bool = Field(description="true if the ranking was served without classes")
    age: float = Field(description="seconds since the instance was ranked")
    source: str | None = Field(description="the source that was sent with the instance")
    text: str | TextFields | None = Field(
        description="the first 4,096 bytes of the text, of all fields together; null if the"
        " instance was not sent as text or the text was dropped"
    )
    text_cut: bool = Field(description="true if the text was longer")
    features: StoredFeatures
    omitted_features: int = Field(description="the number of features beyond the first 500")


class Review(BaseModel):
    """Instances to label, least certain first, from the memory of one process.

    `process` is the name of the process that answered, null if only one process can use the store.
    """

    process: str | None
    instances: list[ReviewInstance]
