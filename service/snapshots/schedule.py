"""The schedule of snapshots, which are taken while the service ranks and learns."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from manyclass.core.model_state import Frozen
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.errors import with_hint
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.snapshots.retention import PastEvents, Retention
from manyclass.service.store.errors import StoreError, StoreUnavailable
from manyclass.service.store.protocol import Heartbeat, SnapshotInfo
from manyclass.service.threads import lower_priority

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0  # after a failure; often enough to notice free room on the disk


class SnapshotSchedule:
    """The part that takes one snapshot at a time, in a thread of low priority.

        due ──► copy the model ──► write the copy ──► retention
                (learning waits)   (in the thread)    (leader only)

    Learning waits only while the state is copied in memory; ranking never waits. If a shared store
    is full, the leader takes a snapshot at once and keeps no older ones, to make room.
    """

    def __init__(
        self,
        settings: Settings,
        cluster: Cluster,
        apply_loop: ApplyLoop,
        loader: SnapshotLoader,
        clock: Callable[[], float],
        history: PastEvents | None = None,
    ) -> None:
        self.seconds: float | None = None  # time to take and write the newest snapshot
        self.pause_seconds: float | None = None  # pause of learning for the newest snapshot
        self.failures = 0
        self._store = cluster.store
        self._cluster = cluster
        self._live = cluster.live
        self._apply_loop = apply_loop
        self._loader = loader
        self._retention = Retention(cluster.store, loader, settings.snapshot_keep, history)
        self._clock = clock
        self._every_events = settings.snapshot_events
        self._every_seconds = settings.snapshot_seconds
        self._newest: SnapshotInfo | None = None
        self._restored_after = -1  # `times_lost` of the model at the last noted restore
        self._heartbeat: Heartbeat | None = None  # the last one whose snapshots were noted
        self._is_full = False  # the store has no room for an append
        self._taken_at = clock()
        self._not_before = 0.0
        self._unlisted = False  # the last attempt to list the snapshots failed
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "snapshot", initializer=lower_priority)

    async def all(self) -> list[SnapshotInfo]:
        """Return every snapshot of the store, newest first. Raises StoreError."""
        try:
            listed = await asyncio.to_thread(self._store.snapshots)
        except StoreError as error:
            if not self._unlisted:  # log once: health checks list them repeatedly
                log.error("the snapshots cannot be listed: %s", with_hint(error))
            self._unlisted = True
            raise
        self._unlisted = False
        return listed

    @property
    def newest(self) -> SnapshotInfo | None:
        """The newest snapshot known to be usable; another process may have taken it."""
        self._note_restored_state()
        self._note_heartbeat()
        return self._newest

    @property
    def changed(self) -> bool:
        """True if no usable snapshot has the present state."""
        newest = self.newest
        return newest is None or newest.seq < self._live.model.seq

    def due(self) -> bool:
        """Return whether a snapshot is due by the number of events or the time since the last."""
        newest = self.newest
        now = self._clock()
        if not self._cluster.is_leader or self._lock.locked() or now < self._not_before:
            return False
        if not self.changed:
            heartbeat = self._heartbeat
            return self._is_full and heartbeat is not None and len(heartbeat.snapshots) > 1
        if newest is None or self._is_full:
            return True
        if self._loader.damaged:
            return True  # recovery had no usable snapshot; the next recovery shall have one
        if newest.seq < self._live.recovery.rules_raised_at:
            return True  # recovery from the newest snapshot would need an older release
        events = self._live.model.seq - newest.seq
        return (0 < self._every_events <= events) or (
            0 < self._every_seconds <= now - self._taken_at
        )

    async def take(self) -> SnapshotInfo:
        """Take and return a snapshot after those in progress, or the newest if the state is equal.

        Raises StoreError; the next scheduled snapshot is then due after RETRY_SECONDS.
        """
        async with self._lock:
            return await self._take()

    async def by_schedule(self) -> None:
        """Take a snapshot; if the store is full, make room. Raises the errors of `take`."""
        async with self._lock:
            is_full = self._is_full
            before = self.newest
            if is_full:
                log.warning(
                    "the store is full: taking a snapshot, then deleting older snapshots and"
                    " trimming the log"
                )
            info = await self._take()
            if is_full and info is before:  # no new snapshot was needed; delete the older ones
                await self._clean_up(info.seq)
            self._is_full = False  # until the next heartbeat

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[Callable[[], Awaitable[SnapshotInfo]]]:
        """Exclude other snapshots inside; only the yielded call takes one."""
        async with self._lock:
            yield self._take

    def supersede(self) -> None:
        """Forget the newest snapshot, because the state at its number has changed."""
        self._note_restored_state()  # otherwise that snapshot would be noted afterwards
        self._newest = None

    async def close(self) -> None:
        """Wait for a snapshot in progress, and end the thread."""
        async with self._lock:
            await asyncio.to_thread(self._thread.shutdown)

    # --- news ------------------------------------------------------------------------------------

    def _note_restored_state(self) -> None:
        """Continue from the snapshot from which the state was restored, after each restore."""
        live = self._live
        if not live.is_lost and self._restored_after != live.times_lost:
            self._restored_after = live.times_lost
            self._newest = live.recovery.snapshot
            self._loader.damaged.update(live.recovery.refused)
            self._heartbeat = self._cluster.heartbeat  # it may list lost snapshots
        elif self._newest is not None and self._newest.seq in self._loader.damaged:
            self._newest = None

    def _note_heartbeat(self) -> None:
        """Note the snapshots of the store, including snapshots taken by other processes."""
        heartbeat = self._cluster.heartbeat
        if heartbeat is None or heartbeat is self._heartbeat:
            return
        self._heartbeat = heartbeat
        if heartbeat.is_full and not self._is_full:
            self._not_before = 0.0  # a failed snapshot may have been the first to find no room
        self._is_full = heartbeat.is_full
        usable = [info for info in heartbeat.snapshots if info.seq not in self._loader.damaged]
        if usable and (self._newest is None or usable[0].seq > self._newest.seq):
            self._newest = usable[0]
            self._taken_at = self._clock()

    # --- taking ----------------------------------------------------------------------------------

    async def _take(self) -> SnapshotInfo:
        loop = asyncio.get_running_loop()
        began = self._clock()
        try:
            async with self._apply_loop.quiet() as model:
                paused = self._clock()
                times_lost = self._live.times_lost
                seq = model.seq
                newest = self.newest
                if newest is not None and newest.seq == seq:
                    return newest
                frozen = await asyncio.to_thread(model.freeze)
                pause_seconds = self._clock() - paused
            info = await loop.run_in_executor(self._thread, self._save, seq, frozen, times_lost)
        except Exception as error:
            self._failed("snapshot failed", error)
            raise
        self._newest = info
        self._loader.damaged.discard(seq)
        self.seconds = self._clock() - began
        self.pause_seconds = pause_seconds
        self._taken_at = self._clock()
        log.info("snapshot %d: %d bytes, %.1f s", seq, info.bytes, self.seconds)
        if self._cluster.is_leader:
            await self._clean_up(seq)
        return info

    def _save(self, seq: int, frozen: Frozen, times_lost: int) -> SnapshotInfo:
        """Save a frozen state, in the thread."""
        return self._store.save_snapshot(seq, self._unless_lost(frozen, times_lost))

    def _unless_lost(self, frozen: Frozen, times_lost: int) -> Iterator[memoryview]:
        """Yield the pieces of a state. Raises StoreUnavailable if the state was lost meanwhile."""
        yield from frozen.pieces()
        if self._live.is_lost or self._live.times_lost != times_lost:
            raise StoreUnavailable("the log has lost events of the state")

    async def _clean_up(self, seq: int) -> None:
        loop = asyncio.get_running_loop()
        restores = list(self._live.model.restores)  # including restores after `seq`
        try:
            prune = self._retention.prune
            await loop.run_in_executor(self._thread, prune, restores, self._is_full)
        except Exception as error:  # the snapshot itself is complete
            self._failed(f"the clean-up after snapshot {seq} failed", error)

    def _failed(self, what: str, error: Exception) -> None:
        self.failures += 1
        self._not_before = self._clock() + RETRY_SECONDS
        unforeseen = None if isinstance(error, StoreError) else error
        log.error(
            "%s; next attempt in %.0f s at the earliest: %s",
            what,
            RETRY_SECONDS,
            with_hint(error),
            exc_info=unforeseen,
        )
