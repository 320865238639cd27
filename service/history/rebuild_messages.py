"""Messages about rebuilds between the leader and the other processes on a store."""

from typing import Any

import msgspec


class RebuildQuestion(msgspec.Struct, tag="rebuild", array_like=True):
    """A question to the leader: rebuild the state, so that `learner` learns the whole history, with
    the text analysis `text`. The answers have its number."""

    number: int
    learner: str | None = None
    text: str | None = None


class RebuildStatusQuestion(msgspec.Struct, tag="rebuilding", array_like=True):
    """A question to the leader about the status of rebuilds. The answer has its number."""

    number: int


class RebuildAnswer(msgspec.Struct, tag="rebuilt", array_like=True):
    """An answer: a rebuild has begun, its result, its failure, or the status of rebuilds."""

    number: int
    rebuilt: dict[str, int | float | str] | None = None
    refused: str = ""
    failed: str = ""
    status: dict[str, Any] | None = None


RebuildMessage = RebuildQuestion | RebuildStatusQuestion | RebuildAnswer
