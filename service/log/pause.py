"""A pause of learning: the reason why no event is learned now, while ranking continues."""

from typing import Final, Literal, NamedTuple, get_args

Reason = Literal[
    "store_full",
    "store_unavailable",
    "store_slow",
    "state_held",
    "recovering",
    "failed",
    "memory",
]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

SLOW_SECONDS: Final = 0.8  # a step that takes longer is reported as a pause

MEMORY_SECONDS: Final = 0.5  # between two attempts to append or apply while memory is short


class Pause(NamedTuple):
    """A reason, and a sentence about it for the operator, without the address of the store."""

    reason: Reason
    detail: str
