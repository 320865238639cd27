"""Applies what the log brings, in its order, and says what each event came to."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from heapq import heapify, heappop, heappush
from time import perf_counter
from typing import NamedTuple

from manyclass.core.errors import EventConflict, EventError, RulesDiffer
from manyclass.core.event import Event
from manyclass.core.model import Model, Outcome
from manyclass.service.store.protocol import Batch

log = logging.getLogger(__name__)

# Events are applied for so long at a stretch; then whoever waits to rank has a turn. By time and
# not by number, because an event can cost anything from microseconds to tenths of a second.
STRETCH_SECONDS = 0.001


class Result(NamedTuple):
    """What became of one event. A duplicate has the seq of the event it repeats."""

    seq: int
    duplicate: bool
    rank: int | None
    updated: bool


class Counts(NamedTuple):
    """What the learner that answers counts, each an only growing number as long as it answers."""

    evicted_features: int = 0
    evicted_classes: int = 0
    active_features_ranked: int = 0
    edges_touched: int = 0

    @classmethod
    def of(cls, model: Model) -> "Counts":
        """The counts of a model, some of which are from before this process began."""
        learner = model.learner
        return cls(
            learner.evicted_features,
            learner.evicted_classes,
            learner.active_features_ranked,
            learner.edges_touched,
        )


class Request:
    """Events that came in one request, and are taken whole or not at all; `heard` gets the results,
    or the conflict for which none was taken.
    """

    __slots__ = ("events", "heard")

    def __init__(
        self, events: Sequence[Event], heard: Callable[[list[Result] | EventConflict], None]
    ) -> None:
        self.events = events
        self.heard = heard


Arrival = Request | Batch | Callable[[], None]  # the last is called when its turn comes


class ApplyLoop:
    """The one that changes the model, by what is in the log and nothing else.

    The log of several processes holds whatever each of them was sent, so retries and conflicts are
    told apart here, by the state the events meet, which is the same in every process: a retry
    changes nothing, nor does any event of a request with a conflict. Their numbers are used up.

    All methods belong to one event loop.
    """

    def __init__(
        self,
        model: Model,
        load: Callable[[int], Awaitable[Model]],
        broken: Callable[[Exception], None],
        on_applied: Callable[[Event, Outcome, float], None] | None = None,
    ) -> None:
        """`load` gives the model of a snapshot that a mark in the log goes back to; `broken` hears
        why the model cannot be brought to where the log is: nothing more will be applied.
        """
        self.model = model  # `use` replaces it
        self._load = load
        self._broken = broken
        self._on_applied = on_applied
        self._loop = asyncio.get_running_loop()
        self._counted_before = Counts()  # by other learners, or in other models
        self._counts_at_first = Counts.of(model)  # by this one, when it was put in use
        self._arrived: deque[Arrival] = deque()
        self._steps: Iterator[float] | None = None  # what is under way
        self._amid = False  # some events of a request are applied, others not yet
        self._held = False  # somebody wants the model to stay as it is
        self._quiet = asyncio.Lock()
        self._loading: asyncio.Future[Model] | None = None
        self._is_due = False
        self._progress: asyncio.Future[None] | None = None
        # Who waits for an event: its seq, a number that tells apart those of the same, the waiter.
        self._awaited: list[tuple[int, int, asyncio.Future[None]]] = []
        self._waits = 0
        self._given_up = 0  # of those in `_awaited`

    # --- what others ask of it -------------------------------------------------------------------

    def extend(self, arrived: Iterable[Arrival], soon: bool = False) -> None:
        """Apply these next, which are in the log behind what was given before.

        `soon`: in a turn of the loop of its own, because more may be given in this one.
        """
        self._arrived.extend(arrived)
        if soon:
            self._soon()
        elif not self._is_due:
            self._apply()

    @property
    def idle(self) -> bool:
        """True when everything that was given is applied."""
        return self._steps is None and not self._arrived

    def use(self, model: Model) -> None:
        """Go on with another model. What was counted stays counted."""
        self._counted_before = self.counts()
        self._counts_at_first = Counts.of(model)
        self.model = model

    def counts(self) -> Counts:
        """What has been counted since the applier was made, by every learner that answered."""
        each = zip(self._counted_before, Counts.of(self.model), self._counts_at_first, strict=True)
        return Counts(*(before + now - first for before, now, first in each))

    def clear(self) -> None:
        """Forget what was given and is not applied."""
        self._arrived.clear()
        self._steps = None
        self._amid = False
        if self._loading is not None:
            self._loading.cancel()
            self._loading = None
        self.tell()

    async def reached(self, seq: int) -> None:
        """Return when event `seq` is applied."""
        if self.model.seq >= seq:
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
        """Return when something has been applied, or a request answered or given up."""
        if self._progress is None:
            self._progress = self._loop.create_future()
        await asyncio.shield(self._progress)

    def tell(self) -> None:
        """End the waiting of those in `progress`."""
        progress, self._progress = self._progress, None
        if progress is not None:
            progress.set_result(None)

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """Inside, the model stays as it is, between two requests. For one holder at a time."""
        async with self._quiet:
            self._held = True
            try:
                while self._amid:
                    await self.progress()
                yield
            finally:
                self._held = False
                self._soon()

    # --- apply -----------------------------------------------------------------------------------

    def _soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._apply)

    def _apply(self) -> None:
        """Apply what has arrived, for a stretch."""
        self._is_due = False
        end = perf_counter() + STRETCH_SECONDS
        try:
            while self._may_go_on():
                if self._steps is None:
                    self._steps = self._steps_of(self._arrived.popleft())
                now = next(self._steps, None)
                if now is None:
                    self._steps = None
                elif now >= end:
                    break
        except Exception as error:  # the state is no longer what the log says
            unforeseen = None if isinstance(error, RulesDiffer) else error
            log.error("event %d cannot be applied", self.model.seq + 1, exc_info=unforeseen)
            self.clear()
            self._broken(error)
        if self._may_go_on():
            self._soon()
        self._wake_those_who_wait()
        self.tell()

    def _wake_those_who_wait(self) -> None:
        while self._awaited and self._awaited[0][0] <= self.model.seq:
            _, _, waiter = heappop(self._awaited)
            if waiter.done():
                self._given_up -= 1
            else:
                waiter.set_result(None)

    def _may_go_on(self) -> bool:
        if self.idle or (self._loading is not None and not self._loading.done()):
            return False
        return self._amid or not self._held

    def _steps_of(self, arrived: Arrival) -> Iterator[float]:
        """Apply it, giving the time after each step of the work."""
        if isinstance(arrived, Request):
            yield from self._request(arrived.events, arrived.heard)
        elif isinstance(arrived, Batch):
            yield from self._batch(arrived)
        else:
            arrived()

    def _batch(self, batch: Batch) -> Iterator[float]:
        if batch.first_seq != self.model.seq + 1:
            raise EventError(f"event {batch.first_seq} cannot follow event {self.model.seq}")
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
        heard: Callable[[list[Result] | EventConflict], None] | None = None,
    ) -> Iterator[float]:
        self._amid = True
        results: list[Result] = []
        outcome: list[Result] | EventConflict = results
        try:
            repeated = self.model.repeats(events)
        except EventConflict as conflict:
            self.model.pass_over(len(events))
            outcome = conflict
            yield perf_counter()
        else:
            for position, event in enumerate(events):
                if position in repeated:
                    self.model.pass_over()
                    results.append(Result(repeated[position], True, None, False))
                    yield perf_counter()
                elif event.kind == "restore":
                    yield from self._go_back(event)
                    results.append(Result(self.model.seq, False, None, False))
                else:
                    yield self._take(event, results)
        self._amid = False
        if heard is not None:
            heard(outcome)

    def _take(self, event: Event, results: list[Result]) -> float:
        answering = self.model.answering.label
        if event.kind == "promote":
            self._counted_before = self.counts()
        began = perf_counter()
        outcome = self.model.apply(self.model.seq + 1, event, perf_counter)
        ended = perf_counter()
        if event.kind == "rules":
            log.warning("event %d raised the rules to version %d", outcome.seq, event.rules)
        if event.kind == "promote":
            self._counts_at_first = Counts.of(self.model)
            if outcome.label != answering:
                log.info("%s answers from event %d on", outcome.label, outcome.seq)
        if self._on_applied is not None:
            self._on_applied(event, outcome, ended - began)
        results.append(Result(outcome.seq, False, outcome.rank, outcome.updated))
        return ended

    def _go_back(self, event: Event) -> Iterator[float]:
        """Replace the model by that of the snapshot the event names. Ranking goes on meanwhile."""
        self._loading = asyncio.ensure_future(self._load(event.restored))
        self._loading.add_done_callback(lambda _: self._soon())
        yield perf_counter()
        model = self._loading.result()
        self._loading = None
        model.restored(self.model.seq + 1, event.restored, self.model.rules)
        self.use(model)
        log.info("went back to snapshot %d as event %d", event.restored, model.seq)
