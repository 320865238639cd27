"""Ranked instances that wait for their label, by id: for a time and within a byte limit."""

from collections import OrderedDict, deque
from collections.abc import Callable
from secrets import token_hex
from sys import getsizeof

from core.event import Instance
from service.errors import Fault, Problem

ENTRY_BYTES = 240  # of an entry beside its id and instance; a test compares it with the truth
MOST_FORGOTTEN = 100_000

Entry = tuple[float, str, bytes, int]  # when it was ranked, id, instance, bytes in all


class LateLabels:
    """Gives back the instance of an id it made or was given, as long as it is kept.

    Ids that are no longer kept are remembered (the service's own by their number, the last
    MOST_FORGOTTEN others by a hash), so that "too late" differs from "never seen".
    Belongs to the event loop's thread.
    """

    def __init__(self, seconds: float, most_bytes: int, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._clock = clock
        self._newest: dict[str, Entry] = {}  # the entry an id stands for
        self._entries: deque[Entry] = deque()  # oldest first; of an id that came again, all
        self._forgotten: OrderedDict[int, None] = OrderedDict()
        self._prefix = token_hex(6) + "-"
        self._made = 0
        self.bytes = 0
        self.too_late = 0  # labels that came when their instance was no longer kept

    def __len__(self) -> int:
        return len(self._newest)

    def make_id(self) -> str:
        """An id that no other instance has, of this process or another."""
        self._made += 1
        return f"{self._prefix}{self._made}"

    def keep(self, instance_id: str, instance: Instance) -> None:
        """Keep the instance under its id; the newest counts when an id comes again."""
        now = self._clock()
        data = bytes(instance)
        size = ENTRY_BYTES + getsizeof(instance_id) + getsizeof(data)
        entry = (now, instance_id, data, size)
        self._newest[instance_id] = entry
        self._entries.append(entry)
        self.bytes += size
        if self.bytes > self._most_bytes or self._entries[0][0] <= now - self._seconds:
            self._evict(now)

    def instance(self, instance_id: str) -> tuple[Instance, float]:
        """The instance and how many seconds ago it was ranked; Problem 410 or 404 without one."""
        now = self._clock()
        self._evict(now)
        entry = self._newest.get(instance_id)
        if entry is not None:
            time, _, data, _ = entry
            return Instance.from_bytes(data), now - time
        if self._was_kept(instance_id):
            self.too_late += 1
            detail = f"The instance of id {instance_id!r} is no longer kept."
            raise Problem(410, detail, [Fault(detail, ("id",))])
        detail = f"No instance was ranked under id {instance_id!r}."
        raise Problem(404, detail, [Fault(detail, ("id",))])

    def _evict(self, now: float) -> None:
        """Forget what is too old, then the oldest until the rest is within the limit."""
        entries = self._entries
        while entries and (self.bytes > self._most_bytes or entries[0][0] <= now - self._seconds):
            entry = entries.popleft()
            _, instance_id, _, size = entry
            self.bytes -= size
            if self._newest[instance_id] is not entry:
                continue  # the id came again
            del self._newest[instance_id]
            if not instance_id.startswith(self._prefix):
                self._forgotten[hash(instance_id)] = None
                if len(self._forgotten) > MOST_FORGOTTEN:
                    self._forgotten.popitem(last=False)

    def _was_kept(self, instance_id: str) -> bool:
        number = instance_id.removeprefix(self._prefix)
        made_here = number != instance_id and number.isdecimal() and int(number) <= self._made
        return made_here or hash(instance_id) in self._forgotten
