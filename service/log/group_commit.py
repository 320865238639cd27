"""Group commit: one append to the log for many requests, and answers once they are applied."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter, sleep

from manyclass.core.errors import RequestConflict
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.model import Model
from manyclass.service.errors import NotReady, QueueFull, with_hint, without_place
from manyclass.service.log.append_thread import AppendThread
from manyclass.service.log.apply_loop import ApplyLoop, Arrival
from manyclass.service.log.batch_submission import BatchSubmission
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.pause import MEMORY_SECONDS, SLOW_SECONDS, Pause, Reason
from manyclass.service.log.request import Result
from manyclass.service.log.submission import Submission
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from manyclass.service.store.protocol import Batch, Store, as_shared

log = logging.getLogger(__name__)

# The most that one append takes, so that its first event does not wait long for its last.
COMMIT_EVENTS = 4096
COMMIT_BYTES = 4 * 2**20
EXPIRY_SECONDS = 0.1  # between two searches for submissions that have waited too long

Queued = Submission | BatchSubmission


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """Limits of the queue: its events, their bytes, and the waiting time of a submission."""

    events: int
    bytes: int
    seconds: float = 5.0


class GroupCommit:
    """The queue of events for the log; it answers when they are durable and applied.

        admit ──► waiting ──► appending ──► in the log ──► applied ──► answered
                  (queue)     (one append,   (ApplyLoop)
                              in a thread)

    At most one append runs at a time; the next append takes all submissions that arrive meanwhile,
    so requests that arrive during one fsync share the next. A private log contains only the events
    of this process. A shared log also contains events of other processes: `deliver` receives all
    events, and recognises the appends of this process by their id.

    No submission waits for a shared store longer than the `seconds` of the limits. If its append is
    still running then, the answer is CommitOutcomeUnknown.

    After a failed append, learning is paused until the store accepts an append of the same size, or
    a trial of one: a full disk may have room for one event but not for the next append.

    All methods belong to the event loop in which the object was made. Submissions are answered
    through futures, so the events of a cancelled caller are applied too.
    """

    def __init__(
        self,
        store: Store,
        live: LiveModel,
        apply_loop: ApplyLoop,
        limits: QueueLimits,
        wall_clock: Callable[[], float] | None = None,
    ) -> None:
        """`wall_clock` dates the first event of each append; None: events are not dated."""
        self.appended = live.model.seq  # seq of the last event known to be durable
        self.events = 0  # admitted and not yet answered
        self.bytes = 0
        self.failure: str | None = None  # reason why no event is accepted until a restart
        self.commits = 0
        self.commit_seconds = 0.0
        self.failed_commits = 0
        self.uncertain_commits = 0
        self.conflicts = 0
        self._store = store
        self._shared = as_shared(store)
        self._live = live
        self._apply_loop = apply_loop
        self._wall_clock = wall_clock
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._thread = AppendThread()
        self._open: deque[Queued] = deque()  # submissions that may need an answer, oldest first
        self._waiting: deque[Queued] = deque()
        self._appending: list[Queued] = []
        self._landing: dict[int, list[Queued]] = {}  # append id -> submissions, until `deliver`
        self._append_id = 0
        self._append_began = 0.0  # by the loop's clock
        self._refusal: Exception | None = None  # error of the store, until it accepts as much
        self._refused_bytes = 0  # size of the largest refused append
        self._is_trying = False
        self._commit_is_due = False
        self._closed = False
        self._expire_later()

    # --- interface -------------------------------------------------------------------------------

    def admit(self, entries: Sequence[Event | Result]) -> "asyncio.Future[list[Result]]":
        """Admit all entries or none; the future has a Result for each entry, in order.

        A Result among the entries stands for a recognised retry. Raises the errors of
        `Model.check`, QueueFull and NotReady; the future may raise RequestConflict,
        StoreUnavailable or NotReady.
        """
        if self.failure is not None:
            raise NotReady("failed", self.failure)
        submission = Submission(entries, self._loop.time(), self._loop.create_future())
        try:
            self._live.model.check_all(submission.new)
        except RequestConflict as conflict:
            raise submission.placed(conflict) from None
        self._enqueue(submission)
        return submission.answer

    def admit_batch(self, batch: EventBatch) -> "asyncio.Future[EventBatch]":
        """Admit a batch of one or more events, all or none; the future has the applied batch.

        Raises QueueFull and NotReady; the future may raise StoreUnavailable or NotReady.
        """
        if self.failure is not None:
            raise NotReady("failed", self.failure)
        submission = BatchSubmission(batch, self._loop.time(), self._loop.create_future())
        self._enqueue(submission)
        return submission.answer

    @property
    def pause(self) -> Pause | None:
        """The reason why the store accepts no events now, None while it accepts them."""
        if self._refusal is not None:
            return Pause(_reason_of(self._refusal), _shown(self._refusal))
        seconds = self._loop.time() - self._append_began
        if self._appending and seconds > SLOW_SECONDS:
            return Pause("store_slow", f"the store has not finished a write for {seconds:.0f} s")
        return None

    @property
    def is_full(self) -> bool:
        """True while the store has no room for an append."""
        return isinstance(self._refusal, StoreFull)

    @property
    def has_to_try(self) -> bool:
        """True if the store has refused an append and no trial is running."""
        return self._refusal is not None and not self._is_trying

    async def try_store(self, size: int = 0) -> None:
        """Try whether the store accepts an append of this size, and as large as the largest refused
        one.
        """
        self._is_trying = True
        size = max(size, self._refused_bytes)
        try:
            await asyncio.to_thread(self._store.check_append, size)
        except Exception as error:  # any error of the store is the reason of the pause
            self._pause_for(error, size)
        else:
            self._takes_again()
        finally:
            self._is_trying = False

    def has_room(self, events: int, size: int) -> bool:
        """Return whether the queue has room for this many events and bytes.

        An empty queue accepts any submission; otherwise a large one could never be admitted.
        """
        return not self.events or (
            self.events + events <= self._limits.events and self.bytes + size <= self._limits.bytes
        )

    def deliver(self, batch: Batch, applied: Callable[[], None]) -> None:
        """Apply the next batch of a shared log, then call `applied`."""
        if self.failure is not None:
            return
        ours = self._landing.pop(batch.append_id, None)
        self.appended = max(self.appended, batch.first_seq + len(batch.events) - 1)
        arrived = [batch] if ours is None else self._requests(ours)
        self._apply_loop.extend([*arrived, applied], soon=True)

    def resume(self, model: Model) -> None:
        """Continue from this state instead of the former; refuse all unfinished submissions."""
        for submission in self._waiting:
            self._refuse(submission, StoreUnavailable("the state was restored", "send it again"))
        self._refuse_all(_unknown_fate())
        self._apply_loop.resume(model)
        self.appended = model.seq

    def fail(self, reason: str) -> None:
        """Refuse all events until a restart, because the model is not the state of the log."""
        log.critical("learning has stopped until a restart: %s", reason)
        self.failure = reason
        self._refuse_all(NotReady("failed", reason))
        self._apply_loop.clear()

    async def drain(self) -> None:
        """Wait until every submission is answered."""
        while self._open:
            await self._apply_loop.progress()

    async def close(self) -> None:
        """Answer every submission and end the thread. Nothing may be admitted after this."""
        await self.drain()
        self._closed = True
        self._expiry_timer.cancel()
        await asyncio.to_thread(self._thread.close)

    # --- append ----------------------------------------------------------------------------------

    def _enqueue(self, submission: Queued) -> None:
        if not self.has_room(submission.count, submission.held):
            raise QueueFull(self.events, self.bytes)
        self.events += submission.count
        self.bytes += submission.held
        self._open.append(submission)
        self._waiting.append(submission)
        self._commit_soon()

    def _commit_soon(self) -> None:
        """Commit after the loop has run all ready callbacks, so that their events are included.

        While an append is running, do nothing: the next append begins when it ends.
        """
        if not self._commit_is_due and not self._appending:
            self._commit_is_due = True
            self._loop.call_soon(self._commit)

    def _commit(self) -> None:
        self._commit_is_due = False
        if self._appending or not self._waiting or self._closed:
            return
        self._gather()
        if self._appending:
            self._append_id += 1
            self._append_began = self._loop.time()
            new = [each for each in self._appending if each.new]
            if self._shared is not None and new:
                self._landing[self._append_id] = new
            try:
                self._thread.run(partial(self._append, new, self._append_id))
            except MemoryError as error:
                appended, self._appending = self._appending, []
                self._landing.pop(self._append_id, None)
                for submission in appended:
                    self._refuse(submission, error)

    def _gather(self) -> None:
        """Move the submissions of the next append to `_appending`.

        Submissions without new events are answered at once.
        """
        count = 0
        self._appending = []
        size = 0
        while self._waiting:
            submission = self._waiting[0]
            if count and (
                count + submission.count > COMMIT_EVENTS or size + submission.size > COMMIT_BYTES
            ):
                break
            self._waiting.popleft()
            if submission.closed:
                continue  # it has waited too long and was refused
            try:
                submission.set_aside(self._live.model)
            except RequestConflict as conflict:
                self.conflicts += 1
                self._refuse(submission, conflict)
                continue
            if not submission.new and self._shared is None:
                self._answer(submission)  # the repeated events are durable already
                continue
            count += len(submission.new)
            size += submission.size
            submission.sent = True
            self._appending.append(submission)

    def _append(self, submissions: Sequence[Queued], append_id: int) -> None:
        """Append, in the thread, and pass the store's answer or error to the loop."""
        began = perf_counter()
        last, error = 0, None
        count = sum(len(submission.new) for submission in submissions)
        try:
            payloads = [payload for each in submissions for payload in each.payloads()]
            if payloads and self._wall_clock is not None:
                now = int(1000 * self._wall_clock())
                payloads[0] = Event.stamped(payloads[0], now) if now > 0 else payloads[0]
            if self._shared is None:
                last = self._store.append(payloads)
            elif payloads:
                last = self._shared.append(payloads, append_id)
            else:  # only retries; another process may still be appending the events
                self._shared.confirm()
        except Exception as caught:  # after any error, the submissions need an answer
            error = caught
        seconds = perf_counter() - began
        answered = False
        while not answered:  # without an answer no further append would begin
            try:
                self._loop.call_soon_threadsafe(
                    self._on_append, append_id, count, last, error, seconds
                )
                answered = True
            except MemoryError:
                sleep(MEMORY_SECONDS)

    def _on_append(
        self, append_id: int, count: int, last: int, error: Exception | None, seconds: float
    ) -> None:
        appended, self._appending = self._appending, []
        refusal = self._refusal_of(appended, count, last, error, seconds)
        if refusal is not None:
            self._landing.pop(append_id, None)
            for submission in appended:
                self._refuse(submission, refusal)
            self._commit()
            return
        for submission in appended:
            submission.durable = True
        self._commit()  # the next append begins while this one is applied
        if self._shared is None:
            self._apply_loop.extend(self._requests(appended))
        else:
            for submission in appended:
                self._settle(submission)

    def _refusal_of(
        self,
        appended: Sequence[Queued],
        count: int,
        last: int,
        error: Exception | None,
        seconds: float,
    ) -> Exception | None:
        """Return None if `count` events are durable with the expected numbers, else the error."""
        self.commit_seconds += seconds
        if error is None and (self._shared is not None or last == self.appended + count):
            if self._refusal is not None and _size_of(appended) >= self._refused_bytes:
                self._takes_again()
            self.appended = max(self.appended, last)
            self.commits += bool(count)
            return None
        self.failed_commits += 1
        if error is None:
            self.fail(
                f"the log numbered an event {last} instead of {self.appended + count}, so it has"
                " events that this process has not applied"
            )
            return NotReady("failed", self.failure)
        if isinstance(error, CommitOutcomeUnknown):
            self.uncertain_commits += 1
        self._pause_for(error, _size_of(appended))
        if isinstance(error, StoreUnavailable) or self._takes_back(error):
            return error
        hint = error.hint if isinstance(error, StoreError) else ""
        foreseen = self._shared is None or isinstance(error, StoreError)
        kind = StoreUnavailable if foreseen else CommitOutcomeUnknown
        unavailable = kind(f"the store failed: {error}", hint)
        unavailable.__cause__ = error
        return unavailable

    def _pause_for(self, error: Exception, size: int) -> None:
        """Pause learning, because the store has refused an append of this size."""
        was_logged, self._refusal = self._refusal is not None, error
        self._refused_bytes = max(self._refused_bytes, size)
        if not was_logged:  # once: while the disk is full, each request would write to the log file
            unforeseen = None if isinstance(error, StoreError) else error
            log.error("the store accepts no events: %s", with_hint(error), exc_info=unforeseen)

    def _takes_again(self) -> None:
        if self._refusal is not None:
            log.warning("the store accepts events again")
        self._refusal, self._refused_bytes = None, 0

    def _takes_back(self, error: Exception) -> bool:
        """Return whether memory ran out and no event is left in the log, because a private store
        rolls back a failed append.
        """
        return isinstance(error, MemoryError) and self._shared is None

    def _expire_later(self) -> None:
        self._expiry_timer = self._loop.call_later(EXPIRY_SECONDS, self._expire)

    def _expire(self) -> None:
        """Refuse the submissions that have waited too long for a shared store or for memory. Their
        events are applied later if they are in the log.
        """
        self._expire_later()
        if self._shared is None and not self._apply_loop.waits_for_memory:
            return
        too_old = self._loop.time() - self._limits.seconds
        while self._open and self._open[0].arrived_at <= too_old:
            oldest = self._open[0]
            if oldest.sent:
                self._refuse(oldest, _unknown_fate())
            else:
                hint = "send this again later"
                self._refuse(oldest, StoreUnavailable("the store has not answered yet", hint))
        # If the log delivers their events later, they are applied like those of other processes.
        for append_id, submissions in list(self._landing.items()):
            if all(submission.closed for submission in submissions):
                del self._landing[append_id]

    # --- answer ----------------------------------------------------------------------------------

    def _requests(self, submissions: Iterable[Queued]) -> list[Arrival]:
        """Return the arrivals of these submissions for the apply loop."""
        return [each.request(partial(self._settle, each)) for each in submissions]

    def _settle(self, submission: Queued) -> None:
        """Answer a submission if it is durable and applied."""
        if submission.durable and submission.applied:
            self._answer(submission)

    def _answer(self, submission: Queued) -> None:
        conflict = submission.conflict()
        if conflict is not None:
            self.conflicts += 1
            self._refuse(submission, conflict)
        elif self._close(submission):
            submission.finish()

    def _refuse(self, submission: Queued, error: Exception) -> None:
        if self._close(submission):
            submission.answer.set_exception(error)

    def _refuse_all(self, error: Exception) -> None:
        for submission in list(self._open):
            self._refuse(submission, error)
        self._waiting.clear()
        self._landing.clear()

    def _close(self, submission: Queued) -> bool:
        """Count a submission as answered; return whether its caller still waits."""
        if submission.closed:
            return False
        submission.closed = True
        self.events -= submission.count
        self.bytes -= submission.held
        while self._open and self._open[0].closed:
            self._open.popleft()
        self._apply_loop.notify()
        return not submission.answer.done()


def _size_of(submissions: Iterable[Queued]) -> int:
    """Return the bytes of an append, at most COMMIT_BYTES even for one larger submission."""
    return min(COMMIT_BYTES, sum(each.size for each in submissions))


def _reason_of(refusal: Exception) -> Reason:
    match refusal:
        case StoreFull():
            return "store_full"
        case MemoryError():
            return "memory"
        case _:
            return "store_unavailable"


def _shown(refusal: Exception) -> str:
    if isinstance(refusal, StoreError):
        return without_place(refusal)
    return f"the store failed with {type(refusal).__name__}; see the log of the service"


def _unknown_fate() -> CommitOutcomeUnknown:
    return CommitOutcomeUnknown(
        "it is not known whether the store has these events",
        "they may still be learned; sending them again with the same event_id does no harm",
    )
