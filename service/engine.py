"""The engine: a model that ranks, and learns from what is durable. HTTP knows nothing below it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from manyclass.core import rules
from manyclass.core.errors import CoreError
from manyclass.core.event import Event, Instance
from manyclass.core.model import Frozen, Model, Outcome
from manyclass.core.model_set import ModelSet
from manyclass.service.config.learners import as_variables
from manyclass.service.config.settings import SettingError, Settings
from manyclass.service.log.apply_loop import Counts, Result
from manyclass.service.log.group_commit import (
    GroupCommit,
    NotReady,
    QueueFull,
    with_hint,
    without_place,
)
from manyclass.service.log.log_tailer import LogTailer
from manyclass.service.log.recovery import (
    NewerRules,
    OlderRules,
    OptionsDiffer,
    Recovery,
    RecoveryError,
    recover,
)
from manyclass.service.snapshots.schedule import Snapshots
from manyclass.service.store.protocol import (
    Batch,
    Heartbeat,
    LogDamaged,
    LogRewound,
    PeerMessage,
    SharedStore,
    SnapshotDamaged,
    SnapshotInfo,
    SnapshotMissing,
    Store,
    StoreError,
    StoreUnavailable,
    as_shared,
)

log = logging.getLogger(__name__)

Status = Literal["recovering", "ready", "failed", "closed"]
T = TypeVar("T")

TICK_SECONDS = 1.0  # how often the schedule of snapshots, and other processes, are looked at
AGAIN_SECONDS = 1.0  # between two tries to restore the state from a shared store
TRIES = 3  # so often, when it was there and the state could not be restored from it


@dataclass(frozen=True, slots=True)
class EngineStats:
    """What the engine counted since it was ready, all 0 before, and what waits in it now."""

    queued_events: int = 0  # admitted and not yet answered
    queued_bytes: int = 0
    log_lag: int = 0  # durable and not yet applied
    commits: int = 0  # appends to the log; concurrent requests share one
    commit_seconds: float = 0.0
    failed_commits: int = 0
    uncertain: int = 0  # of these, appends whose fate was not found out in time
    conflicts: int = 0
    queue_full: int = 0
    snapshot_failures: int = 0
    snapshot_pause_seconds: float | None = None  # how long learning waited for the newest
    counts: Counts = field(default_factory=Counts)  # by the models in use, over a restore too
    leads: bool = True  # takes the snapshots by the schedule, and trims the log
    processes: int = 1  # that use the store
    rewinds: int = 0  # times the state was restored anew because the log had lost events
    foreign_entries: int = 0  # of the log, skipped because no process of the service wrote them
    store_full: bool = False  # a shared store has no room for an append
    store_away_seconds: float = 0.0  # since a shared store last answered; 0 while it does


class Engine:
    """Ranks at once, learns durably, comes back after a stop as if it had not happened.

    All methods belong to one event loop. Ranking is a plain call that never waits; learning goes
    through the one writer. Events whose sender has gone are learned all the same.

    With a store that others share, a follower brings what all of them append, and a beat a second
    tells each how the others are. When the log turns out to have lost events, or to be trimmed
    beyond what was applied, the state is restored anew; meanwhile the old one ranks.
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
        self.shared: SharedStore | None = as_shared(store)
        self.beat: Heartbeat | None = None  # the newest, of a shared store
        self.on_letter: Callable[[PeerMessage], None] | None = None
        self.recovery = Recovery()
        self._clock = clock
        self._hash_seed = hash_seed
        self._on_applied = on_applied
        self._status: Status = "recovering"
        self._failure: str | None = None
        # Why the rules of this release cannot be put in force yet; this process must not lead then.
        self.waiting: str | None = None
        self._raised = False  # the rules, by this process
        self._older: Model | None = None  # the state of an older release, to rank with meanwhile
        self.cause: Exception | None = None  # of a failure to start, for whoever runs the service
        self._writer: GroupCommit | None = None
        self._snapshots: Snapshots | None = None
        self._follower: LogTailer | None = None
        self._queue_full = 0
        self._rewinds = 0
        self._beating = asyncio.Lock()
        self._beat_began = 0.0  # by the loop's clock
        self._is_away = False  # the last beat was not answered
        self._answered_at = 0.0  # by the loop's clock: the last beat
        self._recovering: asyncio.Future[Model] | None = None
        self._copying = asyncio.Lock()  # of the whole state: one copy is made at a time
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
        except (RecoveryError, OptionsDiffer, SettingError, StoreError, CoreError) as error:
            if self._status == "closed":
                return
            log.critical("cannot start: %s", with_hint(error))
            self.cause = error
            self._fail(without_place(error) if isinstance(error, StoreError) else str(error))
        except Exception as error:
            log.critical("cannot start: recovery broke: %r", error)
            self._fail(f"recovery broke with {type(error).__name__}; the log says how")
            raise

    async def _start(self) -> None:
        if self.shared is not None:
            self._answered_at = asyncio.get_running_loop().time()
            self._tick()
        model = await self._recover(self.settings.model_set)
        if model is None:
            return
        writer = GroupCommit(
            self.store,
            model,
            self.settings.max_queue_events,
            self.settings.max_queue_bytes,
            self._on_applied,
            self._load,
            self.shared,
            self.settings.store_seconds,
            None if self.shared is None else self._on_broken,
        )
        self._snapshots = Snapshots(
            self.settings, self.store, writer, self.recovery, self._clock, self._hash_seed
        )
        self._snapshots.leads = self.shared is None
        self._snapshots.wanted = self._raised  # older ones need an older release to go on from
        try:
            self._follow(writer)
            await self._agree_on_model_set(writer, self.settings.model_set(writer.model.model_set))
            await self._introduce()
        except BaseException:
            await self._follow_no_more()
            await writer.close()
            raise
        if self._status != "recovering":  # closed, or the log could not be followed
            await self._follow_no_more()
            await writer.close()
            return
        self._writer = writer
        self._older = None
        self._status = "ready"
        if self.shared is None:
            self._tick_later()

    async def _recover(self, model_set: Callable[[], ModelSet] | ModelSet) -> Model | None:
        """The restored model; None when the engine was closed meanwhile.

        Others may trim a shared log behind newer snapshots than the one that is being loaded.
        """
        again = 0 if self.shared is None else TRIES
        self.waiting = None
        named = isinstance(model_set, ModelSet) or self.settings.learner is not None
        while self._status != "closed":
            recovering = asyncio.to_thread(
                recover, self.store, model_set, self._clock, self.recovery, self._hash_seed, named
            )
            self._recovering = asyncio.ensure_future(recovering)
            try:
                model = await asyncio.shield(self._recovering)
            except StoreUnavailable as error:
                if self.shared is None:
                    raise
                log.warning("the state cannot be restored yet: %s", with_hint(error))
                await asyncio.sleep(AGAIN_SECONDS)
            except NewerRules:
                raise
            except OlderRules as error:
                if self.shared is None:
                    raise
                self._older = error.model
                await self._wait(str(error), self._has_newer_snapshot)
            except (RecoveryError, LogRewound) as error:
                if not self._others_go_on():
                    again -= 1
                if again <= 0:
                    raise
                log.warning("the state cannot be restored, next try soon: %s", error)
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                if self.status == "closed":
                    return None
                if model.rules == rules.RULES or await self._raise_rules(model):
                    self.waiting = None
                    return model
        return None

    async def _raise_rules(self, model: Model) -> bool:
        """Put the rules of this release in force right behind the last event, which `model` has;
        False when it is not the last one any more, so that the state has to be restored again.

        The leader appends the event. With processes of an older release alive nobody leads: they
        learn on, and the last of them leaves a snapshot when it stops.
        """
        event = Event.use_rules(rules.RULES)
        if self.shared is None:
            await asyncio.to_thread(self.store.append, [bytes(event)])
        else:
            self._older = model
            await self._wait(
                f"processes of an older release learn by version {model.rules} of the rules, and"
                f" this one by version {rules.RULES}; it goes on when they have stopped",
                lambda beat: beat.last_seq != model.seq or _all_know_the_rules(beat),
            )
            if self._is_closed():
                return False
            self.waiting = None  # from here on it may lead
            await self._until(lambda beat: beat.last_seq != model.seq or beat.leads)
            if self._is_closed():
                return False
            try:
                await asyncio.to_thread(self.shared.append, [bytes(event)], 0, model.seq)
            except StoreUnavailable as error:
                log.warning("the rules cannot be raised yet: %s", with_hint(error))
                await asyncio.sleep(AGAIN_SECONDS)
                return False
        model.apply(model.seq + 1, event)
        log.warning("event %d raised the rules to version %d", model.seq, rules.RULES)
        self._raised = True
        return True

    def _is_closed(self) -> bool:
        return self._status == "closed"

    async def _wait(self, why: str, holds: Callable[[Heartbeat], bool]) -> None:
        """Let the others go on, and the log say why, until a beat tells that this holds."""
        if self.waiting is None:
            log.warning("learning waits: %s", why)
        self.waiting = why
        await self._until(holds)

    async def _until(self, holds: Callable[[Heartbeat], bool]) -> None:
        """Return when a new beat tells that this holds, or the engine is closed."""
        while self._status != "closed":
            beat = await self.look()
            if beat is not None and holds(beat):
                return
            await asyncio.sleep(AGAIN_SECONDS)

    def _has_newer_snapshot(self, beat: Heartbeat) -> bool:
        loaded = self.recovery.snapshot
        return bool(beat.snapshots) and (loaded is None or beat.snapshots[0].seq > loaded.seq)

    async def _introduce(self) -> None:
        """Make this process known to the others before it answers anybody."""
        while self.shared is not None and self._status == "recovering":
            if await self.look() is not None:
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _agree_on_model_set(self, writer: GroupCommit, asked: ModelSet) -> None:
        """Make the model's learners those of the settings if that was asked for, or refuse.

        Who answers stays as it is: MANYCLASS_LEARNER says it until something was learned, then a
        promotion.
        """
        stored = writer.model.model_set
        model_set = writer.model.agreed(asked)
        if model_set.primary is not asked.primary:
            log.warning(
                "%s answers, as it was promoted; the settings have %s in its place",
                model_set.primary.specification,
                asked.primary.specification,
            )
        differences = stored.differences(model_set)
        if not differences:
            return
        if not self.settings.reconfigure:
            raise OptionsDiffer(differences, as_variables(stored))
        agreed = False
        while not agreed:
            try:
                await writer.admit([Event.configure(model_set.to_dict())])
                agreed = True
            except StoreUnavailable as error:
                if self.shared is None or self._status != "recovering":
                    raise
                log.warning("the learners cannot be changed yet: %s", with_hint(error))
                await asyncio.sleep(AGAIN_SECONDS)
        writer.model.agreed(asked)  # events of another process may have come before this one's
        log.warning("the model goes on with other learners, (before, now): %s", differences)

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
            await self._follow_no_more()

    async def _end(self, writer: GroupCommit, snapshots: Snapshots, take_last: bool) -> None:
        try:
            await writer.drain()
            if take_last and not snapshots.leads and not self._is_away:
                await self.look()  # the one that led may have stopped a moment ago
            if take_last and snapshots.leads:
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
        if self._writer is not None:
            return self._writer.model
        if self._older is None:
            raise NotReady(self.status, self.failure)
        return self._older

    def rank(
        self, instance: Instance, k: int = 5, threshold: float | None = None
    ) -> list[tuple[str, float]]:
        """The k best (class, score), best first, as `Model.rank` has them; NotReady."""
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
                await writer.applier.progress()
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

    async def reached(self, seq: int, seconds: float) -> bool:
        """Whether event `seq` is applied, after waiting for it so long. NotReady."""
        writer = self._writer
        if writer is None:
            raise NotReady(self.status, self.failure)
        try:
            async with asyncio.timeout(seconds):
                await writer.applier.reached(seq)
        except TimeoutError:
            return writer.model.seq >= seq
        return True

    async def digest(self) -> tuple[int, str]:
        """The seq and a hash of the whole state at one moment; equal in every process. NotReady."""
        async with self._copying:
            seq, frozen = await self._frozen()
            return seq, await asyncio.to_thread(frozen.digest)

    async def state(self) -> tuple[int, list[memoryview]]:
        """The seq and the whole state at one moment, as the bytes of a snapshot. The store is not
        asked, so this works as long as the process ranks. NotReady.
        """
        async with self._copying:
            seq, frozen = await self._frozen()
            return seq, await asyncio.to_thread(frozen.pieces)

    async def _frozen(self) -> tuple[int, Frozen]:
        if self._writer is None or self._status == "closed":
            raise NotReady(self.status, self.failure)
        applier = self._writer.applier
        async with applier.quiet():
            seq = applier.model.seq
            return seq, await asyncio.to_thread(applier.model.freeze)

    # --- snapshots -------------------------------------------------------------------------------

    async def take_snapshot(self) -> SnapshotInfo:
        """A snapshot of the state now. Raises StoreError, NotReady."""
        return await self._to_the_end(self._ready_snapshots().take())

    async def snapshots(self) -> list[SnapshotInfo]:
        """Those that can be gone back to, newest first. Raises StoreError, NotReady."""
        return await self._ready_snapshots().all()

    async def restore(self, seq: int) -> int:
        """Go back to snapshot `seq` while ranking goes on; the seq of the event that says so.

        Raises what `Snapshots.restore` does, and NotReady.
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
        """Start a snapshot if the schedule asks for one, and tell the others that this process
        lives; called once a second.
        """
        if self.shared is not None and not self._beating.locked() and self.status != "failed":
            self._task(self.look())
        if self.status == "ready" and self._snapshots is not None and self._snapshots.due():
            self._task(self._snapshots.by_schedule())

    def figures(self) -> EngineStats:
        """The counts as they are now."""
        writer, snapshots = self._writer, self._snapshots
        if writer is None or snapshots is None:
            return EngineStats(leads=self.shared is None)
        beat = self.beat
        last_seq = writer.appended if beat is None else max(beat.last_seq, writer.appended)
        return EngineStats(
            queued_events=writer.events,
            queued_bytes=writer.bytes,
            log_lag=max(0, last_seq - writer.model.seq),
            commits=writer.commits,
            commit_seconds=writer.commit_seconds,
            failed_commits=writer.failed_commits,
            uncertain=writer.uncertain_commits,
            conflicts=writer.conflicts,
            queue_full=self._queue_full,
            snapshot_failures=snapshots.failures,
            snapshot_pause_seconds=snapshots.pause_seconds,
            counts=writer.applier.counts(),
            leads=snapshots.leads,
            processes=1 if beat is None else len(beat.processes),
            rewinds=self._rewinds,
            store_full=False if beat is None else beat.is_full,
            foreign_entries=0 if self.shared is None else self.shared.foreign_entries,
            store_away_seconds=self._store_away(),
        )

    # --- a store that others share ---------------------------------------------------------------

    async def look(self) -> Heartbeat | None:
        """How the processes on a shared store stand now, which tells them of this one too.

        None when the store does not answer, or is not shared. Those who ask at once share a call.
        """
        now = asyncio.get_running_loop().time
        asked = now()
        async with self._beating:
            if self.shared is None:
                return None
            if self._beat_began <= asked:
                self._beat_began = now()
                await self._beat(self.shared)
            return self.beat if self._answered_at >= self._beat_began else None

    def _follow(self, writer: GroupCommit) -> None:
        if self.shared is None:
            return

        def apply(batch: Batch) -> None:
            writer.deliver(batch, lambda: follower.applied(batch))

        follower = LogTailer(self.shared, writer.model.seq, apply, self._hear, self._on_broken)
        self._follower = follower

    async def _follow_no_more(self) -> None:
        follower, self._follower = self._follower, None
        if follower is not None:
            await follower.stop()

    def _hear(self, letter: PeerMessage) -> None:
        if self.on_letter is not None:
            self.on_letter(letter)

    def _on_broken(self, error: Exception) -> None:
        """The log cannot be followed from where this process is: restore the state, or give up."""
        if self._writer is None:  # the state was restored a moment ago: not worth a way back
            self._fail(f"the log cannot be followed: {error}")
            return
        if self._status != "ready":
            return
        restorable = LogRewound | LogDamaged | SnapshotMissing | SnapshotDamaged | StoreUnavailable
        if isinstance(error, restorable):
            if isinstance(error, LogRewound):
                log.critical("acknowledged events are lost: %s", with_hint(error))
                self._rewinds += 1
            log.warning("the state is restored anew: %s", error)
            if self._snapshots is not None:
                self._snapshots.lose_state()
            self._status = "recovering"
            self._task(self._restore_anew(self._writer))
        else:
            reason = f"the log cannot be followed after event {self._writer.model.seq}: {error}"
            self._give_up(self._writer, reason)

    async def _restore_anew(self, writer: GroupCommit) -> None:
        await self._follow_no_more()
        try:
            model = await self._recover(writer.model.model_set)
        except Exception as error:  # whatever it is, nothing can be learned without the state
            log.critical("the state cannot be restored: %r", error)
            self._give_up(writer, f"the state cannot be restored: {error}")
            self._status = "ready"  # to rank; the writer's failure tells the rest
            return
        if model is None:
            return
        writer.resume(model)
        self._older = None
        if self._snapshots is not None:
            self._snapshots.wanted = self._raised
            self._snapshots.find_state(self.recovery)
        self._follow(writer)
        self._status = "ready"

    def _give_up(self, writer: GroupCommit, reason: str) -> None:
        """Rank on, and learn no more; the others shall not wait for this process."""
        writer.fail(reason)
        if self._snapshots is not None:
            self._snapshots.leads = False
        self._task(self._follow_no_more())

    def _others_go_on(self) -> bool:
        """Whether another process has the state, so that a snapshot of it can be expected."""
        if self.beat is None or self.shared is None:
            return False
        last_seq = self.recovery.last_seq
        return any(
            process.name != self.shared.name and (process.seq or 0) >= last_seq
            for process in self.beat.processes
        )

    async def _beat(self, shared: SharedStore) -> None:
        now = asyncio.get_running_loop().time
        snapshots = self._snapshots
        try:
            may_lead = self.waiting is None
            beat = await asyncio.to_thread(shared.beat, self._position(), rules.RULES, may_lead)
        except StoreError as error:
            if not self._is_away:  # once: it may be away for long
                log.warning("the store does not answer: %s", with_hint(error))
            self._is_away = True
            if snapshots is not None:
                snapshots.leads = False
        else:
            self._is_away = False
            self.beat = beat
            self._answered_at = now()
            if snapshots is not None:
                snapshots.hear(beat.snapshots, beat.leads, beat.is_full)

    def _position(self) -> int | None:
        """The last event this process has applied: the log is needed from there on."""
        if self._writer is not None and self._status in ("ready", "closed"):
            return self._writer.model.seq
        restored = self.recovery.snapshot
        return None if restored is None else restored.seq + self.recovery.replayed

    def _store_away(self) -> float:
        """Seconds since a shared store last answered; 0 while it does."""
        if self.shared is None or self.status == "failed":  # then it is not asked any more
            return 0.0
        away = asyncio.get_running_loop().time() - self._answered_at
        return away if away > 3 * TICK_SECONDS else 0.0

    async def _load(self, seq: int) -> Model:
        assert self._snapshots is not None  # made before anything is applied
        return await self._snapshots.load(seq)

    def _ready_writer(self) -> GroupCommit:
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


def _all_know_the_rules(beat: Heartbeat) -> bool:
    """Return whether every live process has the rules of this release, or newer ones."""
    return all(process.rules >= rules.RULES for process in beat.processes)
