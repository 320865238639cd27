"""A ranked instance until its label comes, or the reason why there is none."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from msgspec import Meta

LONGEST_ID = 200

Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]


class StoredInstance(NamedTuple):
    """A ranked instance as bytes, and its age in seconds."""

    data: bytes
    age: float


class Absence(IntEnum):
    """The reason why an id has no instance. When processes disagree, the highest value wins."""

    NEVER_SEEN = 0
    TOO_LATE = 1  # it was ranked, and is no longer stored
    NO_ANSWER = 2  # of a process that may have ranked it
