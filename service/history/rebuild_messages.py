"""Messages about rebuilds between the leader and the other processes on a store."""

from typing import Any

import msgspec


class RebuildQuestion(msgspec.Struct, tag="rebuild", array_like=True):
    """Asks the leader to rebuild the state, with the history for `learner`, under the analysis
    `text`. The answers carry its number."""

    number: int
    learner: str | None = None
    text: str | None = None


class RebuildStatusQuestion(msgspec.Struct, tag="rebuilding", array_like=True):
    """Asks the leader for the state of rebuilds. The answer carries its number."""

    number: int


class RebuildAnswer(msgspec.Struct, tag="rebuilt", array_like=True):
    """Says that a rebuild has begun, or how it ended: its result, or why there is none; or what
    the state of rebuilds is."""

    number: int
    rebuilt: dict[str, int | float | str] | None = None
    refused: str = ""
    failed: str = ""
    status: dict[str, Any] | None = None


RebuildMessage = RebuildQuestion | RebuildStatusQuestion | RebuildAnswer
