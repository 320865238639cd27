"""Applies the events of the log to the model, in the order of the log."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from heapq import heapify, heappop, heappush
from time import perf_counter

from manyclass.core.errors import EventError, RequestConflict, RulesDiffer
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.model import Model
from manyclass.core.outcome import Outcome
from manyclass.core.published_learner import PublishedLearner
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.outcomes import NO_EFFECT, code_of
from manyclass.service.log.pause import MEMORY_SECONDS, SLOW_SECONDS, Pause
from manyclass.service.log.request import BatchRequest, Request, Result
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.store.protocol import Batch

log = logging.getLogger(__name__)

# The loop applies events for this long; then pending rankings have a turn. The limit is a time and
# not a number, because an event can cost anything from microseconds to tenths of a second.
STRETCH_SECONDS = 0.001

# the last is called when its turn comes
Arrival = Request | BatchRequest | Batch | Callable[[], None]
OnApplied = Callable[[Event, Outcome, float], None]  # event, outcome, seconds
# the label of the learner, ranks (0: not retrieved) and seconds of plain events
OnLearned = Callable[[str, Sequence[int], Sequence[float]], None]


class ApplyLoop:
    """Changes the model, by the events of the log and nothing else.

        extend ──► arrived ──► steps of one arrival ──► model
                   (queue)     (a stretch at a time)

    The log of several processes holds the events that any of them was sent. So retries and
    conflicts are recognised here, in the state that the events meet, which is the same in every
    process. Their numbers are used up.

    An event that has begun is finished, so it begins only when memory is set aside for it. Until
    then it waits, and so do the events behind it. A "restore" mark replaces the model by that of a
    snapshot, an "adopt" mark by a rebuilt one.

    All methods belong to one event loop.
    """

    def __init__(
        self,
        live: LiveModel,
        loader: SnapshotLoader,
        on_applied: OnApplied | None = None,
        on_learned: OnLearned | None = None,
        on_short: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_applied` gets each event that changed the model, or `on_learned` many at once.

        `on_short` is called, again and again, while events wait for memory.
        """
        self._live = live
        self._loader = loader
        self._on_applied = on_applied
        self._on_learned = on_learned
        self._on_short = on_short
        self._is_short = False  # of memory for the next event
        self.waits_for_memory = False  # with the next event; changed here only
        self._loop = asyncio.get_running_loop()
        # The error because of which the model cannot follow the log, until `resume`.
        self.broken: asyncio.Future[Exception] = self._loop.create_future()
        self._arrived: deque[Arrival] = deque()
        self._steps: Iterator[float] | None = None  # of the arrival that is being applied
        self._amid = False  # some events of a request are applied, others not yet
        self._held_since: float | None = None  # the model has to stay as it is
        self._quiet = asyncio.Lock()
        self._loading: asyncio.Future[Model | None] | None = None
        self._loading_since = 0.0
        self._is_due = False
        self._end = 0.0  # of the stretch
        self._progress: asyncio.Future[None] | None = None
        # Waiters: the seq of the event, a number that makes each waiter unique, the waiter.
        self._awaited: list[tuple[int, int, asyncio.Future[None]]] = []
        self._waits = 0
        self._given_up = 0  # of the waiters in `_awaited`

    # --- interface -------------------------------------------------------------------------------

    def extend(self, arrived: Iterable[Arrival], soon: bool = False) -> None:
        """Apply these next, which are in the log behind the earlier arrivals.

        `soon`: in a later turn of the event loop, because more may arrive in this one.
        """
        if self.broken.done():
            return
        self._arrived.extend(arrived)
        if soon:
            self._soon()
        elif not self._is_due:
            self._apply()

    @property
    def idle(self) -> bool:
        """True when everything that arrived is applied."""
        return self._steps is None and not self._arrived

    @property
    def pause(self) -> Pause | None:
        """The reason why no event is applied now, None while they are."""
        if self.waits_for_memory:
            return Pause("memory", "there is no memory to learn the next event with")
        since = self._held_since if self._loading is None else self._loading_since
        if since is None or (seconds := self._loop.time() - since) <= SLOW_SECONDS:
            return None
        return Pause(
            "state_held",
            f"a snapshot, a restore or the end of a rebuild has held the state for {seconds:.0f} s",
        )

    def resume(self, model: Model) -> None:
        """Go on from this state, and forget the arrivals that are not applied."""
        self.clear()
        self._live.use(model)
        if self.broken.done():
            self.broken = self._loop.create_future()

    def clear(self) -> None:
        """Forget the arrivals that are not applied."""
        self._arrived.clear()
        self._steps = None
        self._amid = False
        if self._loading is not None:
            self._loading.cancel()
            self._loading = None
        self.notify()

    async def reached(self, seq: int) -> None:
        """Return when event `seq` is applied."""
        if self._live.model.seq >= seq:
            return
        waiter = self._loop.create_future()
        self._waits += 1
        heappush(self._awaited, (seq, self._waits, waiter))
        try:
            await waiter
        except asyncio.CancelledError:
            self._given_up += 1
            if self._given_up > len(self._awaited) / 2:
                self._awaited = [each for each in self._awaited if not each[2].done()]
                heapify(self._awaited)
                self._given_up = 0
            raise

    async def progress(self) -> None:
        """Return when something was applied, or a submission was answered or given up."""
        if self._progress is None:
            self._progress = self._loop.create_future()
        await asyncio.shield(self._progress)

    def notify(self) -> None:
        """Wake the callers of `progress`."""
        progress, self._progress = self._progress, None
        if progress is not None:
            progress.set_result(None)

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[Model]:
        """Inside, the model stays as it is, between two requests. For one holder at a time."""
        async with self._quiet:
            self._held_since = self._loop.time()
            try:
                while self._amid:
                    await self.progress()
                yield self._live.model
            finally:
                self._held_since = None
                self._soon()

    # --- apply -----------------------------------------------------------------------------------

    def _soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._apply)

    def _apply(self) -> None:
        """Apply arrivals for a stretch."""
        self._is_due = self.waits_for_memory = False
        self._end = perf_counter() + STRETCH_SECONDS
        try:
            while self._may_go_on():
                if self._is_short or not PublishedLearner.has_memory():
                    self._wait_for_memory()
                    return
                if self._steps is None:
                    self._steps = self._steps_of(self._arrived.popleft())
                now = next(self._steps, None)
                if now is None:
                    self._steps = None
                elif now >= self._end:
                    break
        except Exception as error:  # the model is no longer the state that the log describes
            self._break(error)
        if self._may_go_on():
            self._soon()
        self._wake_waiters()
        self.notify()

    def _wait_for_memory(self) -> None:
        self._is_short = False
        self._is_due = self.waits_for_memory = True
        self._loop.call_later(MEMORY_SECONDS, self._apply)
        self._wake_waiters()
        self.notify()
        self._on_short()

    def _break(self, error: Exception) -> None:
        unforeseen = None if isinstance(error, RulesDiffer) else error
        log.error("event %d cannot be applied", self._live.model.seq + 1, exc_info=unforeseen)
        self.clear()
        self._live.stop()
        self.broken.set_result(error)

    def _wake_waiters(self) -> None:
        while self._awaited and self._awaited[0][0] <= self._live.model.seq:
            _, _, waiter = heappop(self._awaited)
            if waiter.done():
                self._given_up -= 1
            else:
                waiter.set_result(None)

    def _may_go_on(self) -> bool:
        if self.idle or (self._loading is not None and not self._loading.done()):
            return False
        return self._amid or self._held_since is None

    def _steps_of(self, arrived: Arrival) -> Iterator[float]:
        """Apply an arrival; yield the time after each step."""
        if isinstance(arrived, Request):
            yield from self._request(arrived.events, arrived.on_applied)
        elif isinstance(arrived, BatchRequest):
            yield from self._together(arrived.batch)
            arrived.on_applied()
        elif isinstance(arrived, Batch):
            yield from self._batch(arrived)
        else:
            arrived()

    def _batch(self, batch: Batch) -> Iterator[float]:
        if batch.first_seq != self._live.model.seq + 1:
            raise EventError(f"event {batch.first_seq} cannot follow event {self._live.model.seq}")
        events: list[Event] = []
        for payload in batch.events:
            event = Event.from_bytes(payload)
            if events and not event.joined:
                yield from self._request(events)
                events = []
            elif events:
                yield perf_counter()
            events.append(event)
        yield from self._request(events)

    def _request(
        self,
        events: Sequence[Event],
        on_applied: Callable[[list[Result] | RequestConflict], None] | None = None,
    ) -> Iterator[float]:
        self._amid = True
        first_seq = self._live.model.seq + 1
        results: list[Result] = []
        outcome: list[Result] | RequestConflict = results
        if events and events[0].kind in ("restore", "adopt"):
            yield from self._go_over(events[0])
            results.append(Result(self._live.model.seq, False, None, False))
            events = events[1:]
        try:
            yield from self._apply_events(events, results)
        except RequestConflict as conflict:
            outcome = conflict
            yield perf_counter()
        self._amid = False
        codes = [NO_EFFECT if each.duplicate else code_of(each.rank) for each in results]
        codes += [NO_EFFECT] * (self._live.model.seq + 1 - first_seq - len(codes))
        self._live.recovery.outcomes.note(first_seq, codes)
        if on_applied is not None:
            on_applied(outcome)

    def _together(self, batch: EventBatch) -> Iterator[float]:
        """Apply plain events: as many at once as the stretch allows, if the model can."""
        self._amid = True
        model = self._live.model
        first_seq = model.seq + 1
        batch.begin(first_seq)
        if not model.can_apply(batch):
            results: list[Result] = []
            for now in self._apply_events(batch.events(), results):
                batch.note(results[-1].rank or 0, results[-1].updated)
                yield now
        while (first := batch.learned) < len(batch):
            try:
                model.apply_batch(batch, self._end - perf_counter())
            except MemoryError:  # before the next event has begun, or its index says so next time
                self._is_short = True
            if self._on_learned is not None:
                label = model.answering.label
                self._on_learned(label, batch.ranks(first), batch.seconds(first))
            yield perf_counter()
        self._live.recovery.outcomes.note(first_seq, batch.ranks(0))
        self._amid = False

    def _apply_events(self, events: Sequence[Event], results: list[Result]) -> Iterator[float]:
        model = self._live.model
        answering = model.answering.label
        began = perf_counter()
        for event, outcome in zip(events, model.apply_request(events, perf_counter), strict=True):
            ended = perf_counter()
            if isinstance(outcome, int):
                results.append(Result.of_retry(outcome))
            else:
                results.append(Result(outcome.seq, False, outcome.rank, outcome.updated))
                if event.kind != "learn":
                    self._live.count_on()
                    _log_change(event, outcome, answering)
                    answering = outcome.label
                if self._on_applied is not None:
                    self._on_applied(event, outcome, ended - began)
            yield ended
            began = perf_counter()

    def _go_over(self, mark: Event) -> Iterator[float]:
        """Replace the model by the one that a mark names. Ranking goes on meanwhile."""
        before = self._live.model
        seq = before.seq + 1
        loading = (
            self._loader.load(mark.restored)
            if mark.kind == "restore"
            else self._loader.adopted(mark.name, seq, before)
        )
        self._loading_since = self._loop.time()
        self._loading = asyncio.ensure_future(loading)
        self._loading.add_done_callback(lambda _: self._soon())
        yield perf_counter()
        model = self._loading.result()
        self._loading = None
        if model is None:
            before.pass_over()
            log.warning("event %d has no effect: a snapshot was restored meanwhile", seq)
            return
        if mark.kind == "restore":
            model.restored(seq, mark.restored, before.rules)
            log.info("went back to snapshot %d as event %d", mark.restored, seq)
        else:
            log.info("went over to a rebuilt state as event %d", seq)
        self._live.use(model)


def _log_change(event: Event, outcome: Outcome, answering: str) -> None:
    """Log an event that raised the rules, or that made another learner answer."""
    if event.kind == "rules":
        log.warning("event %d raised the rules to version %d", outcome.seq, event.rules)
    elif event.kind == "promote" and outcome.label != answering:
        log.info("%s answers from event %d on", outcome.label, outcome.seq)
