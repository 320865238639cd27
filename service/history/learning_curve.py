"""The accuracy along the history, in blocks of consecutive events."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from manyclass.core.event import Event
from manyclass.service.history.event_times import dated
from manyclass.service.history.history import History
from manyclass.service.history.segment import GONE, Segment
from manyclass.service.history.undone import Undone
from manyclass.service.log.outcomes import NOT_RETRIEVED

BLOCK_EVENTS = 100
MOST_EVENTS = 200_000  # of the newest, which are read
MOST_POINTS = 60


@dataclass(slots=True)
class Block:
    """Consecutive events up to `last_seq`, whose time is `time` (Unix milliseconds, 0: not known):
    how many had a known rank, a true class ranked first, and one among the first five."""

    last_seq: int
    time: int = 0
    events: int = 0
    first: int = 0
    five: int = 0

    def add(self, other: "Block") -> None:
        """Append the events of the next block."""
        self.last_seq = other.last_seq
        self.time = other.time or self.time
        self.events += other.events
        self.first += other.first
        self.five += other.five


class LearningCurve:
    """The blocks of the newest events. Full blocks are read once. Belongs to one thread."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}  # by their position in the log
        self._end = 0  # the last event that was read
        self._restores: list[tuple[int, int]] = []

    def read(self, history: History, seq: int, goes_on: Callable[[], bool]) -> list[Block]:
        """Return up to MOST_POINTS blocks of about equal size, up to event `seq`, oldest first.

        Blocks. Raises StoreError.
        """
        restores = list(history.live.model.restores)
        if restores != self._restores:
            self._blocks, self._restores, self._end = {}, restores, 0
        first = max(history.reader.first_seq - 1, seq - MOST_EVENTS, 0) // BLOCK_EVENTS
        full = min(self._end, seq) // BLOCK_EVENTS  # the first block to read again
        self._blocks = {at: each for at, each in self._blocks.items() if first <= at < full}
        undone = Undone(restores)
        for part in history.behind(max(first, full) * BLOCK_EVENTS, seq):
            for event_seq, time, rank in _ranks(part, undone):
                if not goes_on():
                    return []
                at = (event_seq - 1) // BLOCK_EVENTS
                block = self._blocks.setdefault(at, Block(event_seq))
                block.add(Block(event_seq, time, 1, rank == 1, 1 <= rank <= 5))
            self._end = part.last_seq
        found = [self._blocks[at] for at in sorted(self._blocks)]
        return _merged(found, -(-len(found) // MOST_POINTS))


def _ranks(part: Segment, undone: Undone) -> Iterator[tuple[int, int, int]]:
    """Yield number, time and rank of the events with true classes and a known outcome."""
    for seq, payload, time in dated(enumerate(part.payloads, part.first_seq)):
        at = seq - part.first_seq
        rank = part.outcomes[at]
        if rank < NOT_RETRIEVED or part.flags[at] == GONE or seq in undone:
            continue
        # An event of another kind, and one with wrong classes only, has no rank either.
        if rank == NOT_RETRIEVED and not _is_labelled(Event.from_bytes(payload)):
            continue
        yield seq, time, rank


def _is_labelled(event: Event) -> bool:
    return event.kind == "learn" and bool(event.classes)


def _merged(blocks: list[Block], each: int) -> list[Block]:
    """Return the blocks, each `each` consecutive ones as one."""
    merged = []
    for begin in range(0, len(blocks), max(each, 1)):
        whole = Block(0)
        for block in blocks[begin : begin + each]:
            whole.add(block)
        merged.append(whole)
    return merged
