"""The one writer: checks events, appends them to the log, applies them, answers, in that order."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from time import perf_counter
from typing import NamedTuple

from core.event import Event
from core.model import Model, Outcome
from service.store.protocol import (
    LogDamaged,
    SnapshotDamaged,
    SnapshotMissing,
    Store,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

log = logging.getLogger(__name__)

# One append holds up to this much, so that its first event does not wait long for its last.
COMMIT_EVENTS = 4096
COMMIT_BYTES = 4 * 2**20
# Events are applied for so long at a stretch; then whoever waits to rank has a turn. By time and
# not by number, because an event can cost anything from microseconds to tenths of a second.
STRETCH_SECONDS = 0.001

RETRY_AFTER = 1.0  # seconds; a full queue is worked off, or the store is back, about as soon


class Refused(Exception):
    """Base of what says that events were not taken. Nothing was kept of them."""


class NotReady(Refused):
    """The state is not there: it is being restored, could not be, or the service is stopping."""

    def __init__(self, status: str, reason: str | None = None) -> None:
        super().__init__(f"the service is {status}" + (f": {reason}" if reason else ""))
        self.status = status
        self.reason = reason
        self.retry_after = RETRY_AFTER


class QueueFull(Refused):
    """More events wait to be learned than the settings allow."""

    hint = "send again after retry_after seconds, or raise MAX_QUEUE_EVENTS or MAX_QUEUE_BYTES"

    def __init__(self, events: int, bytes: int) -> None:
        super().__init__(f"{events} events ({bytes} bytes) already wait to be learned")
        self.events = events
        self.bytes = bytes
        self.retry_after = RETRY_AFTER


class EventConflict(Refused):
    """The event id was seen with another content. `position`: the event's place in the request."""

    hint = "give every event an id of its own, and send a retry unchanged"

    def __init__(self, position: int, event_id: str, seq: int) -> None:
        super().__init__(f"event_id {event_id!r} belongs to event {seq}, which is another")
        self.position = position
        self.event_id = event_id
        self.seq = seq


def with_hint(error: Exception) -> str:
    """The error and what can be done about it. For the log: it may say where the store is."""
    hint = error.hint if isinstance(error, StoreError | QueueFull | EventConflict) else ""
    return f"{error}; {hint}" if hint else str(error)


def without_place(error: StoreError) -> str:
    """The error and what can be done about it, for clients: never where the store is."""
    match error:
        case SnapshotMissing() | SnapshotDamaged() | LogDamaged():
            return with_hint(error)
        case StoreFull():
            kind = "the store is full"
        case StoreUnavailable():
            kind = "the store is not available"
        case StoreDamaged():
            kind = "the store is damaged"
        case _:
            kind = "the store cannot do this"
    if error.hint:
        return f"{kind}; {error.hint}"
    # Stores put the path before the words of what broke below them.
    return kind if error.__cause__ is not None else f"{kind}: {error}"


class Result(NamedTuple):
    """What became of one event. A duplicate has the seq of the event it repeats."""

    seq: int
    duplicate: bool
    rank: int | None
    updated: bool


class Counts(NamedTuple):
    """What a model counts, each an only growing number as long as the model is the same."""

    evicted_features: int = 0
    evicted_classes: int = 0
    active_features_ranked: int = 0
    edges_touched: int = 0

    @classmethod
    def of(cls, model: Model) -> "Counts":
        """The counts of a model, some of which its snapshot may have brought along."""
        index = model.index
        return cls(
            index.evicted_features,
            index.evicted_classes,
            index.active_features_ranked,
            index.edges_touched,
        )


