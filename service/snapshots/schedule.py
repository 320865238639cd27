"""Snapshots: taken while the service ranks and learns, kept as long as needed, gone back to."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Frozen, Model
from manyclass.core.model_set import ModelSet, continues
from manyclass.service.config.settings import Settings
from manyclass.service.log.group_commit import GroupCommit, with_hint
from manyclass.service.log.recovery import Recovery, load_snapshot
from manyclass.service.store.protocol import (
    SnapshotDamaged,
    SnapshotInfo,
    SnapshotMissing,
    Store,
    StoreError,
    StoreUnavailable,
)

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0  # after a failed one; often enough to notice that the disk has room again
# Leaves the 99th percentile of ranking as it is without a snapshot. The lowest priority, 19, does
# no better, but takes ten times as long to write on a busy machine.
LOW_PRIORITY = 10


class Snapshots:
    """Takes one at a time, and gives way to everything else while it writes.

    Learning waits only while the state is copied in memory; ranking never waits. The log is
    trimmed behind the oldest of the newest `snapshot_keep` snapshots, so recovery can start from
    each of them. An older one stays only while a restore mark in the log that is left names it.
    While a shared store is full, the leader takes one at once and keeps no older one, which makes
    room.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        writer: GroupCommit,
        recovery: Recovery,
        clock: Callable[[], float],
        hash_seed: int = 0,
    ) -> None:
        self.newest = recovery.snapshot  # the newest that is known to be usable
        self.seconds: float | None = None  # the newest took so long, its being kept included
        self.pause_seconds: float | None = None  # of these, learning waited for so long
        self.failures = 0
        self.wanted = False  # one is due as soon as something has changed
        self.leads = True  # of several processes on one store, one takes them by the schedule
        self._is_full = False  # the store has no room for an append
        self._listed = 0  # snapshots in the store, by the newest beat
        # A log that others share may turn out to have lost events, and the state with them.
        self._state_is_lost = False
        self._states_lost = 0
        self._store = store
        self._writer = writer
        self._clock = clock
        self._hash_seed = hash_seed
        self._keep = settings.snapshot_keep
        self._every_events = settings.snapshot_events
        self._every_seconds = settings.snapshot_seconds
        self._damaged = set(recovery.refused)
        self._loaded: tuple[int, Model] | None = None  # the snapshot that is being gone back to
        self._taken_at = clock()
        self._not_before = 0.0
        self._unlisted = False  # the last try to list them failed
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "snapshot", initializer=_give_way)

    async def all(self) -> list[SnapshotInfo]:
        """Every snapshot of the store, newest first."""
        try:
            listed = await asyncio.to_thread(self._store.snapshots)
        except StoreError as error:
            if not self._unlisted:  # once: who asks for the service's health asks again and again
                log.error("the snapshots cannot be listed: %s", with_hint(error))
            self._unlisted = True
            raise
        self._unlisted = False
        return listed

    def hear(self, listed: list[SnapshotInfo], leads: bool, is_full: bool = False) -> None:
        """Take note of the snapshots of the store, some of them taken by other processes."""
        self.leads = leads
        self._listed = len(listed)
        if is_full and not self._is_full:
            self._not_before = 0.0  # a failed one may have been the first to find no room
        self._is_full = is_full
        usable = [info for info in listed if info.seq not in self._damaged]
        if usable and (self.newest is None or usable[0].seq > self.newest.seq):
            self.newest = usable[0]
            self._taken_at = self._clock()

    def lose_state(self) -> None:
        """The state is not that of the log: no snapshot of it may be kept until `find_state`."""
        self._state_is_lost = True
        self._states_lost += 1

    def find_state(self, recovery: Recovery) -> None:
        """The state was restored anew."""
        self._state_is_lost = False
        self.newest = recovery.snapshot
        self._damaged.update(recovery.refused)

    @property
    def changed(self) -> bool:
        """True while no usable snapshot holds the state as it is now."""
        return self.newest is None or self.newest.seq < self._writer.model.seq

    def due(self) -> bool:
        """True when the schedule asks for one: after so many events, or seconds with a change."""
        now = self._clock()
        if not self.leads or self._lock.locked() or now < self._not_before:
            return False
        if not self.changed:
            return self._is_full and self._listed > 1
        if self._is_full or self.wanted:
            return True
        if self.newest is None or self._damaged:
            return True  # recovery had to do without one; the next should not have to
        events = self._writer.model.seq - self.newest.seq
        return (0 < self._every_events <= events) or (
            0 < self._every_seconds <= now - self._taken_at
        )

    async def take(self) -> SnapshotInfo:
        """A snapshot of the state as it is when its turn comes; the newest one when it is that.

        Raises StoreError, and then is not due for RETRY_SECONDS.
        """
        async with self._lock:
            return await self._take()

    async def by_schedule(self) -> None:
        """Take a snapshot; in a full store, make room by it. Raises what `take` does."""
        async with self._lock:
            is_full = self._is_full
            before = self.newest
            if is_full:
                log.warning("the store is full: older snapshots and the log behind a new one go")
            info = await self._take()
            if is_full and info is before:  # it is as new as can be, and the older ones are left
                await self._clean_up(info.seq)
            self._is_full = False  # until a beat tells otherwise

    async def restore(self, seq: int) -> int:
        """Go back to the state of snapshot `seq`; the seq of the event that says so.

        The snapshot is loaded beside the model in use, which ranks and learns until a mark in the
        log is durable. Stopped before that, nothing has happened; stopped after it, recovery
        finds the mark and does the rest, and so does every other process. The learners stay those
        in force. So does the one that answers, unless the snapshot has nothing it has learned: then
        one of them answers that it has something of. Where it has nothing of any, the one that
        answered then answers beside them.

        Raises OptionError when these would be too many, SnapshotMissing, SnapshotDamaged,
        StoreUnavailable: nothing was changed (but for CommitOutcomeUnknown); NotReady when the
        mark could not be followed.
        """
        async with self._lock:
            model = await self._load(seq)
            events = [Event.restore(seq), *_changes(self._writer.model.model_set, model)]
            self._loaded = (seq, model)
            try:
                results = await self._writer.admit(events)
            finally:
                self._loaded = None
            last = results[-1].seq
            try:
                await self._take()
            except Exception:  # whatever it is, it was logged, and the mark is in the log
                log.warning("event %d stands without a snapshot until the next one is taken", last)
            return last

    async def load(self, seq: int) -> Model:
        """The model of the snapshot a mark in the log names, which may be another process's mark.

        Raises StoreError.
        """
        loaded, self._loaded = self._loaded, None
        if loaded is not None and loaded[0] == seq:
            return loaded[1]
        return await self._load(seq)

    async def _load(self, seq: int) -> Model:
        try:
            return await asyncio.to_thread(load_snapshot, self._store, seq, self._hash_seed)
        except SnapshotDamaged:
            self._damaged.add(seq)  # found out in time: recovery shall not have to rely on it
            if self.newest is not None and self.newest.seq == seq:
                self.newest = None
            raise
        except SnapshotMissing:
            raise
        except StoreError as error:
            log.error("snapshot %d cannot be loaded: %s", seq, with_hint(error))
            raise

    async def close(self) -> None:
        """Wait for what is under way and end the thread."""
        async with self._lock:
            await asyncio.to_thread(self._thread.shutdown)

    async def _take(self) -> SnapshotInfo:
        loop = asyncio.get_running_loop()
        began = self._clock()
        try:
            async with self._writer.applier.quiet():
                paused = self._clock()
                model, lost = self._writer.model, self._states_lost
                seq = model.seq
                if self.newest is not None and self.newest.seq == seq:
                    return self.newest
                frozen = await asyncio.to_thread(model.freeze)
                pause_seconds = self._clock() - paused
            info = await loop.run_in_executor(self._thread, self._save, seq, frozen, lost)
        except Exception as error:
            self._failed("snapshot failed", error)
            raise
        self.newest = info
        self.wanted = False
        self.seconds = self._clock() - began
        self.pause_seconds = pause_seconds
        self._taken_at = self._clock()
        log.info("snapshot %d: %d bytes, %.1f s", seq, info.bytes, self.seconds)
        if self.leads:
            await self._clean_up(seq)
        return info

    async def _clean_up(self, seq: int) -> None:
        loop = asyncio.get_running_loop()
        restores = list(self._writer.model.restores)  # some may have come since `seq`
        try:
            await loop.run_in_executor(self._thread, self._prune, restores)
        except Exception as error:  # the snapshot is there all the same
            self._failed(f"cleaning up behind snapshot {seq} failed", error)

    def _save(self, seq: int, frozen: Frozen, lost: int) -> SnapshotInfo:
        """In the thread."""
        return self._store.save_snapshot(seq, self._unless_lost(frozen, lost))

    def _unless_lost(self, frozen: Frozen, lost: int) -> Iterator[memoryview]:
        """The pieces of a state; StoreUnavailable behind them if it has been lost meanwhile."""
        yield from frozen.pieces()
        if self._state_is_lost or self._states_lost != lost:
            raise StoreUnavailable("the state is not that of the log, which has lost events")

    def _failed(self, what: str, error: Exception) -> None:
        self.failures += 1
        self._not_before = self._clock() + RETRY_SECONDS
        unforeseen = None if isinstance(error, StoreError) else error
        log.error(
            "%s, next try in %.0f s at the earliest: %s",
            what,
            RETRY_SECONDS,
            with_hint(error),
            exc_info=unforeseen,
        )

    def _prune(self, restores: list[tuple[int, int]]) -> None:
        """In the thread: delete the snapshots nobody needs and trim the log they began."""
        present = [info.seq for info in self._store.snapshots()]
        usable = [seq for seq in present if seq not in self._damaged or seq == present[0]]
        kept = usable[: 1 if self._is_full else self._keep]
        oldest = kept[-1]
        named = {snapshot_seq for mark_seq, snapshot_seq in restores if mark_seq > oldest}
        for seq in present:
            if seq not in kept and seq not in named:
                self._store.delete_snapshot(seq)
        self._damaged.clear()
        self._store.trim(oldest)


