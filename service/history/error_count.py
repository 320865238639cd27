"""Counts of the newest events' errors and quality, made in a thread and read meanwhile."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from weakref import ref

from manyclass.core.model import Model
from manyclass.service.history.history import History
from manyclass.service.history.learning_curve import Block, LearningCurve
from manyclass.service.history.likely_errors import Confusions, LikelyErrors, Suspect, dispute
from manyclass.service.history.quality import Quality
from manyclass.service.threads import Pause, lower_priority

MOST_SUSPECTS = 100
FRESH_SECONDS = 10.0  # age of a count that is still good enough for a call with `seconds`


class ErrorCount:
    """A count of the errors of the `last` newest events, as of event `seq`, and their quality.

    `curve` is the accuracy along the whole history.
    """

    def __init__(self, model: Model, last: int) -> None:
        self.seq = model.seq
        self.last = last
        self._model = ref(model)
        self.is_done = False
        self._lock = Lock()
        self._errors = LikelyErrors()
        self._quality = Quality()
        self.curve: list[Block] = []

    def is_by(self, model: Model) -> bool:
        """Return whether the count used this model; a rebuild may have replaced it since."""
        return self._model() is model

    def run(
        self, history: History, model: Model, curve: LearningCurve, goes_on: Callable[[], bool]
    ) -> None:
        """Count the newest records, newest first, while `goes_on` is true. Blocks. StoreError."""
        for record in history.newest(self.last):
            if not goes_on():
                return
            is_disputed = record.outcome != 1 and bool(record.classes)
            disputed = dispute(model, record) if is_disputed else None
            with self._lock:
                self._errors.add(record, disputed)
                self._quality.add(record)
        if not self._quality.look_up(model.learner, goes_on):
            return
        self._quality.find_confidences(model.answering.calibration)
        self.curve = curve.read(history, self.seq, goes_on)
        self.is_done = True

    @contextmanager
    def counted(self) -> Iterator[tuple[Quality, Confusions]]:
        """Give what was counted so far; the count waits meanwhile."""
        with self._lock:
            yield self._quality, self._errors.confusions

    def confusions(self, limit: int) -> Confusions:
        """Return the confusions of the events counted so far, of `limit` pairs and classes."""
        with self._lock:
            return self._errors.confusions.most(limit)

    def suspects(
        self, limit: int, source: str | None = None, batch: str | None = None
    ) -> list[Suspect]:
        """Return the likeliest label errors of the events counted so far, or of those with this
        source and batch.
        """
        with self._lock:
            return self._errors.suspects(limit, source, batch)


class ErrorCounts:
    """The newest finished count and the count in progress, one at a time in its own thread.
    Belongs to one event loop.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "errors", initializer=lower_priority)
        self._curve = LearningCurve()
        self._newest: ErrorCount | None = None
        self._ended = 0.0  # by the clock, when the newest one was done
        self._running: tuple[ErrorCount, asyncio.Future[None]] | None = None
        self._is_closed = False
        self._pause = Pause()

    async def of(
        self, history: History, model: Model, last: int, seconds: float | None
    ) -> ErrorCount:
        """Return a count of the `last` newest events. Raises StoreError.

        With `seconds`, the count may be up to 10 seconds old. The call waits this long for a newer
        one, then returns the old count or, without one, the unfinished count, which continues.
        """
        asked = model.seq
        until = None if seconds is None else self._clock() + seconds
        while True:
            newest = self._newest
            if newest is not None and (newest.last != last or not newest.is_by(model)):
                newest = None
            if newest is not None and self._is_fresh(newest, asked, seconds):
                return newest
            if self._running is None and not self._is_closed:
                self._start(history, model, last)
            if self._running is None:
                return newest or ErrorCount(model, last)
            count, counting = self._running
            suits = count.last == last and count.is_by(model)
            left = None if until is None else max(0.0, until - self._clock())
            await asyncio.wait([counting], timeout=left)
            if not counting.done():
                return newest or (count if suits else ErrorCount(model, last))
            if suits:
                counting.result()  # raises its error
                if seconds is not None or count.seq >= asked or self._is_closed:
                    return count

    async def close(self) -> None:
        """End the count in progress, and start no other."""
        self._is_closed = True
        await asyncio.to_thread(self._thread.shutdown)

    def _start(self, history: History, model: Model, last: int) -> None:
        count = ErrorCount(model, last)
        counting = asyncio.get_running_loop().run_in_executor(
            self._thread, count.run, history, model, self._curve, self._goes_on
        )
        self._running = count, counting
        counting.add_done_callback(partial(self._end, count))

    def _goes_on(self) -> bool:
        """Return whether the count goes on, after a pause now and then. In the thread."""
        self._pause.take()
        return not self._is_closed

    def _end(self, count: ErrorCount, counting: "asyncio.Future[None]") -> None:
        self._running = None
        if not counting.cancelled() and counting.exception() is None and count.is_done:
            self._newest, self._ended = count, self._clock()

    def _is_fresh(self, newest: ErrorCount, asked: int, seconds: float | None) -> bool:
        if newest.seq >= asked:
            return True
        return seconds is not None and self._clock() - self._ended < FRESH_SECONDS
