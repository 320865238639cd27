"""The engine: a model that ranks and learns from durable events. HTTP calls only the engine."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from manyclass.core.errors import CoreError
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.service.cluster import RETRY_SECONDS, Cluster, StateRestorer
from manyclass.service.config.settings import SettingError, Settings
from manyclass.service.engine_stats import EngineStats
from manyclass.service.errors import (
    HistoryOff,
    NotReady,
    OptionsDiffer,
    QueueFull,
    RecoveryError,
    with_hint,
    without_place,
)
from manyclass.service.history.history import History
from manyclass.service.history.rebuild import Rebuild, RebuildReport, RebuildStatus
from manyclass.service.history.schedule import RebuildSchedule
from manyclass.service.log.hooks import NO_HOOKS, Hooks
from manyclass.service.log.pause import Pause
from manyclass.service.log.request import Result
from manyclass.service.pipeline import Pipeline
from manyclass.service.runtime import Runtime
from manyclass.service.store.errors import LogTrimmed, StoreError, StoreUnavailable
from manyclass.service.store.protocol import SnapshotInfo, Store
from manyclass.service.store.segments import SegmentStore, segments_of
from manyclass.service.tasks import Tasks

log = logging.getLogger(__name__)

Status = Literal["recovering", "ready", "failed", "closed"]

TRIAL_BYTES = 4096  # of the append that a start tries: about one long event
TICK_SECONDS = 1.0  # between two heartbeats, and two checks of the schedule


def history_segments(settings: Settings, store: Store) -> SegmentStore | None:
    """Return the store of past events behind the log, or None if no history is kept."""
    return segments_of(store) if settings.history else None


class Engine:
    """The engine ranks at once, learns durably, and restores its state at a start.

        recovering ──► ready ──► closed        ready ──► recovering: a shared log had lost events
             └───────────┴─► failed            failed: ranks if it was ready before

    All methods belong to one event loop. Ranking is a synchronous call that never waits; learning
    goes through the pipeline. Events of a cancelled caller are learned too.
    """

    def __init__(
        self,
        settings: Settings,
        cluster: Cluster,
        clock: Callable[[], float],
        *,
        hash_seed: int = 0,
        wall_clock: Callable[[], float] = time.time,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        """`hash_seed` salts the tables of names; use a random seed if clients are not trusted."""
        runtime = Runtime(clock, wall_clock, hash_seed)
        self.settings = settings
        self.cluster = cluster
        self.store = cluster.store
        self.recovery = cluster.live.recovery
        self.cause: Exception | None = None  # error of a failed start, for the server
        self._live = cluster.live
        self._live.on_model = partial(_warn_of_text, settings)
        named = settings.learner is not None and settings.text is not None
        self._restorer = StateRestorer(cluster, runtime, named)
        self._make_pipeline = partial(Pipeline, settings, cluster, self._restorer, runtime, hooks)
        self._segments = history_segments(settings, self.store)
        self.recovery.outcomes.are_kept = self.keeps_history
        self._rebuilds = RebuildSchedule(settings.rebuild_seconds, clock)
        self._merge_seen = 0  # number of the newest merge for which a rebuild was asked
        self._wall_clock = wall_clock
        self._status: Status = "recovering"
        self._failure: str | None = None
        self._pipeline: Pipeline | None = None
        self._queue_full = 0
        self._tasks = Tasks()
        self._timer: asyncio.TimerHandle | None = None

    # --- life ------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Restore the state; afterwards the status is "ready", or "failed" with a `failure`.

        A failure that an operator can repair is not raised: the server continues and reports it.
        The engine must be closed even after a failure.
        """
        try:
            await self._start()
        except (RecoveryError, OptionsDiffer, SettingError, StoreError, CoreError) as error:
            if self._status != "closed":
                log.critical("cannot start: %s", with_hint(error))
                self.cause = error
                self._fail(without_place(error))
        except Exception as error:
            log.critical("cannot start: recovery failed: %r", error)
            self._fail(f"recovery failed with {type(error).__name__}; see the log of the service")
            raise

    async def _start(self) -> None:
        self._tick()
        settings = self.settings
        model = await self._restorer.restore(settings.model_set, settings.text or DEFAULT_TEXT)
        if model is None:
            return
        settings.check_text(model.text)
        self._live.use(model)
        pipeline = self._make_pipeline(await self._opened_history())
        try:
            await pipeline.agree_on_learners()
            await self.cluster.poll_until(lambda _: True)  # the first heartbeat, before any request
            await pipeline.group_commit.try_store(TRIAL_BYTES)  # the disk may be full already
            if self._status != "closed":
                self._pipeline, self._status = pipeline, "ready"
        finally:
            if self._pipeline is None:
                await pipeline.discard()

    async def _opened_history(self) -> History | None:
        if self._segments is None:
            return None
        made = partial(History, self.store, self._segments, self._live, self.settings)
        while self._status != "closed":
            try:
                return await asyncio.to_thread(made, self._wall_clock)
            except (StoreUnavailable, LogTrimmed) as error:  # another process may trim the log
                if self.cluster.shared is None:
                    raise
                log.warning("the history cannot be read yet: %s", with_hint(error))
                await asyncio.sleep(RETRY_SECONDS)
        return None

    def _fail(self, reason: str) -> None:
        self._status, self._failure = "failed", reason
        self._live.on_model(None)
        self.cluster.resign()

    async def close(self) -> None:
        """Learn the admitted events, refuse others, take a last snapshot, close the store."""
        if self._status == "closed":
            return
        was_ready = self.status == "ready"
        self._status = "closed"
        self.recovery.given_up = True
        if self._timer is not None:
            self._timer.cancel()
        if self._pipeline is not None and self._pipeline.rebuild is not None:
            self._pipeline.rebuild.stop()
        await self._restorer.finished()
        await self._tasks.join()
        try:
            if self._pipeline is not None:
                await self._pipeline.finish(was_ready)
        finally:
            await asyncio.to_thread(self.store.close)
            if self._pipeline is not None:
                await self._pipeline.stop_following()

    @property
    def status(self) -> Status:
        """The state of the life cycle; a "failed" engine still ranks if it was ready before."""
        if self._status == "ready" and self._pipeline is not None:
            if self._pipeline.group_commit.failure is not None:
                return "failed"
            return "ready" if self._live.is_current else "recovering"
        return self._status

    @property
    def failure(self) -> str | None:
        """The reason why the status is "failed"."""
        return self._failure if self._pipeline is None else self._pipeline.group_commit.failure

    @property
    def pause(self) -> Pause | None:
        """The reason why learning is paused, None while events are learned."""
        status = self.status
        if status == "ready" and self._pipeline is not None:
            return self._pipeline.pause
        if status != "recovering":
            return Pause("failed", self.failure or f"the service is {status}")
        if self.cluster.waiting is not None:
            return Pause("recovering", f"learning is paused: {self.cluster.waiting}")
        return Pause(
            "recovering",
            f"the service is recovering: {self.recovery.replayed} events replayed, up to event"
            f" {self.recovery.last_seq}",
        )

    # --- rank and learn --------------------------------------------------------------------------

    def on_model(self, use: Callable[[Model | None], None]) -> None:
        """Call `use` with each new model in use, or with None when there is none."""
        settings = self.settings

        def used(model: Model | None) -> None:
            _warn_of_text(settings, model)
            use(model)

        self._live.on_model = used

    @property
    def model(self) -> Model:
        """The model in use, for reading only. Raises NotReady without one."""
        if not self._live.is_loaded or self._status == "failed":  # a start that failed
            raise NotReady(self.status, self.failure)
        return self._live.model

    async def submit(self, entries: Sequence[Event | Result], wait: bool = False) -> list[Result]:
        """Return a Result for each entry, in order, when all events are durable and applied.

        A Result among the entries stands for a recognised retry. Either all entries are learned or
        none. Raises the errors of `Model.check`, RequestConflict, StoreUnavailable, NotReady and
        QueueFull; with `wait`, waits for room in the queue instead of raising QueueFull.
        """
        while wait:
            pipeline = self._able()
            with suppress(QueueFull):  # not counted as a refusal: the caller waits
                return await pipeline.group_commit.admit(entries)
            await pipeline.apply_loop.progress()
        return await self.admit(entries)

    def admit(self, entries: Sequence[Event | Result]) -> "asyncio.Future[list[Result]]":
        """Queue the events; the future has the result of `submit`.

        Cancel the future if its result is not needed.
        """
        try:
            return self._able().group_commit.admit(entries)
        except QueueFull:
            self._queue_full += 1
            raise

    def admit_batch(self, batch: EventBatch) -> "asyncio.Future[EventBatch]":
        """Queue one or more plain events; the future returns the batch when all are applied.

        Raises QueueFull and NotReady; the future may raise StoreUnavailable or NotReady.
        """
        try:
            return self._able().group_commit.admit_batch(batch)
        except QueueFull:
            self._queue_full += 1
            raise

    def can_admit(self, batch: EventBatch) -> bool:
        """Return whether the queue has room for these events and no vector can be refused, or the
        engine cannot learn at all."""
        if self._pipeline is None or not self._live.is_loaded:
            return True
        has_room = self._pipeline.group_commit.has_room(len(batch), batch.size)
        return has_room and batch.has_vectors_of(self._live.model.evidence.dimension)

    async def reached(self, seq: int, seconds: float) -> bool:
        """Return whether event `seq` is applied, after waiting up to `seconds`. Raises NotReady."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._open().apply_loop.reached(seq)
        return self.model.seq >= seq

    # --- history ---------------------------------------------------------------------------------

    @property
    def keeps_history(self) -> bool:
        """True if past events are kept behind the log."""
        return self._segments is not None

    @property
    def history(self) -> History:
        """The history of past events. Raises HistoryOff, NotReady."""
        history = self._open().history
        if history is None:
            raise HistoryOff
        return history

    @property
    def rebuild(self) -> Rebuild:
        """The part that rebuilds the state. Raises HistoryOff, NotReady."""
        rebuild = self._open().rebuild
        if rebuild is None:
            raise HistoryOff
        return rebuild

    def rebuild_status(self) -> RebuildStatus:
        """Return whether a rebuild runs in this process. Raises HistoryOff, NotReady."""
        return self.rebuild.status

    async def rebuild_state(
        self, learner: str | None = None, text: TextAnalysis | None = None
    ) -> RebuildReport:
        """Rebuild the state from the amended history; see Rebuild.run for the errors.

        `learner` is a shadow that learns the whole history; it is added if it is new. Raises
        OptionError. `text` is the analysis of texts for the new state.
        """
        pipeline = self._able()
        if learner is None:
            return await self._tasks.finish(self.rebuild.run(None, text))
        join = partial(pipeline.add_shadow, learner, whole=True)
        return await self._tasks.finish(
            self.rebuild.run(join, text, pipeline.bytes_to_add(learner))
        )

    # --- learners --------------------------------------------------------------------------------

    async def add_shadow(self, learner: str) -> tuple[int, str]:
        """Add a shadow, see Pipeline.add_shadow; return the seq of the event and its name."""
        seq, options = await self._able().add_shadow(learner)
        return seq, options.specification

    async def remove_shadow(self, learner: str) -> tuple[int, str]:
        """Remove a shadow, see Pipeline.remove_shadow."""
        return await self._able().remove_shadow(learner)

    # --- snapshots -------------------------------------------------------------------------------

    async def take_snapshot(self) -> SnapshotInfo:
        """Take and return a snapshot of the present state. Raises StoreError, NotReady."""
        return await self._tasks.finish(self._able().schedule.take())

    async def snapshots(self) -> list[SnapshotInfo]:
        """Return the snapshots, newest first. Raises StoreError, NotReady."""
        return await self._able().schedule.all()

    async def restore(self, seq: int) -> int:
        """Restore snapshot `seq` by `Restore.to`. Raises its errors, NotReady."""
        return await self._tasks.finish(self._able().restore.to(seq))

    @property
    def newest_snapshot(self) -> SnapshotInfo | None:
        """The newest usable snapshot, perhaps of another process."""
        return None if self._pipeline is None else self._pipeline.schedule.newest

    async def digest(self) -> tuple[int, str]:
        """Return the seq and a hash of the whole state, the same in every process. Raises
        NotReady.
        """
        return await self._open().state_copy.digest()

    async def state(self) -> tuple[int, list[memoryview]]:
        """Return the seq and the state as the bytes of a snapshot, without using the store. Raises
        NotReady.
        """
        return await self._open().state_copy.pieces()

    # --- clock and counts ------------------------------------------------------------------------

    def tick(self) -> None:
        """Send a heartbeat and start the work that is due; called once a second."""
        if self.cluster.shared is not None and not self.cluster.is_polling:
            self._tasks.start(self.cluster.poll())
        if self.status == "ready" and (group_commit := self._able().group_commit).has_to_try:
            self._tasks.start(group_commit.try_store())
        if self.status == "ready" and (schedule := self._able().schedule).due():
            self._tasks.start(schedule.by_schedule())
        if self.status == "ready" and (history := self._able().history) is not None:
            self._keep_history(history)

    def _keep_history(self, history: History) -> None:
        is_leader, rebuild = self.cluster.is_leader, self.rebuild
        if history.starts_packing(is_leader):
            self._tasks.start(asyncio.to_thread(history.pack_full, is_leader))
        if not is_leader:
            rebuild.may_be_unsettled = True  # a former leader may have left work to settle
            return
        merged = self.model.merged
        if merged not in (0, self._merge_seen):
            self._rebuilds.ask()
        self._merge_seen = merged
        waiting, age = len(history.amendments), history.amendment_age
        if rebuild.is_running:
            return
        if rebuild.settles:
            self._tasks.start(rebuild.settle_left_over())
        elif self._rebuilds.is_due(waiting, age):
            self._tasks.start(self._rebuild_by_schedule())
        elif history.is_above_limits():
            self._tasks.start(rebuild.shorten())

    async def _rebuild_by_schedule(self) -> None:
        try:
            await self.rebuild.run()
        except Exception:  # the rebuild has logged and counted it
            self._rebuilds.failed()

    def stats(self) -> EngineStats:
        """Return the present counts."""
        if self._pipeline is None:
            return EngineStats(is_leader=self.cluster.shared is None)
        return self._pipeline.stats(self._queue_full)

    def _tick(self) -> None:
        self.tick()
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _open(self) -> Pipeline:
        """Return the pipeline if the engine has a state and is not closed. Raises NotReady."""
        if self._pipeline is None or self._status == "closed":
            raise NotReady(self.status, self.failure)
        return self._pipeline

    def _able(self) -> Pipeline:
        """Return the pipeline if the engine can learn. Raises NotReady."""
        if self.status != "ready":
            raise NotReady(self.status, self.failure)
        return self._open()


def _warn_of_text(settings: Settings, model: Model | None) -> None:
    """Warn if the text analysis of the model differs from the settings, after a rebuild or restore.

    Another process may have done it.
    """
    try:
        if model is not None:
            settings.check_text(model.text)
    except SettingError as error:
        log.warning("the next start will be refused: %s", error)