def _changes(in_force: ModelSet, restored: Model) -> list[Event]:
    """What makes the learners of a restored state those in force, joined to the mark before."""
    model_sets = [restored.model_set]
    changes: list[Event] = []

    def configure(model_set: ModelSet) -> None:
        if model_sets[-1].differences(model_set):
            changes.append(Event.configure(model_set.to_dict()))
        model_sets.append(model_set)

    answered = restored.model_set.primary
    heir = _heir(in_force, restored.model_set)
    if heir is not None:
        configure(in_force.promoted(heir.specification))
    else:
        configure(_beside(answered, in_force))
    known = _known(in_force, model_sets[1], restored)
    answering = known[0] if known and (heir is None or known[0] == in_force.primary) else heir
    if answering is None:
        log.warning(
            "the state has nothing of the learners in force, so %s answers beside them: for the"
            " next start, name it in MANYCLASS_LEARNER or MANYCLASS_SHADOWS, or promote another"
            " and leave it out",
            answered.specification,
        )
    elif answering != model_sets[1].primary:
        changes.append(Event.promote(answering.stored_specification))
        model_sets.append(model_sets[1].promoted(answering.specification))
        if heir is None:
            configure(in_force.promoted(answering.specification))
    return [event.join() for event in changes]


def _heir(in_force: ModelSet, restored: ModelSet) -> Options | None:
    """The learner in force that goes on from the one that answers in the restored state."""
    answered = restored.primary
    found = in_force.find(answered.specification)
    if found is not None:
        return found
    others = (each for each in in_force.learners if restored.find(each.specification) is None)
    return next((each for each in others if continues(each, answered)), None)


