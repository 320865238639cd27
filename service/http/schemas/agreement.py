"""The answer of GET /review/agreement."""

from pydantic import BaseModel, Field

from manyclass.service.http.schemas.parts import TextFields


class ReviewerLabel(BaseModel):
    """The classes that a reviewer gave to an instance."""

    reviewer: str
    classes: list[str]


class Disagreement(BaseModel):
    """An instance to which two reviewers gave different classes. The first label was learned."""

    id: str = Field(description="the id of the instance, which GET /events/{name} finds")
    text: str | TextFields | None = Field(description="the first 4,096 bytes of the text, or null")
    first: ReviewerLabel
    second: ReviewerLabel
    time: float = Field(description="of the second label, in unix seconds")


class ReviewAgreement(BaseModel):
    """The agreement of the labels of two reviewers, and the disagreements, newest first."""

    percent: int = Field(description="the share of instances that are labelled twice")
    pairs: int = Field(description="the number of instances that two reviewers have labelled")
    equal: int = Field(description="the number of those with equal classes")
    kappa: float | None = Field(
        description="Cohen's κ: 1 for full agreement, 0 for as much as by chance; null without"
        " pairs, or if all labels are the same"
    )
    disagreements: list[Disagreement]
