"""A store in memory that fails, hangs or loses bytes on demand, and small helpers around it."""

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager
from zlib import crc32

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.service.store.memory import MemoryStore

PATIENCE = 30.0  # seconds after which a test that waits for a thread has failed


class Gate:
    """A gate, open at first. Threads wait at a shut gate until it opens."""

    def __init__(self):
        self._open = threading.Event()
        self._open.set()
        self._reached = threading.Event()

    def pass_through(self):
        if not self._open.is_set():
            self._reached.set()
            assert self._open.wait(PATIENCE), "nobody opened the gate"

    def open(self):
        self._open.set()

    @contextmanager
    def shut(self):
        self._reached.clear()
        self._open.clear()
        try:
            yield self
        finally:
            self._open.set()

    async def reached(self):
        assert await asyncio.to_thread(self._reached.wait, PATIENCE), "nobody came to the gate"


class FaultyStore(MemoryStore):
    """A store in memory with injected faults."""

    def __init__(self, clock=lambda: 0.0):
        super().__init__(clock)
        self.before_append = Gate()
        self.after_append = Gate()
        self.before_save = Gate()
        self.before_read = Gate()
        self.begun = threading.Semaphore(0)  # the number of started appends
        self.append_error = None  # raised by every append; the following list by one append each
        self.append_errors = []
        self.save_error = None
        self.trim_error = None
        self.checks = []  # the bytes of each trial
        self.appends = []  # the number of events of each successful append
        self.closed = False
        self._reading = False

    def append(self, events):
        self.begun.release()
        self.before_append.pass_through()
        if self.append_errors:
            raise self.append_errors.pop(0)
        if self.append_error is not None:
            raise self.append_error
        last = super().append(events)
        self.appends.append(len(events))
        self.after_append.pass_through()
        return last

    def check_append(self, size):
        self.checks.append(size)
        if self.append_error is not None:
            raise self.append_error

    def read(self, after):
        self._reading = True
        try:
            self.before_read.pass_through()
            yield from super().read(after)
        finally:
            self._reading = False

    def save_snapshot(self, seq, chunks, keep_existing=False):
        self.before_save.pass_through()
        if self.save_error is not None:
            raise self.save_error
        return super().save_snapshot(seq, chunks, keep_existing)

    def trim(self, seq):
        if self.trim_error is not None:
            raise self.trim_error
        super().trim(seq)

    def close(self):
        assert not self._reading, "closed while somebody reads"
        self.closed = True

    # --- for tests only -----------------------------------------------------------------------

    def damage_snapshot(self, seq):
        """Flip one bit of the snapshot."""
        _, chunks = self._snapshots[seq]
        data = bytearray(b"".join(chunks))
        data[len(data) // 2] ^= 1
        chunks[:] = [bytes(data)]

    def lose_event(self, seq):
        self._events = [event for event in self._events if event[0] != seq]

    def damage_event(self, seq):
        self._events = [
            (number, data[:-1] if number == seq else data) for number, data in self._events
        ]

    def first_seq(self):
        """Return the number of the oldest event left, or None."""
        return self._events[0][0] if self._events else None


class Clock:
    """A clock that shows a set time."""

    def __init__(self, now=1_000.0):
        self.now = now

    def __call__(self):
        return self.now


@asynccontextmanager
async def appending(store, admitting, *events):
    """Admit the events, and yield their answer while the append is held up."""
    with store.before_append.shut() as gate:
        answer = admitting.admit(list(events))
        await gate.reached()
        yield answer


async def many_turns():
    """Yield to other tasks and threads, so that a forbidden action of theirs would happen."""
    for _ in range(50):
        await asyncio.to_thread(int)


def learn(features, classes="x", event_id=None):
    """Return a learn event; its fingerprint follows from its content."""
    fingerprint = crc32(f"{features} -> {classes}".encode())
    return Event.learn(Instance(features.split()), classes.split(), event_id, fingerprint)
