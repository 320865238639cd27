"""Ranked instances that wait for their label, by id: for a time and within a byte limit."""

from collections import OrderedDict, deque
from collections.abc import Callable
from enum import IntEnum
from secrets import token_hex
from sys import getsizeof
from typing import NamedTuple

from manyclass.core.event import Instance

# What an entry takes beside its instance, and what an id it was given takes beside its text; a
# test compares them with the truth.
ENTRY_BYTES = 160
GIVEN_BYTES = 160
MOST_FORGOTTEN = 100_000
AGED_AT_ONCE = 1000

Entry = tuple[float, bytes, str | None]  # when it was ranked, the instance, the id it was given


class Kept(NamedTuple):
    """An instance that was ranked, as bytes, and how many seconds ago that was."""

    data: bytes
    age: float


class Absence(IntEnum):
    """Why there is no instance for an id. Of what several say, the greatest counts."""

    NEVER_SEEN = 0
    TOO_LATE = 1  # it was ranked, and is no longer kept
    NO_ANSWER = 2  # who may know did not say


class PendingLabels:
    """Gives back the instance of an id it made or was given, as long as it is kept.

    Instances are numbered as they come. An id made here holds the number; of those given, a table
    does. The oldest go first, so the numbers of those kept are without a gap:

        number     first ............ last
        entries    [entry, entry, ... entry]

    Ids that are no longer kept are remembered (those made here by their number, the last
    MOST_FORGOTTEN others by a hash), so that "too late" differs from "never seen".
    Nothing of this is stored: after a restart an id was never seen.
    Belongs to the event loop's thread.
    """

    def __init__(self, seconds: float, most_bytes: int, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._clock = clock
        self._entries: deque[Entry] = deque()
        self._first = 1
        self._last = 0
        self._given: dict[str, int] = {}
        self._forgotten: OrderedDict[int, None] = OrderedDict()
        self._prefix = token_hex(6) + "-"
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def keep(self, instance: Instance, given_id: str | None = None) -> str:
        """The id the instance is kept under: the one given, or one that no other instance has.

        When an id comes again, the newest instance counts.
        """
        now = self._clock()
        data = bytes(instance)
        self._entries.append((now, data, given_id))
        self._last = number = self._last + 1
        self.bytes += ENTRY_BYTES + len(data)
        if given_id is not None:
            self._given[given_id] = number
            self.bytes += GIVEN_BYTES + getsizeof(given_id)
        if self.bytes > self._most_bytes or self._entries[0][0] <= now - self._seconds:
            self._evict(now)
        return f"{self._prefix}{number}" if given_id is None else given_id

    def find(self, instance_id: str) -> Kept | Absence:
        """The instance kept under the id, or why there is none."""
        now = self._clock()
        self._evict(now)
        number = self._given.get(instance_id) or self._number_made(instance_id)
        if number is None and hash(instance_id) not in self._forgotten:
            return Absence.NEVER_SEEN
        if number is None or number < self._first:
            return Absence.TOO_LATE
        time, data, _ = self._entries[number - self._first]
        if time <= now - self._seconds:
            return Absence.TOO_LATE
        return Kept(data, now - time)

    def _number_made(self, instance_id: str) -> int | None:
        """The number in an id that was made here."""
        digits = instance_id.removeprefix(self._prefix)
        if digits == instance_id or not digits.isdecimal() or len(digits) > 20:
            return None
        number = int(digits)
        if not 1 <= number <= self._last:
            return None
        if number >= self._first and self._entries[number - self._first][2] is not None:
            return None  # this one was given its id
        return number

    def _evict(self, now: float) -> None:
        """Forget some of what is too old, then the oldest until the rest is within the limit.

        After a quiet hour very many may be too old at once: the next calls forget the others.
        """
        entries = self._entries
        aged = AGED_AT_ONCE
        while entries:
            if self.bytes <= self._most_bytes:
                if aged == 0 or entries[0][0] > now - self._seconds:
                    break
                aged -= 1
            _, data, given_id = entries.popleft()
            self.bytes -= ENTRY_BYTES + len(data)
            if given_id is not None:
                self.bytes -= GIVEN_BYTES + getsizeof(given_id)
                self._forget(given_id)
            self._first += 1

    def _forget(self, given_id: str) -> None:
        if self._given[given_id] != self._first:
            return  # the id came again
        del self._given[given_id]
        self._forgotten[hash(given_id)] = None
        if len(self._forgotten) > MOST_FORGOTTEN:
            self._forgotten.popitem(last=False)
