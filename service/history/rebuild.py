"""Rebuilds: replay the amended history and switch to the resulting state."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep

import msgspec

from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import TextAnalysis
from manyclass.service.errors import RebuildRefused, with_hint
from manyclass.service.history.amendments import Amended
from manyclass.service.history.fold import fold, fold_amendments
from manyclass.service.history.history import History
from manyclass.service.history.memory import check_memory
from manyclass.service.history.relearning import Relearning
from manyclass.service.history.undone import Undone
from manyclass.service.log.adoption import is_undone
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.runtime import Runtime
from manyclass.service.snapshots.schedule import SnapshotSchedule
from manyclass.service.store.errors import SnapshotMissing, StoreError, StoreUnavailable
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.rebuilt import RebuiltState, RebuiltStates, rebuilt_states_of
from manyclass.service.store.segments import as_shared_segments

log = logging.getLogger(__name__)

APPLY_SECONDS = 10.0  # time for this process to apply the events of other processes
TRIM_SECONDS = 120.0  # time for other processes to switch to a rebuilt state
TRIM_PAUSE = 0.2
SETTLE_SECONDS = 60.0  # between two attempts to settle a left-over state

Take = Callable[[], Awaitable[SnapshotInfo]]
# The snapshot before the events, the last event, what restores have undone, amendments by event.
Events = tuple[int, int, list[range], dict[int, Amended]]


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """A finished rebuild: the state at event `seq` follows from the amended history.

    Events up to `base` were not learned again, because they are in the snapshot with which the
    rebuild began. These include the `unreached` amended events, whose data and effect on the
    weights remain. `text` is the text analysis of the state. `finished_at` is in unix seconds.
    """

    seq: int
    base: int
    events: int
    corrected: int
    deleted: int
    unreached: int
    text: str
    seconds: float
    finished_at: float


@dataclass(frozen=True, slots=True)
class RebuildStatus:
    """The status of rebuilds: `learned` counts the events of the rebuild in progress, `waiting` the
    amended events that wait for one, and `last` is the last rebuild since the process started.

    `merged` is the number of the newest event that merged classes or released a former name, until
    a rebuild includes it; until then rankings lack the former events of such a class.
    """

    running: bool
    learned: int
    waiting: int
    last: RebuildReport | None
    merged: int | None = None


class Plan(msgspec.Struct, frozen=True):
    """The origin of a rebuilt state: the events after `base`, with amendments up to `upto`."""

    base: int
    upto: int


class Rebuild:
    """The part that rebuilds the state, one rebuild at a time.

        history ──► child process ──► state ──► tail of the log ──► live model ──► snapshot
        (amended)   (low priority)              (learning waits for the last of it)

    The live model ranks and learns until the rebuilt one replaces it. Until the final snapshot is
    durable, a crash leaves the former state and the amendments, and another rebuild starts from the
    beginning. Afterwards the amended events are rewritten in the history, older snapshots are
    deleted, and the store is scrubbed.

    On a shared store, the leader rebuilds. It stores the state and appends the "adopt" mark, at
    which every process switches to it. A leader that finds such a state at its start settles it.
    """

    def __init__(
        self,
        history: History,
        apply_loop: ApplyLoop,
        schedule: SnapshotSchedule,
        runtime: Runtime,
    ) -> None:
        self._wall_clock = runtime.wall_clock
        self._history = history
        self._live = history.live
        self._apply_loop = apply_loop
        self._schedule = schedule
        self._clock = runtime.clock
        self._relearning = Relearning(history, runtime.hash_seed)
        self._states = rebuilt_states_of(history.store)
        self._lock = asyncio.Lock()
        self.last: RebuildReport | None = None
        self.failures = 0
        self.may_be_unsettled = self._states is not None  # a rebuilt state may be left over
        self._settle_at = 0.0  # time of the next attempt to settle

    @property
    def is_running(self) -> bool:
        """True while the history is learned again."""
        return self._lock.locked()

    @property
    def status(self) -> RebuildStatus:
        """The status of rebuilds in this process."""
        waiting = len(self._history.amendments)
        merged = self._live.model.merged or None
        return RebuildStatus(self.is_running, self.learned, waiting, self.last, merged)

    @property
    def learned(self) -> int:
        """The number of events that the rebuild in progress has learned."""
        return self._relearning.learned

    @property
    def settles(self) -> bool:
        """True if it is time to look for a rebuilt state that is left over."""
        return self.may_be_unsettled and self._clock() >= self._settle_at

    def check(self, more_bytes: int = 0) -> None:
        """Raise RebuildRefused while a rebuild is in progress, MemoryShort if memory is short.

        `more_bytes`: of a learner that the rebuild adds.
        """
        if self._lock.locked():
            raise RebuildRefused("a rebuild is in progress")
        check_memory(self._state_bytes() + more_bytes)

    async def run(
        self,
        join: Callable[[], Awaitable[object]] | None = None,
        text: TextAnalysis | None = None,
        more_bytes: int = 0,
    ) -> RebuildReport:
        """Rebuild the state; return when it is durable and the amended events are gone.

        `join` is called before the rebuild begins, to make a learner learn the whole history; it
        may add a learner of `more_bytes`.
        `text` is the text analysis of the new state, None for the present one; all texts are
        analysed again with another one. The rebuild includes all amendments that any process has
        answered before. Raises RebuildRefused or MemoryShort without any change, or StoreError.
        """
        self.check(more_bytes)
        async with self._lock:
            if join is not None:
                if text is not None:  # check it first: a later refusal would leave the new learner
                    await self._check_texts(await self._events(), text)
                await join()
            try:
                with self._history.held():
                    self.last = await self._run(text)
            except Exception as error:
                self.failures += 1
                log.error("the rebuild failed: %s", error)
                raise
            return self.last

    async def settle_left_over(self) -> None:
        """Settle a rebuilt state of an earlier leader, or of a rebuild that failed at its end.

        An error is logged; the next attempt is in a minute.
        """
        async with self._lock:
            try:
                await self._settle_left_over()
            except (StoreError, RebuildRefused) as error:
                self._settle_at = self._clock() + SETTLE_SECONDS
                log.error("a rebuilt state cannot be settled yet: %s", with_hint(error))

    async def shorten(self) -> None:
        """Remove the oldest events from the history if it exceeds its limits.

        A state that has learned them becomes the base, so all remaining events can still be
        replayed from there. An error is logged; the history stays longer until the next attempt.
        """
        async with self._lock:
            try:
                last_seq = self._outside(await asyncio.to_thread(self._history.recorder.excess))
                waiting = self._history.amendments.waiting()
                if last_seq > 0 and not any(target <= last_seq for target in waiting):
                    await asyncio.to_thread(self._shorten, last_seq)
            except (StoreError, RebuildRefused) as error:
                self.failures += 1
                log.error("the history cannot be shortened to its limits: %s", with_hint(error))

    def _outside(self, last_seq: int) -> int:
        """Return the last end of a segment up to this event that no restore has undone, or 0.

        A state within undone events would not be a state of the log.
        """
        undone = Undone(self._live.model.restores)
        ends = [info.last_seq for info in self._history.recorder.infos]
        return max((each for each in ends if each <= last_seq and each not in undone), default=0)

    def _shorten(self, last_seq: int) -> None:
        base, undone = self._relearning.base(self._live.model.restores)
        if base < last_seq:
            aliases = self._live.model.aliases
            whole = _whole(self._live.model)
            text = self._live.model.text
            moved = self._relearning.learn(base, last_seq, undone, {}, aliases, whole, text)
            self._history.segments.save_base(last_seq, moved.dump())
        self._history.recorder.drop(last_seq)
        log.info("events up to %d have left the history", last_seq)

    def stop(self) -> None:
        """End the child process, so that a rebuild in progress fails."""
        self._relearning.stop()

    async def _run(self, text: TextAnalysis | None) -> RebuildReport:
        live = self._live
        began = self._clock()
        await self._apply_log()
        await self._settle_left_over()
        self._relearning.learned = 0
        model = live.model
        times_lost, restores = live.times_lost, list(model.restores)
        aliases, whole = dict(model.aliases), _whole(model)
        events = base, last_seq, _, settled = await self._events()
        text = model.text if text is None else text
        await self._check_texts(events, text)
        rebuilt = await asyncio.to_thread(self._relearning.learn, *events, aliases, whole, text)
        await asyncio.to_thread(self._relearning.catch_up, rebuilt)
        async with self._schedule.exclusive() as take:
            if self._states is None:
                await self._go_over(rebuilt, restores)
                self._schedule.supersede()
                info = await take()
                await asyncio.to_thread(self._settle, settled, base, info.seq, lambda: None)
            else:
                self.may_be_unsettled = True  # until it is settled
                plan = Plan(base, last_seq)
                state = await self._adopt(self._states, rebuilt, restores, times_lost, plan)
                info = await self._complete(self._states, state, plan, settled, take)
        reached = [each for target, each in settled.items() if target > base]
        deleted = sum(not each.classes for each in reached)
        done = RebuildReport(
            seq=info.seq,
            base=base,
            events=self.learned,
            corrected=len(reached) - deleted,
            deleted=deleted,
            unreached=len(settled) - len(reached),
            text=str(text),
            seconds=self._clock() - began,
            finished_at=self._wall_clock(),
        )
        log.info(
            "rebuilt the state at event %d from %d on: %d events learned, %d corrected, %d deleted,"
            " texts analysed with %s, %.1f s",
            *(done.seq, done.base, done.events, done.corrected, done.deleted),
            *(done.text, done.seconds),
        )
        return done

    async def _events(self) -> Events:
        """Return the events for a rebuild that begins now."""
        history, model = self._history, self._live.model
        last_seq, restores, settled = model.seq, [*model.restores], history.amendments.waiting()
        await asyncio.to_thread(history.pack, last_seq)
        base, undone = await asyncio.to_thread(self._relearning.base, restores)
        return base, last_seq, undone, settled

    async def _check_texts(self, events: Events, text: TextAnalysis) -> None:
        """Raise RebuildRefused if this analysis cannot read all these events, or MemoryShort."""
        if text != self._live.model.text:
            growth = await asyncio.to_thread(self._relearning.check_texts, *events, text)
            check_memory(round(growth * self._state_bytes()))

    def _state_bytes(self) -> int:
        model = self._live.model
        of_learners = sum(each.learner.resident_bytes for each in model.enrolled)
        return of_learners + model.evidence.resident_bytes

    async def _apply_log(self) -> None:
        """Wait until this process has applied the events of all processes."""
        if self._states is None:
            return
        store = self._history.store
        last_seq = await asyncio.to_thread(lambda: store.last_seq)
        try:
            async with asyncio.timeout(APPLY_SECONDS):
                await self._apply_loop.reached(last_seq)
        except TimeoutError:
            raise RebuildRefused(
                f"this process has applied {self._live.model.seq} of {last_seq} events: try again"
            ) from None

    # --- going over ------------------------------------------------------------------------------

    async def _go_over(self, model: Model, restores: list[tuple[int, int]]) -> None:
        """Replace the live model by the rebuilt one, which has nearly caught up."""
        async with self._apply_loop.quiet() as live:
            await self._catch_up_wholly(model, live, restores)
            model.recent = live.recent
            self._live.use(model)

    async def _adopt(
        self,
        states: RebuiltStates,
        model: Model,
        restores: list[tuple[int, int]],
        times_lost: int,
        plan: Plan,
    ) -> RebuiltState:
        """Make every process switch to the rebuilt state; return it when this process has."""
        async with self._apply_loop.quiet() as live:
            if self._live.times_lost != times_lost:
                raise RebuildRefused("the log has lost events meanwhile: rebuild again")
            await self._catch_up_wholly(model, live, restores)
            model.recent = await asyncio.to_thread(live.recent.copy)
        body = msgspec.json.encode(plan)
        state = await asyncio.to_thread(states.save, model.seq, model.dump(), body)
        mark = bytes(Event.adopt(state.token))
        adopted = await asyncio.to_thread(states.adopt, state.token, mark)
        return RebuiltState(state.token, state.seq, body, adopted)

    async def _catch_up_wholly(
        self, model: Model, live: Model, restores: list[tuple[int, int]]
    ) -> None:
        await asyncio.to_thread(self._relearning.apply_tail, model, live.seq)
        if model.seq != live.seq or live.restores != restores:
            raise RebuildRefused("the log has changed meanwhile: rebuild again")
        if {*model.model_set.labels} != {*live.model_set.labels}:
            raise RebuildRefused(
                "the history has more learners at once than a model can have: remove shadows, and"
                " rebuild again"
            )
        model.restores, model.chosen = restores, live.chosen
        # No amendment changes them, and of two merged classes the other one keeps its own.
        model.take_descriptions(live)

    # --- afterwards ------------------------------------------------------------------------------

    async def _settle_left_over(self) -> None:
        states = self._states
        if states is None or not self.may_be_unsettled:
            return
        state = await asyncio.to_thread(states.find)
        if state is not None and state.adopted is None:
            await asyncio.to_thread(states.drop, state.token, self._live.model.seq)
        elif state is not None:
            plan = msgspec.json.decode(state.plan, type=Plan)
            waiting = self._history.amendments.waiting()
            # An event that was amended again since waits for the next rebuild.
            settled = {target: each for target, each in waiting.items() if each.seq <= plan.upto}
            async with self._schedule.exclusive() as take:
                await self._complete(states, state, plan, settled, take)
            log.info("settled the rebuilt state of event %d", state.adopted)
        self.may_be_unsettled = False

    async def _complete(
        self,
        states: RebuiltStates,
        state: RebuiltState,
        plan: Plan,
        settled: dict[int, Amended],
        take: Take,
    ) -> SnapshotInfo:
        """Settle an adopted state. Raises RebuildRefused if a restore has undone it."""
        adopted = state.adopted or 0
        await self._apply_loop.reached(adopted)
        is_undone_since = is_undone(self._live.model.restores, state.seq, adopted)
        info = await take()
        drop = partial(states.drop, state.token, adopted)
        if is_undone_since:
            await asyncio.to_thread(drop)
        else:
            await asyncio.to_thread(self._settle, settled, plan.base, info.seq, drop)
        self.may_be_unsettled = False
        if is_undone_since:
            raise RebuildRefused("a snapshot was restored meanwhile: rebuild again")
        return info

    def _settle(
        self, settled: dict[int, Amended], base: int, seq: int, drop: Callable[[], None]
    ) -> None:
        """Rewrite the amended events, and delete all other copies of them.

        `drop` deletes the stored state, which is needed until the snapshot at `seq` is the oldest.
        """
        history = self._history
        store = history.store
        for info in store.snapshots():
            if info.seq != seq and info.seq != base:
                try:
                    store.delete_snapshot(info.seq)
                except SnapshotMissing:
                    log.info("snapshot %d was deleted already", info.seq)
        if history.packs:
            history.pack(seq)
            fold(history, settled, base)
            seq = min(seq, history.recorder.end)
        drop()
        self._trim(seq)
        history.refresh()
        history.reader.forget()
        history.segments.scrub()
        fold_amendments(history, settled, base)
        history.amendments.settle(settled)  # last: if scrubbing fails, they wait for a retry

    def _trim(self, seq: int) -> None:
        """Trim the log up to this event, once every process has applied it."""
        store, shared = self._history.store, as_shared_segments(self._history.segments)
        until = monotonic() + TRIM_SECONDS
        store.trim(seq)
        while shared is not None and shared.listed()[1] < seq:
            if monotonic() > until:
                raise StoreUnavailable(
                    f"the log cannot be trimmed up to event {seq}: a process has not applied it",
                    "find the process that lags behind, and rebuild again",
                )
            sleep(TRIM_PAUSE)
            store.trim(seq)


def _whole(model: Model) -> list[Options]:
    """Return the learners of a model that learn the whole history, in order."""
    return [each for each in model.model_set.learners if each.specification in model.whole]
