"""Stores ranked instances until their label comes, for a time and within a byte limit."""

from collections import OrderedDict, deque
from collections.abc import Callable
from enum import IntEnum
from secrets import token_hex
from sys import getsizeof
from typing import Annotated, NamedTuple

from msgspec import Meta

from manyclass.core.instance import Instance

# The memory of an entry beside its instance, and of a client's id beside its text. A test compares
# both with measurements.
ENTRY_BYTES = 160
GIVEN_BYTES = 160
MOST_FORGOTTEN = 100_000
AGED_AT_ONCE = 1000
LONGEST_ID = 200

Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]
Entry = tuple[float, bytes, str | None]  # time of ranking, instance, id of the client


class StoredInstance(NamedTuple):
    """A ranked instance as bytes, and its age in seconds."""

    data: bytes
    age: float


class Absence(IntEnum):
    """The reason why an id has no instance. When processes disagree, the highest value wins."""

    NEVER_SEEN = 0
    TOO_LATE = 1  # it was ranked, and is no longer stored
    NO_ANSWER = 2  # of a process that may have ranked it


class PendingLabels:
    """Maps ids, made here or by clients, to instances, as long as these are stored.

    Instances are numbered as they come. An id made here holds the number; a table has the numbers
    of clients' ids. The oldest instances go first, so the stored numbers are without a gap:

        number     first ............ last
        entries    [entry, entry, ... entry]

    Ids whose instance is gone are remembered (those made here by their number, the last
    MOST_FORGOTTEN others by a hash), so that "too late" differs from "never seen".
    All of this is in memory only: after a restart no id was ever seen.
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
        """Store an instance and return its id: the given one, or a new unique one.

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

    def find(self, instance_id: str) -> StoredInstance | Absence:
        """Return the instance of an id, or the reason why there is none."""
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
        return StoredInstance(data, now - time)

    def _number_made(self, instance_id: str) -> int | None:
        """Return the number in an id that was made here; None for other ids."""
        digits = instance_id.removeprefix(self._prefix)
        if digits == instance_id or not digits.isdecimal() or len(digits) > 20:
            return None
        number = int(digits)
        if not 1 <= number <= self._last:
            return None
        if number >= self._first and self._entries[number - self._first][2] is not None:
            return None  # this instance has an id of the client
        return number

    def _evict(self, now: float) -> None:
        """Forget some outdated instances, then the oldest until the rest is within the limit.

        After a quiet hour very many may be outdated at once: the next calls forget the others.
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
