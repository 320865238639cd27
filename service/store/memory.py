"""A store that lasts as long as its process: for tests and for trying things out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock

from manyclass.service.store.errors import LogDamaged, LogTrimmed, SegmentMissing, SnapshotMissing
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.segments import SegmentInfo


class MemoryStore:
    """Events and snapshots in two lists. Any thread may call any method at any time."""

    durability = "nothing outlives the process: events and snapshots are kept in memory"

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last_seq = 0
        self._floor = 0  # the log was trimmed up to this event
        self._events: list[tuple[int, bytes]] = []
        self._snapshots: dict[int, tuple[SnapshotInfo, list[bytes]]] = {}
        self._segments: dict[int, tuple[SegmentInfo, bytes]] = {}  # by last event, oldest first

    @property
    def last_seq(self) -> int:
        return self._last_seq

    def append(self, events: Sequence[bytes]) -> int:
        with self._lock:
            self._events += enumerate(events, start=self._last_seq + 1)
            self._last_seq += len(events)
            return self._last_seq

    def check_append(self, size: int) -> None:
        """Do nothing: memory that runs out is an error of the whole process."""

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        with self._lock:
            events = [event for event in self._events if event[0] > after]
            last_seq, floor = self._last_seq, self._floor
        expected = after + 1
        for seq, event in events:
            if seq != expected:
                break
            yield seq, event
            expected += 1
        if expected <= min(floor, last_seq):
            raise LogTrimmed(expected, floor)
        if expected <= last_seq:
            raise LogDamaged(expected, "it is not in the log any more")

    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        taken_at = self._clock()
        kept = [bytes(chunk) for chunk in chunks]
        info = SnapshotInfo(seq, sum(map(len, kept)), taken_at)
        with self._lock:
            if keep_existing and seq in self._snapshots:
                return self._snapshots[seq][0]
            self._snapshots[seq] = (info, kept)
            self._last_seq = max(self._last_seq, seq)
        return info

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        with self._lock:
            if seq not in self._snapshots:
                raise SnapshotMissing(seq)
            return iter(self._snapshots[seq][1])

    def snapshots(self) -> list[SnapshotInfo]:
        with self._lock:
            return [self._snapshots[seq][0] for seq in sorted(self._snapshots, reverse=True)]

    def delete_snapshot(self, seq: int) -> None:
        with self._lock:
            if self._snapshots.pop(seq, None) is None:
                raise SnapshotMissing(seq)

    def trim(self, seq: int) -> None:
        with self._lock:
            self._floor = max(self._floor, min(seq, self._last_seq))
            self._events = [event for event in self._events if event[0] > seq]

    def segments(self) -> list[SegmentInfo]:
        with self._lock:
            return [info for info, _ in self._segments.values()]

    def save_segment(self, info: SegmentInfo, body: bytes) -> None:
        with self._lock:
            self._segments[info.last_seq] = (info, body)

    def read_segment(self, last_seq: int) -> bytes:
        with self._lock:
            if last_seq not in self._segments:
                raise SegmentMissing(last_seq)
            return self._segments[last_seq][1]

    def delete_segments(self, last_seq: int) -> None:
        with self._lock:
            for seq in [each for each in self._segments if each <= last_seq]:
                del self._segments[seq]

    def save_base(self, seq: int, chunks: Iterable[bytes | memoryview]) -> None:
        self.save_snapshot(seq, chunks)

    def scrub(self) -> None:
        """Do nothing: nothing was written."""

    def close(self) -> None:
        """Do nothing: the memory is freed with the object."""
