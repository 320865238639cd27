"""The answer of GET /taxonomy."""

from pydantic import BaseModel, Field


class TaxonomyNode(BaseModel):
    """A node of the taxonomy: a class, or a name above classes."""

    name: str = Field(serialization_alias="class")
    title: str | None = Field(description="the name of the class for people")
    learned: int = Field(description="the number of events that named it")
    has_children: bool


class TaxonomyPage(BaseModel):
    """The nodes below a parent, in the order in which they were placed. Pass `next` as `after` for
    the next page; it is null at the end."""

    nodes: list[TaxonomyNode]
    next: str | None
