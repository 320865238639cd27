"""The outcomes of applied events, kept until the history takes them."""

from collections.abc import Sequence

UNKNOWN = -2  # applied by a release or a process that noted no outcomes
NO_EFFECT = -1  # a retry, or an event of a request with a conflict
NOT_RETRIEVED = 0  # no true class was retrieved, or there is none; above 0: the best one's rank


class Outcomes:
    """The rank before learning of each applied event, by its number.

    Belongs to the thread that applies events; `taken` may be called by another.
    """

    def __init__(self) -> None:
        self.are_kept = False  # True if there is a history
        self._codes: dict[int, int] = {}

    def note(self, first_seq: int, codes: Sequence[int]) -> None:
        """Note the outcomes of the events from `first_seq` on."""
        if self.are_kept:
            self._codes.update(enumerate(codes, first_seq))

    def of(self, first_seq: int, count: int) -> list[int]:
        """Return the outcomes of `count` events, UNKNOWN if an outcome was not noted."""
        return [self._codes.get(seq, UNKNOWN) for seq in range(first_seq, first_seq + count)]

    def drop(self, first_seq: int, count: int) -> None:
        """Forget the outcomes of these events, which are now in the history."""
        for seq in range(first_seq, first_seq + count):
            self._codes.pop(seq, None)


def code_of(rank: int | None) -> int:
    """Return the outcome of a learned event; `rank` is None if no true class was retrieved."""
    return NOT_RETRIEVED if rank is None else rank
