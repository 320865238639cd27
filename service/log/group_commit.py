"""The writer: takes events, appends them to the log, and answers when they have been applied."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from manyclass.core.errors import EventConflict
from manyclass.core.event import Event
from manyclass.core.model import Model, Outcome
from manyclass.service.errors import NotReady, QueueFull, with_hint
from manyclass.service.log.apply_loop import ApplyLoop, Request, Result
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    SnapshotMissing,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import Batch, SharedStore, Store

log = logging.getLogger(__name__)

# One append holds up to this much, so that its first event does not wait long for its last.
COMMIT_EVENTS = 4096
COMMIT_BYTES = 4 * 2**20
# How often it is looked for those that have waited for a shared store as long as they may.
LOOK_SECONDS = 0.1


class Submission:
    """Events that came together, on their way through the writer, and the answer they wait for."""

    __slots__ = (
        "answer",
        "applied",
        "came_at",
        "closed",
        "durable",
        "events",
        "fresh",
        "has_ids",
        "repeated",
        "sent",
        "size",
    )

    def __init__(
        self, events: Sequence[Event], came_at: float, answer: "asyncio.Future[list[Result]]"
    ) -> None:
        self.events = events
        self.has_ids = any(event.event_id is not None for event in events)
        self.size = sum(len(bytes(event)) for event in events)
        self.came_at = came_at
        self.answer = answer
        self.fresh = events  # what is left to do once retries were set aside
        self.repeated: dict[int, int] = {}  # position of such a retry -> seq of what it repeats
        self.closed = False  # answered, or given up
        self.sent = False  # to the store
        self.durable = False
        self.applied: list[Result] | EventConflict | None = None  # what came of the fresh ones

    def set_aside(self, model: Model) -> None:
        """Keep retries of what is applied out of the log. Raises EventConflict.

        Those of what is still on its way are told apart when applied.
        """
        known = self.repeated = {
            position: seq
            for position, seq in model.repeats(self.events).items()
            if seq <= model.seq
        }
        if known:
            self.fresh = [e for position, e in enumerate(self.events) if position not in known]

    def payloads(self) -> Iterator[bytes]:
        """Yield the bytes of the fresh events for the log. They may be many: not in the loop."""
        for position, event in enumerate(self.fresh):
            # A conflict of one with an id keeps all of them out.
            yield bytes(event.join() if self.has_ids and position else event)

    def in_order(self, results: list[Result]) -> list[Result]:
        """The results of all events, in the order in which they came."""
        if not self.repeated:
            return results
        fresh = iter(results)
        return [
            Result(self.repeated[position], True, None, False)
            if position in self.repeated
            else next(fresh)
            for position in range(len(self.events))
        ]

    def placed(self, conflict: EventConflict) -> EventConflict:
        """A conflict among the fresh ones, at its place among all events."""
        positions = [each for each in range(len(self.events)) if each not in self.repeated]
        return EventConflict(positions[conflict.position], conflict.event_id, conflict.seq)


class GroupCommit:
    """Takes events into the log; "200" is said only of what is durable and applied.

        admit ──► waiting ──► appending ──► in the log ──► applied ──► answered
                  (queue)     (one append,   (ApplyLoop)
                              in a thread)

    One append is under way at most, and everything that came meanwhile goes into the next: the
    requests that arrive during one fsync share another. What is appended to a log of our own is
    what comes next in it. The log of a shared store has others' events between ours: `deliver` is
    given all of them, and knows ours by the ticket of their append.

    Nobody waits for a shared store longer than `patience` seconds; what becomes of events that are
    on their way then is not known, and it is said so.

    All methods belong to the event loop the writer was made in. Submissions are answered through
    futures, so events whose sender went away are applied all the same.
    """

    def __init__(
        self,
        store: Store,
        model: Model,
        max_events: int,
        max_bytes: int,
        on_applied: Callable[[Event, Outcome, float], None] | None = None,
        load: Callable[[int], Awaitable[Model]] | None = None,
        shared: SharedStore | None = None,
        patience: float = 5.0,
        on_broken: Callable[[Exception], None] | None = None,
    ) -> None:
        """`shared` is the store when others share it. `load` gives the model of a snapshot.

        `on_broken` hears of a log that cannot be applied, before everything that waits is refused,
        and may mend that by `resume`; without it the writer fails.
        """
        self.applier = ApplyLoop(model, load or _nothing_to_load, self._broken, on_applied)
        self.appended = model.seq  # seq of the last event known to be durable
        self.events = 0  # admitted and not yet answered
        self.bytes = 0
        self.failure: str | None = None  # why no event can be taken any more
        self.commits = 0
        self.commit_seconds = 0.0
        self.failed_commits = 0
        self.uncertain_commits = 0
        self.conflicts = 0
        self._store = store
        self._shared = shared
        self._patience = patience
        self._on_broken = on_broken
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="append")
        self._open: deque[Submission] = deque()  # what may still need an answer, oldest first
        self._waiting: deque[Submission] = deque()
        self._appending: list[Submission] = []
        self._landing: dict[int, list[Submission]] = {}  # by ticket, until `deliver` brings them
        self._ticket = 0
        self._store_fails = False
        self._commit_is_due = False
        self._closed = False
        self._look_timer = self._loop.call_later(LOOK_SECONDS, self._look) if shared else None

    # --- what others ask of it -------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model in use."""
        return self.applier.model

    def admit(self, events: Sequence[Event]) -> "asyncio.Future[list[Result]]":
        """The answer to come: a Result for each event, in order; all are taken, or none.

        Raises what `Model.check` does, QueueFull and NotReady; the answer may be EventConflict,
        StoreUnavailable or NotReady.
        """
        if self.failure is not None:
            raise NotReady("failed", self.failure)
        for event in events:
            self.model.check(event)
        submission = Submission(events, self._loop.time(), self._loop.create_future())
        # What comes into an empty queue is always taken, or it never could be.
        if self.events and (
            self.events + len(events) > self._max_events
            or self.bytes + submission.size > self._max_bytes
        ):
            raise QueueFull(self.events, self.bytes)
        self.events += len(events)
        self.bytes += submission.size
        self._open.append(submission)
        self._waiting.append(submission)
        self._commit_soon()
        return submission.answer

    def deliver(self, batch: Batch, applied: Callable[[], None]) -> None:
        """Apply what comes next in a shared log, then call `applied`."""
        if self.failure is not None:
            return
        ours = self._landing.pop(batch.ticket, None)
        self.appended = max(self.appended, batch.first_seq + len(batch.events) - 1)
        arrived = [batch] if ours is None else list(map(self._request, ours))
        self.applier.extend([*arrived, applied], soon=True)

    def resume(self, model: Model) -> None:
        """Go on from this state, whatever was delivered before; what is on its way is refused."""
        for submission in self._waiting:
            self._refuse(submission, StoreUnavailable("the state was restored", "send it again"))
        self._refuse_all(_unknown_fate())
        self.applier.clear()
        self.applier.use(model)
        self.appended = model.seq

    def fail(self, reason: str) -> None:
        """Take no event any more: the model no longer is what the log says. A restart mends it."""
        log.critical("learning has stopped: %s", reason)
        self.failure = reason
        self._refuse_all(NotReady("failed", reason))
        self.applier.clear()

    async def drain(self) -> None:
        """Return when everything that was admitted has been answered."""
        while self._open:
            await self.applier.progress()

    async def close(self) -> None:
        """Work off what was admitted and end the thread. Nothing may be admitted after this."""
        await self.drain()
        self._closed = True
        if self._look_timer is not None:
            self._look_timer.cancel()
        await asyncio.to_thread(self._thread.shutdown)

    # --- append ----------------------------------------------------------------------------------

    def _commit_soon(self) -> None:
        """Commit when the loop has run what else is ready now, so that it comes along."""
        if not self._commit_is_due:
            self._commit_is_due = True
            self._loop.call_soon(self._commit)

    def _commit(self) -> None:
        self._commit_is_due = False
        if self._appending or not self._waiting or self._closed:
            return
        self._gather()
        if self._appending:
            self._ticket += 1
            fresh = [each for each in self._appending if each.fresh]
            if self._shared is not None and fresh:
                self._landing[self._ticket] = fresh
            self._thread.submit(self._append, fresh, self._ticket)

    def _gather(self) -> None:
        """The submissions of the next append become `_appending`; what need not be learned is
        answered at once.
        """
        count = 0
        self._appending = []
        size = 0
        while self._waiting:
            submission = self._waiting[0]
            if count and (
                count + len(submission.events) > COMMIT_EVENTS
                or size + submission.size > COMMIT_BYTES
            ):
                break
            self._waiting.popleft()
            if submission.closed:
                continue  # it has waited too long
            try:
                if submission.has_ids:
                    submission.set_aside(self.model)
            except EventConflict as conflict:  # its place is already that among all events
                self.conflicts += 1
                self._refuse(submission, conflict)
                continue
            if not submission.fresh:
                submission.applied = []
                if self._shared is None:  # what it repeats is as durable as can be
                    self._answer(submission, [])
                    continue
            count += len(submission.fresh)
            size += submission.size
            submission.sent = True
            self._appending.append(submission)

    def _append(self, submissions: Sequence[Submission], ticket: int) -> None:
        """In the thread: append, and let the loop know what the store answered, or the error."""
        began = perf_counter()
        last, error = 0, None
        count = sum(len(submission.fresh) for submission in submissions)
        try:
            payloads = [payload for each in submissions for payload in each.payloads()]
            if self._shared is None:
                last = self._store.append(payloads)
            elif payloads:
                last = self._shared.append(payloads, ticket)
            else:  # retries only: what they repeat may be another process's, and on its way yet
                self._shared.confirm()
        except (
            Exception
        ) as caught:  # whatever it is, those who wait for this append must hear of it
            error = caught
        seconds = perf_counter() - began
        self._loop.call_soon_threadsafe(self._on_append, ticket, count, last, error, seconds)

    def _on_append(
        self, ticket: int, count: int, last: int, error: Exception | None, seconds: float
    ) -> None:
        appended, self._appending = self._appending, []
        refusal = self._verdict(count, last, error, seconds)
        if refusal is not None:
            self._landing.pop(ticket, None)
            for submission in appended:
                self._refuse(submission, refusal)
            self._commit()
            return
        for submission in appended:
            submission.durable = True
        self._commit()  # the next append goes its way while this one is applied
        if self._shared is None:
            self.applier.extend(map(self._request, appended))
        else:
            for submission in appended:
                self._settle(submission)

    def _verdict(
        self, count: int, last: int, error: Exception | None, seconds: float
    ) -> Exception | None:
        """None when `count` events became durable with the numbers they were promised."""
        self.commit_seconds += seconds
        if error is None and (self._shared is not None or last == self.appended + count):
            if self._store_fails:
                log.warning("the store takes events again")
            self._store_fails = False
            self.appended = max(self.appended, last)
            self.commits += bool(count)
            return None
        self.failed_commits += 1
        told, self._store_fails = self._store_fails, True
        if error is None:
            self.fail(
                f"the log numbered an event {last} that should have been {self.appended + count}, "
                "so it holds events this process has not applied"
            )
            return NotReady("failed", self.failure)
        if isinstance(error, CommitOutcomeUnknown):
            self.uncertain_commits += 1
        if not told:  # once: a full disk would fill its log with every request
            unforeseen = None if isinstance(error, StoreError) else error
            log.error("the store takes no events: %s", with_hint(error), exc_info=unforeseen)
        if isinstance(error, StoreUnavailable):
            return error
        hint = error.hint if isinstance(error, StoreError) else ""
        foreseen = self._shared is None or isinstance(error, StoreError)
        kind = StoreUnavailable if foreseen else CommitOutcomeUnknown
        unavailable = kind(f"the store broke: {error}", hint)
        unavailable.__cause__ = error
        return unavailable

    def _look(self) -> None:
        """Refuse those that have waited for a shared store as long as they may."""
        self._look_timer = self._loop.call_later(LOOK_SECONDS, self._look)
        too_old = self._loop.time() - self._patience
        while self._open and self._open[0].came_at <= too_old:
            oldest = self._open[0]
            if oldest.sent:
                self._refuse(oldest, _unknown_fate())
            else:
                hint = "send this again later"
                self._refuse(oldest, StoreUnavailable("the store has not answered yet", hint))
        # Nobody waits for the answers of these any more: what the log brings is applied as others'.
        for ticket, submissions in list(self._landing.items()):
            if all(submission.closed for submission in submissions):
                del self._landing[ticket]

    # --- answer ----------------------------------------------------------------------------------

    def _request(self, submission: Submission) -> Request:
        def heard(outcome: list[Result] | EventConflict) -> None:
            submission.applied = outcome
            self._settle(submission)

        return Request(submission.fresh, heard)

    def _settle(self, submission: Submission) -> None:
        """Answer what is both durable and applied."""
        if submission.durable and submission.applied is not None:
            self._answer(submission, submission.applied)

    def _answer(self, submission: Submission, outcome: list[Result] | EventConflict) -> None:
        if isinstance(outcome, EventConflict):
            self.conflicts += 1
            self._refuse(submission, submission.placed(outcome))
        elif self._close(submission):
            submission.answer.set_result(submission.in_order(outcome))

    def _refuse(self, submission: Submission, error: Exception) -> None:
        if self._close(submission):
            submission.answer.set_exception(error)

    def _refuse_all(self, error: Exception) -> None:
        for submission in list(self._open):
            self._refuse(submission, error)
        self._waiting.clear()
        self._landing.clear()

    def _close(self, submission: Submission) -> bool:
        """Work it off; whether somebody still waits for the answer."""
        if submission.closed:
            return False
        submission.closed = True
        self.events -= len(submission.events)
        self.bytes -= submission.size
        while self._open and self._open[0].closed:
            self._open.popleft()
        self.applier.tell()
        return not submission.answer.done()

    def _broken(self, error: Exception) -> None:
        if self._on_broken is not None:
            self._on_broken(error)
        else:
            seq = self.model.seq + 1
            reason = str(error) or type(error).__name__
            self.fail(f"event {seq} is in the log but could not be applied: {reason}")


def _unknown_fate() -> CommitOutcomeUnknown:
    return CommitOutcomeUnknown(
        "it is not known whether the store has these events",
        "they may be learned yet; send them again under the same event_id, which does no harm",
    )


async def _nothing_to_load(seq: int) -> Model:
    raise SnapshotMissing(seq)
