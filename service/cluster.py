"""The processes on one store: heartbeats, leadership, and their common state."""

import asyncio
import logging
from collections.abc import Callable

from manyclass.core import rules
from manyclass.core.event import Event
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import TextAnalysis
from manyclass.service.errors import NewerRules, OlderRules, RecoveryError, with_hint
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.group_commit import GroupCommit
from manyclass.service.log.hooks import OnMessage
from manyclass.service.log.interpreter import Interpreter, OneModel, apply_all
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.log_tailer import LogTailer
from manyclass.service.log.pause import SLOW_SECONDS, Pause
from manyclass.service.log.recovery import recover
from manyclass.service.runtime import Runtime
from manyclass.service.store.errors import (
    LogDamaged,
    LogRewound,
    LogTrimmed,
    SnapshotDamaged,
    SnapshotMissing,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import Heartbeat, Process, SharedStore, Store, as_shared

log = logging.getLogger(__name__)

UNREACHABLE_SECONDS = 3.0  # without an answer, until the store counts as unreachable
RETRY_SECONDS = 1.0  # between two attempts to restore the state from a shared store
TRIES = 3  # attempts to restore the state while the store answers

RESTORABLE = (
    LogRewound | LogTrimmed | LogDamaged | SnapshotMissing | SnapshotDamaged | StoreUnavailable
)


class Cluster:
    """The membership of this process in the group of processes on one store; a process alone
    always leads.

        live.position ──► heartbeat ──► store ──► last_seq, snapshots, processes, lease

    The leader takes the scheduled snapshots and trims the log. A process that waits for older
    releases does not lead. A process that has resigned sends no more heartbeats.

    Belongs to the event loop's thread.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.shared = as_shared(store)
        self.live = LiveModel()
        self.heartbeat: Heartbeat | None = None  # newest answer of a shared store
        self.waiting: str | None = None  # reason why the rules cannot be raised yet
        self.is_unreachable = False  # the newest heartbeat was not answered
        self._resigned = False
        self._polling = asyncio.Lock()
        self._poll_began = 0.0  # by the loop's clock
        self._silent_since: float | None = None  # time of the newest answer, by the loop's clock

    @property
    def is_leader(self) -> bool:
        """True if this process takes the scheduled snapshots and trims the log."""
        if self.shared is None:
            return True
        is_member = not (self._resigned or self.is_unreachable)
        return is_member and self.heartbeat is not None and self.heartbeat.is_leader

    @property
    def is_polling(self) -> bool:
        """True while a heartbeat waits for its answer."""
        return self._polling.locked()

    @property
    def is_closed(self) -> bool:
        """True after the engine is closed, which ends all waiting."""
        return self.live.recovery.given_up

    def peers(self) -> list[str]:
        """Return the names of the other live processes, by the newest heartbeat."""
        return [each.name for each in self._others()]

    async def poll(self) -> Heartbeat | None:
        """Send a heartbeat and return the state of the cluster; concurrent calls share one.

        Return None if the store does not answer, or is not shared.
        """
        now = asyncio.get_running_loop().time
        asked = now()
        if self._silent_since is None:
            self._silent_since = asked
        async with self._polling:
            if self.shared is None or self._resigned:
                return None
            if self._poll_began <= asked:
                self._poll_began = now()
                await self._send_heartbeat(self.shared)
            return None if self.is_unreachable else self.heartbeat

    async def poll_until(self, holds: Callable[[Heartbeat], bool]) -> None:
        """Wait until the condition holds for a new heartbeat, or until heartbeats end."""
        while self.shared is not None and not (self.is_closed or self._resigned):
            heartbeat = await self.poll()
            if heartbeat is not None and holds(heartbeat):
                return
            await asyncio.sleep(RETRY_SECONDS)

    def resign(self) -> None:
        """Leave the cluster, so that other processes do not wait for this one."""
        self._resigned = True

    def store_unreachable_seconds(self) -> float:
        """Return the seconds since a shared store last answered, 0 while it does."""
        if self._silent_since is None or self.shared is None or self._resigned:
            return 0.0
        away = asyncio.get_running_loop().time() - self._silent_since
        return away if away > UNREACHABLE_SECONDS else 0.0

    @property
    def pause(self) -> Pause | None:
        """The reason why a shared store accepts no events, by the newest heartbeat."""
        if self.is_unreachable or self._waits_long():
            return Pause("store_unavailable", "the store does not answer")
        if self.is_full:
            return Pause("store_full", "the store is full; give Redis more memory")
        return None

    @property
    def is_full(self) -> bool:
        """True while a shared store has no room for an append, by the newest heartbeat."""
        return self.heartbeat is not None and self.heartbeat.is_full

    def _waits_long(self) -> bool:
        """Return whether a heartbeat waits longer than usual for its answer."""
        waited = asyncio.get_running_loop().time() - self._poll_began
        return self.is_polling and waited > SLOW_SECONDS

    def other_has(self, seq: int) -> bool:
        """Return whether another process has applied event `seq`, and so may take a snapshot."""
        return any((each.seq or 0) >= seq for each in self._others())

    def _others(self) -> list[Process]:
        if self.shared is None or self.heartbeat is None:
            return []
        return [each for each in self.heartbeat.processes if each.name != self.shared.name]

    async def _send_heartbeat(self, shared: SharedStore) -> None:
        may_lead = self.waiting is None
        try:
            position = self.live.position
            heartbeat = await asyncio.to_thread(shared.heartbeat, position, rules.RULES, may_lead)
        except StoreError as error:
            if not self.is_unreachable:  # log once: the store may be away for long
                log.warning("the store does not answer: %s", with_hint(error))
            self.is_unreachable = True
        else:
            self.is_unreachable = False
            self.heartbeat = heartbeat
            self._silent_since = asyncio.get_running_loop().time()


class StateRestorer:
    """The part that restores the state from the store and puts the rules of this release in force.

        recover ──► older rules? ──► wait for older processes ──► append the event ──► model
           ▲                                                      that raises the rules
           └── the store is away, or the log has newer events

    Only a shared store is read again after a failure. Until the restore is finished, the model
    restored so far ranks.
    """

    def __init__(self, cluster: Cluster, runtime: Runtime, named: bool) -> None:
        """`named` is true if the settings name the learners and the analysis of texts."""
        self._cluster = cluster
        self._live = cluster.live
        self._runtime = runtime
        self._named = named
        self._recovering: asyncio.Future[Model] | None = None

    async def restore(
        self, model_set: Callable[[], ModelSet] | ModelSet, text: TextAnalysis
    ) -> Model | None:
        """Return the restored model, or None if the engine was closed meanwhile.

        Other processes may trim a shared log beyond the snapshot that is being loaded.
        """
        cluster, recovery = self._cluster, self._live.recovery
        again = 0 if cluster.shared is None else TRIES
        cluster.waiting = None
        while not cluster.is_closed:
            try:
                model = await self._recover(model_set, text)
            except StoreUnavailable as error:
                if cluster.shared is None:
                    raise
                log.warning("the state cannot be restored yet: %s", with_hint(error))
                await asyncio.sleep(RETRY_SECONDS)
            except NewerRules:
                raise
            except OlderRules as error:
                if cluster.shared is None:
                    raise
                self._live.stand_in(error.model)
                await self._wait(str(error), self._has_newer_snapshot)
            except (RecoveryError, LogRewound) as error:
                if not cluster.other_has(recovery.last_seq):
                    again -= 1
                if again <= 0:
                    raise
                log.warning("the state cannot be restored; trying again soon: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                if cluster.is_closed:
                    return None
                if model.rules == rules.RULES or await self._raise_rules(model):
                    cluster.waiting = None
                    return model
        return None

    async def finished(self) -> None:
        """Wait until no thread reads the store."""
        if self._recovering is not None:
            await asyncio.wait([self._recovering])

    async def _recover(
        self, model_set: Callable[[], ModelSet] | ModelSet, text: TextAnalysis
    ) -> Model:
        named = self._named or isinstance(model_set, ModelSet)
        store, recovery, runtime = self._cluster.store, self._live.recovery, self._runtime
        work = asyncio.to_thread(
            recover, store, model_set, runtime.clock, recovery, runtime.hash_seed, named, text
        )
        self._recovering = asyncio.ensure_future(work)
        return await asyncio.shield(self._recovering)

    async def _raise_rules(self, model: Model) -> bool:
        """Put the rules of this release in force after the last event of `model`.

        The leader appends the event that does so. Return False if the log has later events by then;
        restore the state again. While processes of an older release are alive, there is no leader:
        they continue to learn, and the last one takes a snapshot when it stops.
        """
        cluster = self._cluster
        event = Event.use_rules(rules.RULES)
        if cluster.shared is None:
            await asyncio.to_thread(cluster.store.append, [bytes(event)])
        else:
            self._live.stand_in(model)
            await self._wait(
                f"processes of an older release learn by version {model.rules} of the rules, and"
                f" this process by version {rules.RULES}; it will learn when they have stopped",
                lambda heartbeat: heartbeat.last_seq != model.seq or _all_know_the_rules(heartbeat),
            )
            cluster.waiting = None  # from now on this process may lead
            await cluster.poll_until(
                lambda heartbeat: heartbeat.last_seq != model.seq or heartbeat.is_leader
            )
            if cluster.is_closed:
                return False
            try:
                await asyncio.to_thread(cluster.shared.append, [bytes(event)], 0, model.seq)
            except StoreUnavailable as error:
                log.warning("the rules cannot be raised yet: %s", with_hint(error))
                await asyncio.sleep(RETRY_SECONDS)
                return False
        recovery = self._live.recovery
        apply_all(Interpreter(OneModel(model), recovery.outcomes).request([event]))
        log.warning("event %d raised the rules to version %d", model.seq, rules.RULES)
        recovery.rules_raised_at = model.seq
        return True

    async def _wait(self, reason: str, holds: Callable[[Heartbeat], bool]) -> None:
        """Wait until the condition holds for a heartbeat; log the reason of the wait."""
        if self._cluster.waiting is None:
            log.warning("learning is paused: %s", reason)
        self._cluster.waiting = reason
        await self._cluster.poll_until(holds)

    def _has_newer_snapshot(self, heartbeat: Heartbeat) -> bool:
        loaded = self._live.recovery.snapshot
        newest = heartbeat.snapshots[0].seq if heartbeat.snapshots else -1
        return newest > (-1 if loaded is None else loaded.seq)


class Replica:
    """The task that keeps the model equal to the state of the log, until it is cancelled.

        follow the log ──► error ──► restore the state again ──► follow the log
                             └────► fail: continue to rank, stop learning

    The state is restored again only from a shared store, whose log may have lost events or may have
    been trimmed beyond the last applied event. Meanwhile the old model ranks.
    """

    def __init__(
        self,
        cluster: Cluster,
        restorer: StateRestorer,
        apply_loop: ApplyLoop,
        group_commit: GroupCommit,
        on_message: OnMessage,
        on_restored: Callable[[int], None] | None,
    ) -> None:
        """`on_message` receives the messages of other processes.

        `on_restored` is called in a thread with the number of a state that was restored again,
        before the state is used.
        """
        self.rewinds = 0  # number of times that the log had lost events
        self._cluster = cluster
        self._live = cluster.live
        self._restorer = restorer
        self._apply_loop = apply_loop
        self._group_commit = group_commit
        self._on_message = on_message
        self._on_restored = on_restored
        self._restoring = asyncio.Lock()

    async def run(self) -> None:
        """Follow the log until the engine is closed or can no longer learn."""
        restored = True
        try:
            while restored:
                error = await self._error_of_the_log()
                async with self._restoring:
                    restored = await self._restore_after(error)
        except Exception as failure:  # without a state nothing can be learned
            log.critical("the state cannot be restored: %r", failure)
            self._fail(f"the state cannot be restored: {failure}")

    async def finished(self) -> None:
        """Wait until no state is being restored."""
        async with self._restoring:
            pass

    async def _error_of_the_log(self) -> Exception:
        """Follow the log; return the error that stopped it."""
        broken = self._apply_loop.broken
        if self._cluster.shared is None:
            return await asyncio.shield(broken)
        tailer = LogTailer(
            self._cluster.shared, self._live.model.seq, self._group_commit.deliver, self._on_message
        )
        try:
            await asyncio.wait([broken, tailer.ended], return_when=asyncio.FIRST_COMPLETED)
            self._live.stop()
            return broken.result() if broken.done() else tailer.ended.result()
        finally:
            await tailer.stop()

    async def _restore_after(self, error: Exception) -> bool:
        """Restore the state again if the error allows it; return whether it was restored."""
        seq = self._live.model.seq
        if self._cluster.shared is None:
            reason = str(error) or type(error).__name__
            self._fail(f"event {seq + 1} is in the log but could not be applied: {reason}")
            return False
        if not isinstance(error, RESTORABLE):
            self._fail(f"the log cannot be followed after event {seq}: {error}")
            return False
        if isinstance(error, LogRewound):
            log.critical("the store has lost acknowledged events: %s", with_hint(error))
            self.rewinds += 1
        log.warning("restoring the state from the store again: %s", error)
        self._live.lose()
        stored = self._live.model
        model = await self._restorer.restore(stored.model_set, stored.text)
        if model is not None:
            if self._on_restored is not None:
                await asyncio.to_thread(self._on_restored, model.seq)
            self._group_commit.resume(model)
        return model is not None

    def _fail(self, reason: str) -> None:
        self._group_commit.fail(reason)
        self._cluster.resign()


def _all_know_the_rules(heartbeat: Heartbeat) -> bool:
    """Return whether every live process has the rules of this release or newer rules."""
    return all(process.rules >= rules.RULES for process in heartbeat.processes)
