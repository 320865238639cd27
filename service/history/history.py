"""The history of a store: its parts, and its interface for the rest of the service."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic, sleep
from typing import TypeVar

from manyclass.core.event import Event
from manyclass.core.outcome import Outcome
from manyclass.service.config.settings import Settings
from manyclass.service.errors import with_hint
from manyclass.service.history.amendments import Amendments
from manyclass.service.history.reader import Filter, Page, Reader, Record
from manyclass.service.history.recorder import SEGMENT_EVENTS, Recorder, amending
from manyclass.service.history.segment import Segment
from manyclass.service.history.undone import Undone
from manyclass.service.log.hooks import Hooks
from manyclass.service.log.live_model import LiveModel
from manyclass.service.store.errors import (
    LogDamaged,
    LogTrimmed,
    SegmentMissing,
    StoreDamaged,
    StoreError,
)
from manyclass.service.store.protocol import Store
from manyclass.service.store.segments import SegmentStore

log = logging.getLogger(__name__)

T = TypeVar("T")

PAGE = 1000
LOOK_SECONDS = 5.0
PACK_PAUSES = (0.5, 2.0)  # seconds before further attempts to pack events that would be lost


class History:
    """The past events behind the log, with the amendments that wait for a rebuild.

    Methods that block are for threads, all others for the event loop.
    """

    def __init__(
        self,
        store: Store,
        segments: SegmentStore,
        live: LiveModel,
        settings: Settings,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """Blocks. Raises StoreError."""
        outcomes = live.recovery.outcomes
        self.live = live
        self.store = store
        self.segments = segments
        self.amendments = Amendments()
        self.recorder = Recorder(
            store, segments, outcomes, settings.history_bytes, settings.history_seconds, wall_clock
        )
        self.reader = Reader(store, segments, self.recorder, self.amendments, outcomes, live)
        self.failures = 0
        self.is_held = False
        self._pending_bytes = settings.history_pending_bytes
        self._wall_clock = wall_clock
        self._is_failing = False
        self._is_packing = False
        self._look_at = monotonic() + LOOK_SECONDS  # time to look for a full segment in the log
        self._checked_end = -1  # end of the history when its limits were last checked
        self._find_amendments()

    def _find_amendments(self) -> None:
        self.amendments.note_all(self._packed_amendments())
        self.amendments.note_all(self._amendments_behind(self.recorder.end, self.live.model.seq))

    def _amendments_behind(self, after: int, last_seq: int) -> list[tuple[int, bytes, int]]:
        """Return number, bytes and time of the amendments after `after`, up to `last_seq`."""
        found: list[tuple[int, bytes, int]] = []
        try:
            for part in self.behind(after, last_seq):
                found += amending(part)
        except LogDamaged as error:  # the state does not need them
            self._not_known(error)
        return found

    def _not_known(self, error: StoreError) -> None:
        self.failures += 1
        log.error("the waiting amendments cannot be read: %s", with_hint(error))

    def _packed_amendments(self) -> list[tuple[int, bytes, int]]:
        """Return number, bytes and time of the amendments in segments that wait for a rebuild."""
        found: list[tuple[int, bytes, int]] = []
        for info in self.recorder.infos:
            if info.amendments:
                try:
                    found += amending(self.reader.segment(info))
                except (StoreDamaged, SegmentMissing) as error:  # rebuilds are refused
                    self._not_known(error)
        return found

    def refresh(self) -> None:
        """Read the segments that the leader packed, rewrote and settled. Blocks. Raises
        StoreError.
        """
        before = self.recorder.end
        is_rewritten = self.recorder.refresh()
        if is_rewritten:
            self.reader.forget()
        end = self.recorder.end
        if is_rewritten or (end != before and len(self.amendments) > 0):
            self.amendments.renew(self._packed_amendments(), end)

    def reload(self, seq: int) -> None:
        """Read the history again for the restored state at `seq`; the log may have lost events.

        Blocks. An error is logged; waiting amendments are then unknown until the next start.
        """
        try:
            self.recorder.refresh()
            self.reader.forget()
            in_log = self._amendments_behind(self.recorder.end, seq)
            self.amendments.renew([*self._packed_amendments(), *in_log])
        except StoreError as error:
            self.failures += 1
            log.error("the history cannot be read again: %s", with_hint(error))

    def noting(self, hooks: Hooks) -> Hooks:
        """Return hooks that note applied amendments, and then call the given hooks."""
        amendments, wall_clock, on_applied = self.amendments, self._wall_clock, hooks.on_applied

        def note(event: Event, outcome: Outcome, seconds: float) -> None:
            if event.kind == "amend":
                amendments.note(outcome.seq, event, int(1000 * wall_clock()))
            if on_applied is not None:
                on_applied(event, outcome, seconds)

        return replace(hooks, on_applied=note)

    @property
    def amendment_age(self) -> float:
        """The seconds for which the oldest amendment has waited; 0 if there is none or unknown."""
        oldest = self.amendments.oldest_time
        return 0.0 if oldest is None else max(0.0, self._wall_clock() - oldest / 1000)

    # --- writing ---------------------------------------------------------------------------------

    @property
    def packs(self) -> bool:
        """False if the log itself is the history."""
        return self.recorder.packs

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep snapshots from trimming a log that is the history, unless the store is full."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False

    def starts_packing(self, is_leader: bool = True) -> bool:
        """Return whether to call `pack_full`: a segment may be full, and none is being packed.

        A few large events fill a segment too, so the log is checked from time to time. A process
        that does not lead checks for new segments of the leader.
        """
        unpacked = self.live.model.seq - self.recorder.end
        now = monotonic()
        packs = is_leader and self.packs
        is_due = (packs and unpacked >= SEGMENT_EVENTS) or (unpacked > 0 and now >= self._look_at)
        if not is_due or self._is_packing:
            return False
        self._is_packing = True
        self._look_at = now + LOOK_SECONDS
        return True

    def pack_full(self, is_leader: bool = True) -> None:
        """Pack full segments if this process leads. Blocks. After a logged error, it is retried."""
        try:
            if is_leader and self.packs:
                self.pack(self.live.model.seq, only_full=True)
            else:
                self.refresh()
        except StoreError as error:
            log.error("the history cannot be written: %s", with_hint(error))
        finally:
            self._is_packing = False

    def pack_behind(self, last_seq: int, oldest: int, is_full: bool) -> int:
        """Pack the events up to this one; return the last event that may be trimmed from the log.

        That is `oldest`, or an earlier event while events cannot be packed. If more events wait for
        the archive than MANYCLASS_HISTORY_PENDING_BYTES allows, or the store is full, packing is
        tried again after the packed events are trimmed; if it still fails, the events are lost to
        the history, and learning continues. Blocks. Raises StoreError.
        """
        for pause in (0.0, *PACK_PAUSES):
            sleep(pause)
            try:
                self.pack(last_seq)
                break
            except StoreError as error:
                log.error("the history cannot be written: %s", with_hint(error))
            most = self._pending_bytes
            if not self.recorder.may_lose_events or not (
                is_full or self.recorder.pending_bytes(most) > most
            ):
                break
            self.store.trim(min(oldest, self.recorder.end))
        else:
            log.error("events up to %d are lost for the history", oldest)
            return oldest
        return min(oldest, self.recorder.end)

    def pack(self, last_seq: int, only_full: bool = False) -> None:
        """Pack the events of the log up to this one. Blocks. Raises StoreError."""
        try:
            self.refresh()
            self.recorder.pack(last_seq, only_full)
        except StoreError:
            self.failures += 1
            self._is_failing = True
            raise
        self._is_failing = False

    def is_above_limits(self) -> bool:
        """Return whether the history exceeds its limits; checked once after each pack."""
        checked, self._checked_end = self._checked_end, self.recorder.end
        return checked != self.recorder.end and self.recorder.has_limits_to_check()

    @property
    def is_failing(self) -> bool:
        """True if the last attempt to pack events failed; then the log is not trimmed."""
        return self._is_failing

    def bases(self, snapshots: Iterable[int]) -> list[int]:
        """Return the snapshots from which the history can begin; the oldest keeps most events."""
        first = self.recorder.whole_since
        return [seq for seq in snapshots if seq + 1 >= first]

    def base_of_waiting(self, snapshots: Sequence[int]) -> int | None:
        """Return the newest snapshot before all amended events that wait for a rebuild, or None."""
        oldest = min(self.amendments.waiting(), default=0)
        return max((seq for seq in snapshots if seq < oldest), default=None)

    # --- reading ---------------------------------------------------------------------------------

    def page(
        self,
        wanted: Filter,
        limit: int,
        after: int | None = None,
        newest_first: bool = True,
        most_bytes: int | None = None,
    ) -> Page:
        """Return matching records, see Reader.page. Blocks. Raises StoreError."""
        return self._while_packing(
            lambda: self.reader.page(wanted, limit, after, newest_first, most_bytes)
        )

    def find(self, seq: int) -> Record | None:
        """Return a record, see Reader.find. Blocks. Raises StoreError."""
        return self._while_packing(lambda: self.reader.find(seq))

    def undone_of(self, event_id: str) -> list[Record]:
        """Return the events with this id that restores have undone. Blocks. Raises StoreError."""
        found: list[Record] = []
        for seqs in Undone(self.live.model.restores).ranges:
            for part in self.behind(seqs.start - 1, seqs.stop - 1):
                found += self.reader.undone_of(event_id, part)
        return found

    def newest(self, count: int) -> Iterator[Record]:
        """Yield the newest records, newest first. Blocks. Raises StoreError."""
        after: int | None = None
        while count > 0:
            page = self.page(Filter(), min(count, PAGE), after)
            yield from page.records
            count -= len(page.records)
            if page.next is None:
                return
            after = page.next

    def behind(self, after: int, last_seq: int) -> Iterator[Segment]:
        """Yield the events after `after`, up to `last_seq`, oldest first, with their outcomes.

        Packed events come from segments, all others from the log, so a concurrent trim removes
        nothing. Each part begins after the previous one, or later if the history has a gap. The
        iterator ends before `last_seq` if the log does. Blocks. Raises StoreError.
        """
        while after < last_seq:
            part = self._while_packing(partial(self.reader.part, after, last_seq))
            if part.last_seq == after:
                return
            yield part
            after = part.last_seq

    def _while_packing(self, read: Callable[[], T]) -> T:
        """Read, and again if meanwhile the log was trimmed after packing or segments have left."""
        self.refresh()
        while True:
            infos = self.recorder.infos
            try:
                return read()
            except (LogTrimmed, SegmentMissing):
                self.refresh()
                if infos is self.recorder.infos:
                    raise
