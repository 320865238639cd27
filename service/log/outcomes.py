"""The outcomes of applied events, until the history takes them."""

from collections.abc import Sequence

UNKNOWN = -2  # applied by a release or a process that noted no outcomes
NO_EFFECT = -1  # a retry, or of a request with a conflict
NOT_RETRIEVED = 0  # no true class was ranked, or there is none; above: the rank of the best one


class Outcomes:
    """The rank before learning of each applied event, by its number.

    Belongs to the thread that applies events; `taken` may be called by another.
    """

    def __init__(self) -> None:
        self.are_kept = False  # there is a history to take them
        self._codes: dict[int, int] = {}

    def note(self, first_seq: int, codes: Sequence[int]) -> None:
        """Note the outcomes of the events from `first_seq` on."""
        if self.are_kept:
            self._codes.update(enumerate(codes, first_seq))

    def of(self, first_seq: int, count: int) -> list[int]:
        """Return the outcomes of `count` events, UNKNOWN for one that was not noted."""
        return [self._codes.get(seq, UNKNOWN) for seq in range(first_seq, first_seq + count)]

    def drop(self, first_seq: int, count: int) -> None:
        """Forget the outcomes of these events, which the history has."""
        for seq in range(first_seq, first_seq + count):
            self._codes.pop(seq, None)


def code_of(rank: int | None) -> int:
    """Return the outcome of an event that was learned; `rank` is None if no true class was
    retrieved.
    """
    return NOT_RETRIEVED if rank is None else rank
