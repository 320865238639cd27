"""A pause of learning: the reason why no event is learned now, while ranking goes on."""

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

SLOW_SECONDS: Final = 0.8  # of one step, which usually takes less, until learning counts as paused

MEMORY_SECONDS: Final = 0.5  # between two tries of an append, or of an event, without memory


class Pause(NamedTuple):
    """A reason, and what it is in a sentence for an operator, without the place of the store."""

    reason: Reason
    detail: str