def _beside(answered: Options, in_force: ModelSet) -> ModelSet:
    """The learners in force, and the one that answered; OptionError when they are too many."""
    try:
        return ModelSet(answered, in_force.learners)
    except OptionError as error:
        raise OptionError(
            error.option,
            f"none in force goes on from {answered.specification!r}, which answers in the snapshot,"
            f" and beside it {error}: first start with fewer shadows and --reconfigure",
        ) from error


def _known(in_force: ModelSet, model_set: ModelSet, restored: Model) -> list[Options]:
    """Those in force that go on from what is in the restored state, the one that answers first.

    From a state in which nothing was learned all go on equally.
    """
    origins = dict(zip(model_set.labels, model_set.origins(restored.model_set), strict=True))
    return [
        each
        for each in in_force.learners
        if not restored.has_learned or origins[each.specification] is not None
    ]


def _give_way() -> None:
    """Let the thread this runs in have the processor only when no other wants it."""
    if sys.platform != "linux":  # elsewhere a priority belongs to the whole process
        return
    thread = threading.get_native_id()
    try:
        # Only ever lower: a process may have been started lower still, and may not go back up.
        if os.getpriority(os.PRIO_PROCESS, thread) < LOW_PRIORITY:
            os.setpriority(os.PRIO_PROCESS, thread, LOW_PRIORITY)
    except OSError as error:  # an error here would be the end of the thread's pool
        log.warning("snapshots are written at the priority of the service: %s", error)
