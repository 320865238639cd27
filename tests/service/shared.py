"""A log in memory, shared by several stores like by separate processes, and its faults."""

import threading
import time

from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    LogDamaged,
    LogRewound,
    LogTrimmed,
    StoreFull,
    StoreUnavailable,
)
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.protocol import Batch, Heartbeat, PeerMessage, Process
from tests.service.faulty import Gate


class SharedLog:
    """The server's data, shared by the stores of several processes."""

    def __init__(self, clock=lambda: 0.0):
        self.inner = MemoryStore(clock)
        self.batches = []  # (first_seq, events, store, append_id)
        self.changed = threading.Condition()
        self.stores = []
        self.leader = None
        self.away = False
        self.full = False  # appends are refused, snapshots accepted
        self.version = 0  # incremented when the log loses its end

    def store(self, name):
        return SharedMemoryStore(self, name)

    def lose_after(self, seq):
        """Drop the events after `seq`, like a server that restarts without its last writes."""
        with self.changed:
            self.batches = [each for each in self.batches if each[0] + len(each[1]) - 1 <= seq]
            self.inner._events = [each for each in self.inner._events if each[0] <= seq]
            self.inner._last_seq = seq
            self.inner._snapshots = {s: v for s, v in self.inner._snapshots.items() if s <= seq}
            self.version += 1
            self.changed.notify_all()


class SharedMemoryStore:
    """The store of one process on the shared log."""

    durability = "none: the log is in memory, and shared"
    foreign_entries = 0

    def __init__(self, log, name):
        self.name = name
        self.log = log
        self.before_append = Gate()
        self.after_append = Gate()
        self.before_save = Gate()
        self.follows = Gate()
        self.append_errors = []  # raised without a trace in the log
        self.lost_replies = 0  # the number of appends that are in the log but lose their reply
        self.confirm_error = None
        self.confirmed = 0
        self.heartbeats = 0
        self.closed = False
        self.messages = []
        self.seq = None
        self.rules = 1
        log.stores.append(self)

    def _reach(self):
        """Return the snapshots and events, unless the server is unreachable."""
        if self.log.away:
            raise StoreUnavailable("the server is away", "wait")
        return self.log.inner

    @property
    def last_seq(self):
        return self._reach().last_seq

    def append(self, events, append_id=0, after=None):
        self.before_append.pass_through()
        self._reach()
        if self.append_errors:
            raise self.append_errors.pop(0)
        if self.log.full:
            raise StoreFull("there is no room")
        with self.log.changed:
            if after not in (None, self.log.inner.last_seq):
                raise StoreUnavailable("another event is the last one")
            last = self.log.inner.append(events)
            batch = (last - len(events) + 1, list(events), self, append_id)
            self.log.batches.append(batch)
            self.log.changed.notify_all()
        self.after_append.pass_through()
        if self.lost_replies:
            self.lost_replies -= 1
            raise CommitOutcomeUnknown("no reply", "send it again")
        return last

    def check_append(self, size):
        self._reach()
        if self.log.full:
            raise StoreFull("there is no room")

    def confirm(self):
        self.confirmed += 1
        if self.confirm_error is not None:
            raise self.confirm_error

    def follow(self, after):
        version = self.log.version
        while not self.closed:
            self.follows.pass_through()
            with self.log.changed:
                if self.log.version != version and self.log.inner.last_seq < after:
                    raise LogRewound(after)
                found = self._next(after)
                if found is None:
                    self.log.changed.wait(0.02)
                    found = self._next(after)
            if isinstance(found, Batch):
                after = found.first_seq + len(found.events) - 1
            yield found

    def _next(self, after):
        if self.messages:
            return self.messages.pop(0)
        if self.log.away:
            return None
        floor = self.log.inner._floor
        missing = LogTrimmed if after + 1 <= floor else LogDamaged
        reason = floor if missing is LogTrimmed else "it is not there any more"
        for first, events, store, append_id in self.log.batches:
            if first + len(events) - 1 > after:
                if first > after + 1:
                    raise missing(after + 1, reason)
                skip = after + 1 - first
                return Batch(first + skip, events[skip:], append_id if store is self else 0)
        if self.log.inner.last_seq > after:
            raise missing(after + 1, reason)
        return None

    def heartbeat(self, seq, rules=1, may_lead=True):
        self.heartbeats += 1
        self._reach()
        self.seq = seq
        self.rules = rules
        log = self.log
        if log.leader is self and not may_lead:
            log.leader = None
        if (log.leader is None or log.leader.closed) and may_lead:
            log.leader = self
        alive = [store for store in log.stores if not store.closed]
        return Heartbeat(
            log.inner.last_seq,
            log.leader is self,
            log.inner.snapshots(),
            [Process(s.name, s.seq, s is log.leader, time.time(), s.rules) for s in alive],
            self.log.full,
        )

    def post(self, messages):
        self._reach()
        for name, body in messages:
            for store in self.log.stores:
                if store.name == name:
                    store.messages.append(PeerMessage(self.name, body))

    def read(self, after):
        return self._reach().read(after)

    def save_snapshot(self, seq, chunks, keep_existing=False):
        self.before_save.pass_through()
        return self._reach().save_snapshot(seq, chunks, keep_existing)

    def open_snapshot(self, seq):
        return self._reach().open_snapshot(seq)

    def snapshots(self):
        return self._reach().snapshots()

    def _lead(self):
        data = self._reach()
        if self.log.leader is not self:
            raise StoreUnavailable("another process leads")
        return data

    def delete_snapshot(self, seq):
        self._lead().delete_snapshot(seq)

    def trim(self, seq):
        self._lead().trim(seq)
        with self.log.changed:
            self.log.batches = [b for b in self.log.batches if b[0] + len(b[1]) - 1 > seq]

    def close(self):
        self.closed = True
        with self.log.changed:
            self.log.changed.notify_all()
