"""The recorder, which packs the events of the log into segments before the log is trimmed."""

import logging
from collections.abc import Callable
from threading import RLock
from time import time

from manyclass.core.event import Event
from manyclass.service.history.event_times import dated, stamped
from manyclass.service.history.segment import AS_SENT, GONE, Segment
from manyclass.service.log.outcomes import NO_EFFECT, Outcomes
from manyclass.service.store.batch import checksum_of
from manyclass.service.store.errors import LogDamaged, LogTrimmed
from manyclass.service.store.protocol import Store
from manyclass.service.store.segments import SegmentInfo, SegmentStore, as_shared_segments

log = logging.getLogger(__name__)

SEGMENT_EVENTS = 4096
SEGMENT_BYTES = 512 * 1024  # of events, before they are compressed


def amending(segment: Segment) -> list[tuple[int, bytes, int]]:
    """Return number, bytes and time of the events that amend others and wait for a rebuild."""
    events = dated(enumerate(segment.payloads, segment.first_seq))
    return [
        each
        for each, flag in zip(events, segment.flags, strict=True)
        if flag == AS_SENT and Event.amends(each[1])
    ]


class Recorder:
    """The part that packs events and so extends the history.

        log      ──────────────┬───────────────►        packed up to `end`
        history  segment │ segment │            ◄── pack

    Packing is repeatable: a segment is saved before the log is trimmed, and `end` follows from the
    segments. Any thread may call any method; one thread at a time packs. With several processes,
    the leader packs, and all others `refresh`. A shared store without an archive keeps no segments;
    its history begins where the log begins.
    """

    def __init__(
        self,
        store: Store,
        segments: SegmentStore,
        outcomes: Outcomes,
        most_bytes: int,
        most_seconds: float = 0,
        wall_clock: Callable[[], float] = time,
    ) -> None:
        """Events older than `most_seconds` are dropped; 0: none. Blocks. Raises StoreError."""
        self._store = store
        self._segments = segments
        self._shared = as_shared_segments(segments)
        self._outcomes = outcomes
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds
        self._wall_clock = wall_clock
        self._lock = RLock()
        self.infos = segments.segments()  # replaced as a whole, so any thread may read it
        self.end = self._begin() if self._shared is None else 0
        self.deleted_events = 0  # events dropped beyond the limits, since the start
        self.lost_events = 0  # events trimmed from the log before packing, since the start
        self._is_known = False  # the end is known, on a shared store
        self._log_begin = 0  # begin of the log at the start, on a shared store
        self._packed_time = 0  # time of the last packed event in Unix milliseconds; 0: not known
        self.refresh()
        if self._shared is not None:
            # A store that begins with a snapshot, as from `manyclass train`, lacks earlier events.
            self._log_begin = self._begin()
            self.refresh()

    @property
    def may_lose_events(self) -> bool:
        """True if the log must eventually be trimmed even if events cannot be packed."""
        return self._shared is not None

    @property
    def packs(self) -> bool:
        """False if the log itself is the history."""
        return self._shared is None or self._shared.are_kept

    def refresh(self) -> bool:
        """Read the segments that another process packed or rewrote. Blocks. Raises StoreError.

        Return whether a known segment was rewritten or deleted.
        """
        if self._shared is None:
            return False
        with self._lock:
            before = self.infos
            infos, trimmed = self._shared.listed()
            packed = infos[-1].last_seq if infos else 0
            end = max(packed, trimmed, self._log_begin)
            if self.packs and self._is_known:
                self.lost_events += max(0, end - max(packed, self.end, self._log_begin))
            self._is_known = True
            former = self.end
            if infos != before or end != former:
                self.infos, self.end = infos, end
                self._outcomes.drop(former + 1, end - former)  # last: see Reader.part
            return not set(before).issubset(infos)

    def _begin(self) -> int:
        """Return the end of the history, or of a gap after it."""
        snapshots = sorted(info.seq for info in self._store.snapshots())
        begins = [info.last_seq for info in self.infos[-1:]] or [0, *snapshots[:-1]]
        for seq in begins:
            try:
                next(self._store.read(seq), None)
            except (LogDamaged, LogTrimmed):
                continue
            return seq
        begin = snapshots[-1] if snapshots else 0
        if self.infos:
            log.warning("events %d to %d are missing in the history", begins[-1] + 1, begin)
        return begin

    @property
    def whole_since(self) -> int:
        """The number of the first event from which on the history is complete."""
        first = self.end + 1
        for info in reversed(self.infos):
            if info.last_seq + 1 != first:
                break
            first = info.first_seq
        return first

    @property
    def total_bytes(self) -> int:
        """The total size of the segments."""
        return sum(info.bytes for info in self.infos)

    def pack(self, last_seq: int, only_full: bool = False) -> None:
        """Pack the events up to `last_seq`, all or only full segments.

        Blocks. Raises StoreError.
        """
        if not self.packs:
            return
        with self._lock:
            payloads: list[bytes] = []
            size = 0
            if last_seq <= self.end:
                return
            for seq, payload in self._store.read(self.end):
                if seq > last_seq:
                    break
                payloads.append(payload)
                size += len(payload)
                if len(payloads) >= SEGMENT_EVENTS or size >= SEGMENT_BYTES:
                    self._save(payloads)
                    payloads, size = [], 0
            if payloads and not only_full:
                self._save(payloads)

    def pending_bytes(self, most: int) -> int:
        """Return the bytes of the unpacked events; the count stops soon beyond `most`.

        Blocks. Raises StoreError.
        """
        size = 0
        for _, payload in self._store.read(self.end):
            size += len(payload)
            if size > most:
                break
        return size

    def _save(self, payloads: list[bytes]) -> None:
        first, count = self.end + 1, len(payloads)
        outcomes = self._outcomes.of(first, count)
        # A retry is another copy of its event, which no deletion would find.
        has_effect = [outcome != NO_EFFECT for outcome in outcomes]
        kept = [each if has else b"" for each, has in zip(payloads, has_effect, strict=True)]
        times = [time for _, _, time in dated(enumerate(payloads), self._packed_time)]
        kept = stamped(kept, times)
        flags = [AS_SENT if has else GONE for has in has_effect]
        segment = Segment(first, kept, outcomes, flags)
        self.replace(segment)
        self.end, self._packed_time = segment.last_seq, times[-1]
        self._outcomes.drop(first, count)

    def replace(self, segment: Segment) -> None:
        """Save a segment, which replaces the one that ends with the same event."""
        body = segment.packed()
        waiting = len(amending(segment))
        checksum = "" if self._shared is None else checksum_of(body).hex()
        info = SegmentInfo(segment.first_seq, segment.last_seq, len(body), waiting, checksum)
        with self._lock:  # a rebuild rewrites segments while others are packed
            self._segments.save_segment(info, body)
            others = [each for each in self.infos if each.last_seq != info.last_seq]
            self.infos = sorted([*others, info], key=lambda each: each.last_seq)

    def has_limits_to_check(self) -> bool:
        """Return whether `excess` may be above 0; this is cheap."""
        return len(self.infos) > 1 and (
            self._most_seconds > 0 or self.total_bytes > self._most_bytes
        )

    def excess(self) -> int:
        """Return the last event that must leave the history, or 0. Blocks. Raises StoreError.

        Beyond the limit in bytes, a tenth of it is freed, so that this is rare.
        """
        infos, total = self.infos, self.total_bytes
        most = self._most_bytes if total <= self._most_bytes else 0.9 * self._most_bytes
        gone = 0
        while gone < len(infos) - 1 and (total > most or self._is_old(infos[gone])):
            total -= infos[gone].bytes
            gone += 1
        return infos[gone - 1].last_seq if gone else 0

    def drop(self, last_seq: int) -> None:
        """Delete the segments up to this event. Blocks. Raises StoreError."""
        with self._lock:
            self._segments.delete_segments(last_seq)
            gone = [info for info in self.infos if info.last_seq <= last_seq]
            self.deleted_events += sum(info.last_seq - info.first_seq + 1 for info in gone)
            self.infos = [info for info in self.infos if info.last_seq > last_seq]

    def _is_old(self, info: SegmentInfo) -> bool:
        if self._most_seconds == 0:
            return False
        segment = Segment.unpacked(info.first_seq, self._segments.read_segment(info.last_seq))
        newest = max(map(Event.time_of, filter(None, segment.payloads)), default=0)
        return newest / 1000 < self._wall_clock() - self._most_seconds
