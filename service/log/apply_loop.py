"""The loop that applies the events of the log to the model, in the order of the log."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from heapq import heapify, heappop, heappush
from time import perf_counter
from typing import Final

from manyclass.core.errors import RequestConflict, RulesDiffer
from manyclass.core.event import Event
from manyclass.core.model import Model
from manyclass.core.outcome import Outcome
from manyclass.core.published_learner import PublishedLearner
from manyclass.service.log.hooks import NO_HOOKS, Hooks
from manyclass.service.log.interpreter import (
    Applied,
    Interpreter,
    Loaded,
    NoState,
    StateNeeded,
    Step,
    Stretch,
)
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.pause import MEMORY_SECONDS, SLOW_SECONDS, Pause
from manyclass.service.log.request import BatchRequest, Request, Result
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.store.protocol import Batch

log = logging.getLogger(__name__)

# The loop applies events for this long; then pending rankings have a turn. The limit is a time and
# not a number, because an event can cost anything from microseconds to tenths of a second.
STRETCH_SECONDS = 0.001

_END: Final = object()  # marks the end of an arrival's steps

# a call is made when its turn comes
Arrival = Request | BatchRequest | Batch | Callable[[], None]


class ApplyLoop:
    """The only part that changes the model, by the events of the log and nothing else.

        extend ──► arrived ──► steps of one arrival ──► model
                   (queue)     (a stretch at a time, by the Interpreter)

    An event that has begun is always finished, so it begins only once memory is set aside for it.
    Until then it waits, and so do the events behind it. The state that a mark names is loaded in a
    thread.

    All methods belong to one event loop.
    """

    def __init__(
        self,
        live: LiveModel,
        loader: SnapshotLoader,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self._live = live
        self._loader = loader
        self._hooks = hooks
        self._is_short = False  # there is no memory for the next event
        self.waits_for_memory = False  # the next event waits; only this class changes it
        self._loop = asyncio.get_running_loop()
        # The error that keeps the model from following the log, until `resume`.
        self.broken: asyncio.Future[Exception] = self._loop.create_future()
        self._arrived: deque[Arrival] = deque()
        self._interpreter = Interpreter(live, live.recovery.outcomes, perf_counter)
        self._steps: Iterator[Step] | None = None  # the rest of the arrival being applied
        self._held_since: float | None = None  # time since which the model must not change
        self._quiet = asyncio.Lock()
        self._loading: asyncio.Future[Loaded] | None = None
        self._loading_since = 0.0
        self._is_due = False
        self._end = 0.0  # time at which the stretch ends
        self._progress: asyncio.Future[None] | None = None
        # Waiters: the seq of the event, a number that makes each waiter unique, the waiter.
        self._awaited: list[tuple[int, int, asyncio.Future[None]]] = []
        self._waits = 0
        self._given_up = 0  # number of cancelled waiters in `_awaited`

    # --- interface -------------------------------------------------------------------------------

    def extend(self, arrived: Iterable[Arrival], soon: bool = False) -> None:
        """Apply these arrivals, which follow the earlier arrivals in the log.

        With `soon`, begin in a later turn of the event loop, because more may arrive in this one.
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
        """The reason why no event is applied now, None while events are applied."""
        if self.waits_for_memory:
            return Pause("memory", "there is not enough memory to learn the next event")
        since = self._held_since if self._loading is None else self._loading_since
        if since is None or (seconds := self._loop.time() - since) <= SLOW_SECONDS:
            return None
        return Pause(
            "state_held",
            f"a snapshot, a restore or the end of a rebuild has held the state for {seconds:.0f} s",
        )

    def resume(self, model: Model) -> None:
        """Continue from this state, and drop the arrivals that are not applied."""
        self.clear()
        self._live.use(model)
        if self.broken.done():
            self.broken = self._loop.create_future()

    def clear(self) -> None:
        """Drop the arrivals that are not applied."""
        self._arrived.clear()
        self._steps = None
        self._interpreter.forget()
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
        """Return when an event was applied, or a submission was answered or cancelled."""
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
        """Keep the model unchanged inside, between two requests. One holder at a time."""
        async with self._quiet:
            self._held_since = self._loop.time()
            try:
                while self._interpreter.is_amid:
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
                if next(self._steps, _END) is _END:
                    self._steps = None
                elif perf_counter() >= self._end:
                    break
        except Exception as error:  # the model no longer equals the state of the log
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
        self._hooks.on_short()

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
        return self._interpreter.is_amid or self._held_since is None

    def _steps_of(self, arrived: Arrival) -> Iterator[Step]:
        """Apply an arrival step by step."""
        if isinstance(arrived, Request):
            yield from self._request(arrived)
        elif isinstance(arrived, BatchRequest):
            yield from self._serve(self._interpreter.batch(arrived.batch, self._seconds_left))
            arrived.on_applied()
        elif isinstance(arrived, Batch):
            events = enumerate(arrived.events, arrived.first_seq)
            yield from self._serve(self._interpreter.log(events))
        else:
            arrived()

    def _request(self, request: Request) -> Iterator[Step]:
        results: list[Result] = []
        outcome: list[Result] | RequestConflict = results
        for step in self._serve(self._interpreter.request(request.events)):
            if isinstance(step, Applied):
                results.append(Result.of(step.outcome))
            elif isinstance(step, StateNeeded):
                results.append(Result(step.seq, False, None, False))
            elif isinstance(step, RequestConflict):
                outcome = step
            yield step
        request.on_applied(outcome)

    def _serve(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Load the states that the interpreter needs, and report the applied events."""
        answering = self._live.model.answering.label
        began = perf_counter()
        for step in steps:
            if isinstance(step, Applied):
                answering = self._note(step, answering, perf_counter() - began)
            elif isinstance(step, Stretch):
                self._note_stretch(step)
            elif isinstance(step, StateNeeded):
                self._load(step)
            yield step
            if isinstance(step, StateNeeded):
                step.loaded = loaded = self._loaded(step)
                if isinstance(loaded, Model):
                    answering = loaded.answering.label
            began = perf_counter()

    def _note(self, applied: Applied, answering: str, seconds: float) -> str:
        """Report an applied event; return the label of the learner that answers now."""
        event, outcome = applied
        if isinstance(outcome, int):  # a retry
            return answering
        if event.kind != "learn":
            self._live.count_on()
            _log_change(event, outcome, answering)
            answering = outcome.label
        if self._hooks.on_applied is not None:
            self._hooks.on_applied(event, outcome, seconds)
        return answering

    def _note_stretch(self, stretch: Stretch) -> None:
        batch, first = stretch.batch, stretch.first
        self._is_short = stretch.is_short
        if self._hooks.on_learned is not None:
            label = self._live.model.answering.label
            self._hooks.on_learned(label, batch.ranks(first), batch.seconds(first))

    def _seconds_left(self) -> float:
        """Return the seconds until the end of the stretch."""
        return self._end - perf_counter()

    def _load(self, needed: StateNeeded) -> None:
        """Begin to load the state that a mark names. Ranking continues meanwhile."""
        self._loading_since = self._loop.time()
        self._loading = asyncio.ensure_future(self._loader.load_state(needed))
        self._loading.add_done_callback(lambda _: self._soon())

    def _loaded(self, needed: StateNeeded) -> Loaded:
        """Return the loaded state."""
        assert self._loading is not None
        loaded = self._loading.result()
        self._loading = None
        if isinstance(loaded, NoState):
            log.warning(
                "event %d does not adopt a rebuilt state: a snapshot was restored meanwhile",
                needed.seq,
            )
        elif needed.mark.kind == "restore":
            log.info("event %d restored snapshot %d", needed.seq, needed.mark.restored)
        else:
            log.info("event %d adopted a rebuilt state", needed.seq)
        return loaded


def _log_change(event: Event, outcome: Outcome, answering: str) -> None:
    """Log an event that raised the rules or changed the primary learner."""
    if event.kind == "rules":
        log.warning("event %d raised the rules to version %d", outcome.seq, event.rules)
    elif event.kind == "promote" and outcome.label != answering:
        log.info("event %d made %s the primary learner", outcome.seq, outcome.label)