class Submission:
    """Events that came together, on their way through the writer, and the answer they wait for."""

    __slots__ = ("answer", "events", "fresh", "has_ids", "payloads", "repeated", "results", "size")

    def __init__(
        self, events: Sequence[Event], payloads: list[bytes], answer: "asyncio.Future[list[Result]]"
    ) -> None:
        self.events = events
        self.size = sum(map(len, payloads))
        self.has_ids = any(event.event_id is not None for event in events)
        self.answer = answer
        # What is left to do once retries were told apart; before that, everything.
        self.fresh = events
        self.payloads = payloads
        self.repeated: dict[int, int] = {}  # position of a retry -> seq of the event it repeats
        self.results: list[Result] = []  # of the fresh ones

    def in_order(self) -> list[Result]:
        """The results of all events, in the order in which they came."""
        if not self.repeated:
            return self.results
        fresh = iter(self.results)
        return [
            Result(self.repeated[position], True, None, False)
            if position in self.repeated
            else next(fresh)
            for position in range(len(self.events))
        ]


class Writer:
    """The one that changes the model; "200" is said only of what is durable and applied.

        admit ──► waiting ──► appending ──► durable ──► answered
                  (queue)     (one append,  (applied on
                              in a thread)  the loop)

    One append is under way at most, and everything that came meanwhile goes into the next: the
    requests that arrive during one fsync share another. Order is kept throughout, so a retry is
    always behind the event it repeats. All methods belong to the event loop the writer was made
    in. Submissions are answered through futures, so events whose sender went away are applied
    all the same.
    """

    def __init__(
        self,
        store: Store,
        model: Model,
        max_events: int,
        max_bytes: int,
        on_applied: Callable[[Event, Outcome, float], None] | None = None,
    ) -> None:
        self.model = model  # `use` replaces it
        self.appended = model.seq  # seq of the last durable event
        self.events = 0  # admitted and not yet answered
        self.bytes = 0
        self.failure: str | None = None  # why no event can be taken any more
        self.commits = 0
        self.commit_seconds = 0.0
        self.failed_commits = 0
        self.conflicts = 0
        self._counted_before = Counts()  # with other models
        self._counts_at_first = Counts.of(model)  # of this one, when it was put in use
        self._store = store
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._on_applied = on_applied
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="append")
        self._waiting: deque[Submission] = deque()
        self._appending: list[Submission] = []
        self._durable: deque[Submission] = deque()
        # Of appending and durable events: what `Model.seen` will say of their ids.
        self._unapplied: dict[str, tuple[int, int]] = {}
        self._held = False
        self._store_fails = False
        self._commit_is_due = False
        self._apply_is_due = False
        self._watchers: list[asyncio.Future[None]] = []

    # --- what others ask of it -------------------------------------------------------------------

    def admit(self, events: Sequence[Event]) -> "asyncio.Future[list[Result]]":
        """The answer to come: a Result for each event, in order; all are taken, or none.

        Raises what `Model.check` does, QueueFull and NotReady; the answer may be EventConflict,
        StoreUnavailable or NotReady.
        """
        if self.failure is not None:
            raise NotReady("failed", self.failure)
        for event in events:
            self.model.check(event)
        submission = Submission(events, [bytes(event) for event in events], self._future())
        # What comes into an empty queue is always taken, or it never could be.
        if self.events and (
            self.events + len(events) > self._max_events
            or self.bytes + submission.size > self._max_bytes
        ):
            raise QueueFull(self.events, self.bytes)
        self.events += len(events)
        self.bytes += submission.size
        self._waiting.append(submission)
        self._commit_soon()
        return submission.answer

    def use(self, model: Model) -> None:
        """Go on with another model, inside `quiet`. What was counted stays counted."""
        self._counted_before = self.counts()
        self._counts_at_first = Counts.of(model)
        self.model = model

    def counts(self) -> Counts:
        """What has been counted since the writer was made, over every model it has used."""
        each = zip(self._counted_before, Counts.of(self.model), self._counts_at_first, strict=True)
        return Counts(*(before + now - first for before, now, first in each))

    async def progress(self) -> None:
        """Return when something that was admitted has been answered."""
        watcher: asyncio.Future[None] = self._loop.create_future()
        self._watchers.append(watcher)
        await watcher

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """Inside, the model does not change and its seq is the log's; events that come wait.

        For one holder at a time.
        """
        self._held = True
        try:
            while self._appending or self._durable:
                await self.progress()
            yield
        finally:
            self._held = False
            self._commit_soon()

    async def append(self, events: Sequence[Event]) -> int:
        """Append without applying, inside `quiet`; the seq of the last one.

        The caller has to bring the model to that seq before `quiet` ends, or to fail the writer.
        """
        payloads = [bytes(event) for event in events]
        outcome = await self._loop.run_in_executor(self._thread, self._try, payloads)
        if (refusal := self._verdict(len(payloads), *outcome)) is not None:
            raise refusal
        return self.appended

    def fail(self, reason: str) -> None:
        """Take no event any more: the model no longer is what the log says. A restart mends it."""
        log.critical("learning has stopped: %s", reason)
        self.failure = reason
        for submission in (*self._durable, *self._appending, *self._waiting):
            self._refuse(submission, NotReady("failed", reason))
        self._durable.clear()
        self._appending.clear()
        self._waiting.clear()
        self._unapplied.clear()
        self._tell_watchers()

    async def drain(self) -> None:
        """Return when everything that was admitted has been answered."""
        while self._waiting or self._appending or self._durable:
            await self.progress()

    async def close(self) -> None:
        """Work off what was admitted and end the thread. Nothing may be admitted after this."""
        await self.drain()
        await asyncio.to_thread(self._thread.shutdown)

    # --- append ----------------------------------------------------------------------------------

    def _commit_soon(self) -> None:
        """Commit when the loop has run what else is ready now, so that it comes along."""
        if not self._commit_is_due:
            self._commit_is_due = True
            self._loop.call_soon(self._commit)

    def _commit(self) -> None:
        self._commit_is_due = False
        if self._held or self._appending or not self._waiting:
            return
        payloads = self._gather()
        if payloads:
            self._thread.submit(self._append, payloads)
        else:  # retries and conflicts only; the retries are answered behind those before them
            self._durable.extend(self._appending)
            self._appending.clear()
            self._apply_soon()

    def _gather(self) -> list[bytes]:
        """The next append. Its submissions become `_appending`; conflicts are answered at once.

        Only here are retries told apart. All that came before is applied, or durable, or goes the
        way of this very append: none of it can fail alone and leave a retry without its event.
        """
        payloads: list[bytes] = []
        size = 0
        while self._waiting:
            submission = self._waiting[0]
            if payloads and (
                len(payloads) + len(submission.events) > COMMIT_EVENTS
                or size + submission.size > COMMIT_BYTES
            ):
                break
            self._waiting.popleft()
            if submission.has_ids:
                try:
                    self._set_retries_aside(submission, self.appended + len(payloads))
                except EventConflict as conflict:
                    self.conflicts += 1
                    self._refuse(submission, conflict)
                    continue
            payloads += submission.payloads
            size += submission.size
            self._appending.append(submission)
        return payloads

    def _set_retries_aside(self, submission: Submission, seq: int) -> None:
        """Leave in `fresh` what was never seen; it will be numbered from seq + 1 on."""
        mine: dict[str, tuple[int, int]] = {}
        fresh: list[Event] = []
        payloads: list[bytes] = []
        for position, event in enumerate(submission.events):
            event_id = event.event_id
            if event_id is not None:
                known = (
                    mine.get(event_id) or self._unapplied.get(event_id) or self.model.seen(event_id)
                )
                if known is not None:
                    known_seq, fingerprint = known
                    if fingerprint != event.fingerprint:
                        raise EventConflict(position, event_id, known_seq)
                    submission.repeated[position] = known_seq
                    continue
                mine[event_id] = (seq + 1 + len(fresh), event.fingerprint)
            fresh.append(event)
            payloads.append(submission.payloads[position])
        submission.fresh = fresh
        submission.payloads = payloads
        self._unapplied.update(mine)

    def _try(self, payloads: list[bytes]) -> tuple[int, Exception | None, float]:
        """In the thread: what the store answered, or the error, and how long it took."""
        began = perf_counter()
        try:
            return self._store.append(payloads), None, perf_counter() - began
        except Exception as error:  # whatever it is, those who wait for this append must hear of it
            return 0, error, perf_counter() - began

    def _append(self, payloads: list[bytes]) -> None:
        """In the thread: append, and let the loop know."""
        last, error, seconds = self._try(payloads)
        self._loop.call_soon_threadsafe(self._on_append, len(payloads), last, error, seconds)

    def _on_append(self, count: int, last: int, error: Exception | None, seconds: float) -> None:
        refusal = self._verdict(count, last, error, seconds)
        if refusal is None:
            self._durable.extend(self._appending)
        else:
            for submission in self._appending:
                self._forget_ids(submission)
                self._refuse(submission, refusal)
            self._tell_watchers()
        self._appending.clear()
        self._commit()  # the next append goes its way while this one is applied
        if not self._apply_is_due:
            self._apply()

    def _verdict(
        self, count: int, last: int, error: Exception | None, seconds: float
    ) -> Exception | None:
        """None when `count` events became durable with the numbers they were promised."""
        self.commit_seconds += seconds
        if error is None and last == self.appended + count:
            if self._store_fails:
                log.warning("the store takes events again")
            self._store_fails = False
            self.appended = last
            self.commits += 1
            return None
        self.failed_commits += 1
        told, self._store_fails = self._store_fails, True
        if error is None:
            self.fail(
                f"the log numbered an event {last} that should have been {self.appended + count}, "
                "so it holds events this process has not applied"
            )
            return NotReady("failed", self.failure)
        if not told:  # once: a full disk would fill its log with every request
            log.error("the store takes no events: %s", with_hint(error), exc_info=error)
        if isinstance(error, StoreUnavailable):
            return error
        hint = error.hint if isinstance(error, StoreError) else ""
        unavailable = StoreUnavailable(f"the store broke: {error}", hint)
        unavailable.__cause__ = error
        return unavailable

    # --- apply -----------------------------------------------------------------------------------

    def _apply_soon(self) -> None:
        if not self._apply_is_due:
            self._apply_is_due = True
            self._loop.call_soon(self._apply)

    def _apply(self) -> None:
        """Apply what is durable, a stretch at a time, and answer what is complete."""
        self._apply_is_due = False
        end = perf_counter() + STRETCH_SECONDS
        try:
            while self._durable:
                submission = self._durable[0]
                self._apply_until(end, submission)
                if len(submission.results) == len(submission.fresh):
                    self._durable.popleft()
                    self._forget_ids(submission)
                    self._answer(submission)
                if perf_counter() >= end:
                    break
        except (
            Exception
        ) as error:  # apply cannot refuse; if it breaks, the state is not to be trusted
            log.exception("applying event %d", self.model.seq + 1)
            self.fail(f"event {self.model.seq + 1} is in the log but could not be applied: {error}")
        if self._durable:
            self._apply_soon()
        self._tell_watchers()

    def _apply_until(self, end: float, submission: Submission) -> None:
        """Apply the events that are left, until the clock shows `end`; but one at least."""
        model, results, fresh = self.model, submission.results, submission.fresh
        for position in range(len(results), len(fresh)):
            event = fresh[position]
            began = perf_counter()
            outcome = model.apply(model.seq + 1, event)
            ended = perf_counter()
            if self._on_applied is not None:
                self._on_applied(event, outcome, ended - began)
            results.append(Result(outcome.seq, False, outcome.rank, outcome.updated))
            if ended >= end:
                break

    # --- answer ----------------------------------------------------------------------------------

    def _answer(self, submission: Submission) -> None:
        self.events -= len(submission.events)
        self.bytes -= submission.size
        if not submission.answer.done():  # done: whoever asked has gone
            submission.answer.set_result(submission.in_order())

    def _refuse(self, submission: Submission, error: Exception) -> None:
        self.events -= len(submission.events)
        self.bytes -= submission.size
        if not submission.answer.done():
            submission.answer.set_exception(error)

    def _forget_ids(self, submission: Submission) -> None:
        """Take its ids out of `_unapplied`: the model knows them, or they came to nothing."""
        if submission.has_ids:
            for event in submission.fresh:
                if event.event_id is not None:
                    self._unapplied.pop(event.event_id, None)

    def _tell_watchers(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)

    def _future(self) -> "asyncio.Future[list[Result]]":
        return self._loop.create_future()
