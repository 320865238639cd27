"""The engine: a model that ranks, and learns from what is durable. HTTP knows nothing below it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from core.errors import CoreError
from core.event import Event, Instance
from core.model import Model, Outcome
from core.options import Options
from service.recovery import OptionsDiffer, Recovery, RecoveryError, recover
from service.settings import Settings
from service.snapshots import Snapshots
from service.store.protocol import SnapshotInfo, Store, StoreError
from service.writer import (
    Counts,
    EventConflict,
    NotReady,
    QueueFull,
    Refused,
    Result,
    Writer,
    with_hint,
    without_place,
)

__all__ = ["Engine", "EventConflict", "NotReady", "QueueFull", "Refused", "Result", "Status"]

log = logging.getLogger(__name__)

Status = Literal["recovering", "ready", "failed", "closed"]
T = TypeVar("T")

TICK_SECONDS = 1.0  # how often the schedule of snapshots is looked at


@dataclass(frozen=True, slots=True)
class Figures:
    """What the engine counted since it was ready, all 0 before, and what waits in it now."""

    queued_events: int = 0  # admitted and not yet answered
    queued_bytes: int = 0
    log_lag: int = 0  # durable and not yet applied
    commits: int = 0  # appends to the log; concurrent requests share one
    commit_seconds: float = 0.0
    failed_commits: int = 0
    conflicts: int = 0
    queue_full: int = 0
    snapshot_failures: int = 0
    snapshot_pause_seconds: float | None = None  # how long learning waited for the newest
    counts: Counts = field(default_factory=Counts)  # by the models in use, over a restore too


class Engine:
    """Ranks at once, learns durably, comes back after a stop as if it had not happened.

    All methods belong to one event loop. Ranking is a plain call that never waits; learning goes
    through the one writer. Events whose sender has gone are learned all the same.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock: Callable[[], float],
        *,
        hash_seed: int = 0,
        on_applied: Callable[[Event, Outcome, float], None] | None = None,
    ) -> None:
        """`hash_seed` salts the tables of names: give a random one where strangers choose them.

        `on_applied` hears of each event that was applied, on the loop: event, outcome, seconds.
        """
        self.settings = settings
        self.store = store
        self.recovery = Recovery()
        self._clock = clock
        self._hash_seed = hash_seed
        self._on_applied = on_applied
        self._status: Status = "recovering"
        self._failure: str | None = None
        self._writer: Writer | None = None
        self._snapshots: Snapshots | None = None
        self._queue_full = 0
        self._recovering: asyncio.Future[Model] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    # --- life ------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Restore the state; afterwards the status is "ready", or "failed" and `failure` says why.

        A failure an operator can mend is not raised, so that whoever runs the service can go on
        and tell about it. The engine still has to be closed.
        """
        try:
            await self._start()
        except (RecoveryError, OptionsDiffer, StoreError, CoreError) as error:
            if self._status == "closed":
                return
            log.critical("cannot start: %s", with_hint(error))
            self._fail(without_place(error) if isinstance(error, StoreError) else str(error))
        except Exception as error:
            log.critical("cannot start: recovery broke: %r", error)
            self._fail(f"recovery broke with {type(error).__name__}; the log says how")
            raise

    async def _start(self) -> None:
        options = self.settings.options()
        recovering = asyncio.to_thread(
            recover, self.store, options, self._clock, self.recovery, self._hash_seed
        )
        self._recovering = asyncio.ensure_future(recovering)
        model = await asyncio.shield(self._recovering)
        if self._status == "closed":
            return
        writer = Writer(
            self.store,
            model,
            self.settings.max_queue_events,
            self.settings.max_queue_bytes,
            self._on_applied,
        )
        try:
            await self._agree_on_options(writer, options)
        except BaseException:
            await writer.close()
            raise
        self._snapshots = Snapshots(
            self.settings, self.store, writer, self.recovery, self._clock, self._hash_seed
        )
        self._writer = writer
        self._status = "ready"
        self._tick_later()

    async def _agree_on_options(self, writer: Writer, options: Options) -> None:
        """Make the model's options those of the settings if that was asked for, or refuse."""
        differences = writer.model.options.differences(options)
        if not differences:
            return
        if not self.settings.reconfigure:
            raise OptionsDiffer(differences)
        await writer.admit([Event.configure(options.to_dict())])
        log.warning("the model goes on with other options, (before, now): %s", differences)

    def _fail(self, reason: str) -> None:
        self._status = "failed"
        self._failure = reason

    async def close(self) -> None:
        """Learn what was admitted, refuse the rest, take a last snapshot, close the store."""
        if self._status == "closed":
            return
        was_ready = self.status == "ready"
        self._status = "closed"
        self.recovery.given_up = True
        if self._timer is not None:
            self._timer.cancel()
        if self._recovering is not None:
            await asyncio.wait([self._recovering])
        if self._tasks:
            await asyncio.wait(self._tasks)
        try:
            if self._writer is not None and self._snapshots is not None:
                await self._end(self._writer, self._snapshots, was_ready)
        finally:
            await asyncio.to_thread(self.store.close)

    async def _end(self, writer: Writer, snapshots: Snapshots, take_last: bool) -> None:
        try:
            await writer.drain()
            if take_last:
                try:
                    await snapshots.take()
                except Exception:  # whatever it is, it was logged, and the log holds everything
                    log.warning("closing without a last snapshot: the next start replays more")
            await snapshots.close()
        finally:
            await writer.close()

    @property
    def status(self) -> Status:
        """Where the engine is in its life; "failed" still ranks if it was ready before."""
        if self._status == "ready" and self._writer is not None and self._writer.failure:
            return "failed"
        return self._status

    @property
    def failure(self) -> str | None:
        """Why the status is "failed"."""
        return self._writer.failure if self._writer is not None else self._failure

    # --- rank ------------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model in use, for reading only; NotReady before there is one."""
        if self._writer is None:
            raise NotReady(self.status, self.failure)
        return self._writer.model

    def rank(
        self, instance: Instance, k: int = 5, threshold: float = 0.0
    ) -> list[tuple[str, float]]:
        """The k best (class, score) above `threshold`, best first; NotReady."""
        return self.model.rank(instance, k, threshold)

    # --- learn -----------------------------------------------------------------------------------

    async def submit(self, events: Sequence[Event], wait: bool = False) -> list[Result]:
        """A Result for each event, in order, when all are durable and applied.

        Whole or nothing. Raises what `Model.check` does, EventConflict, StoreUnavailable, NotReady
        and QueueFull; with `wait`, waits for room in the queue instead of the last.
        """
        while wait:
            writer = self._ready_writer()
            try:
                answer = writer.admit(events)
            except QueueFull:  # no refusal, so it is not counted as one
                await writer.progress()
            else:
                return await answer
        return await self.admit(events)

    def admit(self, events: Sequence[Event]) -> "asyncio.Future[list[Result]]":
        """What `submit` does, in two steps: when this returns, the events have their place in the
        queue, and the future will hold the answer. Cancel it if nobody is going to wait for it.
        """
        try:
            return self._ready_writer().admit(events)
        except QueueFull:
            self._queue_full += 1
            raise

    # --- snapshots -------------------------------------------------------------------------------

    async def take_snapshot(self) -> SnapshotInfo:
        """A snapshot of the state now. Raises StoreError, NotReady."""
        return await self._to_the_end(self._ready_snapshots().take())

    async def snapshots(self) -> list[SnapshotInfo]:
        """Those that can be gone back to, newest first. Raises StoreError, NotReady."""
        return await self._ready_snapshots().all()

    async def restore(self, seq: int) -> int:
        """Go back to snapshot `seq` while ranking goes on; the seq of the event that says so.

        Raises SnapshotMissing, SnapshotDamaged, StoreUnavailable, NotReady: nothing was changed.
        """
        return await self._to_the_end(self._ready_snapshots().restore(seq))

    @property
    def newest_snapshot(self) -> SnapshotInfo | None:
        """The newest snapshot that was taken or loaded."""
        return self._snapshots.newest if self._snapshots is not None else None

    @property
    def snapshot_seconds(self) -> float | None:
        """How long the newest took; None when this process has taken none."""
        return self._snapshots.seconds if self._snapshots is not None else None

    def tick(self) -> None:
        """Start a snapshot if the schedule asks for one; called once a second."""
        if self.status == "ready" and self._snapshots is not None and self._snapshots.due():
            self._task(self._snapshots.take())

    def figures(self) -> Figures:
        """The counts as they are now."""
        writer, snapshots = self._writer, self._snapshots
        if writer is None or snapshots is None:
            return Figures()
        return Figures(
            queued_events=writer.events,
            queued_bytes=writer.bytes,
            log_lag=writer.appended - writer.model.seq,
            commits=writer.commits,
            commit_seconds=writer.commit_seconds,
            failed_commits=writer.failed_commits,
            conflicts=writer.conflicts,
            queue_full=self._queue_full,
            snapshot_failures=snapshots.failures,
            snapshot_pause_seconds=snapshots.pause_seconds,
            counts=writer.counts(),
        )

    def _ready_writer(self) -> Writer:
        if self._writer is None or self._status != "ready":
            raise NotReady(self.status, self.failure)
        return self._writer

    def _ready_snapshots(self) -> Snapshots:
        if self._snapshots is None or self.status != "ready":
            raise NotReady(self.status, self.failure)
        return self._snapshots

    def _tick_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self.tick()
        self._tick_later()

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work to its end, also when the one who asked for it goes away."""
        return await asyncio.shield(self._task(work))

    def _task(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # taken note of: failures were logged and counted where they happened
