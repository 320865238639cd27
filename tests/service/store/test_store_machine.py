"""Any sequence of calls leaves each store with what plain Python containers would hold."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from manyclass.service.store import open_store
from manyclass.service.store.errors import (
    LogDamaged,
    LogTrimmed,
    SnapshotMissing,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.sqlite import file as sqlite_file
from tests.hypothesis_examples import examples
from tests.service.store.conftest import Leading

EVENTS = st.lists(st.binary(max_size=30), max_size=6)
CHUNKS = st.lists(st.binary(max_size=40), max_size=4)
STEPS = st.integers(-12, 3)  # relative to the end of the log


class MemoryMachine(RuleBasedStateMachine):
    durable = False

    def __init__(self):
        super().__init__()
        self.events = {}  # all there ever were
        self.last_seq = 0
        self.trimmed = 0
        self.states = {}
        self.now = 0.0
        self.store = self.opened()

    def opened(self):
        return open_store("memory:", lambda: self.now)

    def seq(self, step):
        return max(0, self.last_seq + step)

    @rule(events=EVENTS)
    def append(self, events):
        for event in events:
            self.last_seq += 1
            self.events[self.last_seq] = event
        assert self.store.append(events) == self.last_seq

    @rule(step=STEPS)
    def read(self, step):
        after = self.seq(step)
        given, damaged = [], None
        try:
            given.extend(self.store.read(after))
        except (LogDamaged, LogTrimmed) as error:
            damaged = error.seq
        end = after + len(given)
        assert given == [(seq, self.events[seq]) for seq in range(after + 1, end + 1)]
        if damaged is None:
            assert end >= self.last_seq
        else:
            assert damaged == end + 1
            assert damaged <= self.last_seq
            assert damaged <= self.trimmed or damaged not in self.events

    @rule(step=STEPS)
    def trim(self, step):
        self.store.trim(self.seq(step))
        self.trimmed = max(self.trimmed, min(self.seq(step), self.last_seq))

    @rule(step=STEPS, chunks=CHUNKS, keep_existing=st.booleans())
    def save_snapshot(self, step, chunks, keep_existing):
        seq = self.seq(step)
        self.now += 1.5
        content = b"".join(chunks)
        info = SnapshotInfo(seq, len(content), self.now)
        if self.refuses_to_save(seq, keep_existing):
            with pytest.raises(StoreError):
                self.store.save_snapshot(seq, iter(chunks))
            return
        kept = self.states.get(seq) if keep_existing else None
        listed = self.store.save_snapshot(seq, iter(chunks), keep_existing)
        self.states[seq] = kept or (info, content)
        assert listed == self.states[seq][0]
        self.last_seq = max(self.last_seq, seq)

    def refuses_to_save(self, seq, keep_existing):
        return False

    def refuses_to_delete(self, seq):
        return False

    @rule(step=STEPS, chunks=CHUNKS)
    def fail_to_save_a_snapshot(self, step, chunks):
        def broken():
            yield from chunks
            raise RuntimeError

        with pytest.raises(RuntimeError):
            self.store.save_snapshot(self.seq(step), broken())

    @rule(step=STEPS)
    def open_snapshot(self, step):
        seq = self.seq(step)
        if seq in self.states:
            assert b"".join(self.store.open_snapshot(seq)) == self.states[seq][1]
        else:
            with pytest.raises(SnapshotMissing):
                self.store.open_snapshot(seq)

    @rule(step=STEPS)
    def delete_snapshot(self, step):
        seq = self.seq(step)
        if seq in self.states and self.refuses_to_delete(seq):
            with pytest.raises(StoreUnavailable):
                self.store.delete_snapshot(seq)
        elif self.states.pop(seq, None):
            self.store.delete_snapshot(seq)
        else:
            with pytest.raises(SnapshotMissing):
                self.store.delete_snapshot(seq)

    @precondition(lambda self: self.durable)
    @rule()
    def close_and_open(self):
        self.store.close()
        self.store = self.opened()

    @precondition(lambda self: self.durable)
    @rule()
    def crash_and_open(self):
        self.crash()
        self.store = self.opened()

    @invariant()
    def numbers_and_snapshots_are_as_they_should_be(self):
        assert self.store.last_seq == self.last_seq
        assert self.store.snapshots() == [self.states[seq][0] for seq in sorted(self.states)[::-1]]

    def teardown(self):
        self.store.close()


class SqliteMachine(MemoryMachine):
    durable = True

    def __init__(self):
        self.patch = pytest.MonkeyPatch()
        # A copy of the files has what was written, synced or not.
        self.patch.setattr(sqlite_file, "SETTINGS", (*sqlite_file.SETTINGS, "synchronous = OFF"))
        self.patch.setattr("manyclass.service.store.sqlite.snapshots.CHUNK_BYTES", 16)
        self.patch.setattr("manyclass.service.store.sqlite.snapshots.CHUNKS_DELETED_AT_ONCE", 2)
        self.patch.setattr("manyclass.service.store.sqlite.store.TRIMMED_ROWS_AT_ONCE", 2)
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "0" / "store.db"
        super().__init__()

    def opened(self):
        return open_store(f"sqlite:{self.path}", lambda: self.now)

    def crash(self):
        """Go on with a copy of the files as they are while the store is open."""
        before = self.path.parent
        after = before.with_name(str(int(before.name) + 1))
        shutil.copytree(before, after, ignore=shutil.ignore_patterns("*-shm"))
        self.store.close()
        self.path = after / self.path.name

    def teardown(self):
        super().teardown()
        self.folder.cleanup()
        self.patch.undo()


class RedisMachine(MemoryMachine):
    """On one server that goes on; a crash is that of the process."""

    durable = True
    server = None
    number = 0

    def __init__(self):
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("manyclass.service.store.redis.snapshots.CHUNK_BYTES", 16)
        self.patch.setattr("manyclass.service.store.redis.snapshots.CHUNKS_SWEPT_AT_ONCE", 2)
        # Reading keeps nothing longer, so that what is left over is seen.
        self.patch.setattr("manyclass.service.store.redis.snapshots.READING_MS", -1)
        self.patch.setattr("manyclass.service.store.redis.store.TRIMMED_EVENTS_AT_ONCE", 2)
        self.patch.setattr("manyclass.service.store.redis.store.READ_ENTRIES", 3)
        RedisMachine.number += 1
        self.name = f"machine{self.number}"
        self.client = self.server.client()
        self.crashed = []
        super().__init__()

    def opened(self):
        return Leading(f"{self.server.url}?name={self.name}", lambda: self.now)

    def crash(self):
        """Go on without the process, so long after that it is forgotten."""
        self.crashed.append(self.store)
        self.client.delete(f"{{{self.name}}}:lease", f"{{{self.name}}}:processes")

    @property
    def floor(self):
        return int(self.client.hget(f"{{{self.name}}}:facts", "floor"))

    def refuses_to_save(self, seq, keep_existing):
        return seq < self.floor and not (keep_existing and seq in self.states)

    def refuses_to_delete(self, seq):
        return self.floor and not any(other >= self.floor for other in {*self.states} - {seq})

    @invariant()
    def there_is_always_a_way_back(self):
        assert self.floor <= max(self.states, default=0)
        assert self.floor <= self.trimmed

    @invariant()
    def no_chunk_is_left_behind(self):
        chunks = len(self.client.keys(f"{{{self.name}}}:chunk:*"))
        assert chunks == sum(-(-len(content) // 16) for _, content in self.states.values())

    def teardown(self):
        for store in self.crashed:
            store.close()
        super().teardown()
        self.client.close()
        self.patch.undo()


@pytest.fixture(scope="module", autouse=True)
def server(redis_server):
    RedisMachine.server = redis_server


TestMemory = MemoryMachine.TestCase
TestSqlite = SqliteMachine.TestCase
TestRedis = RedisMachine.TestCase
TestMemory.settings = TestSqlite.settings = TestRedis.settings = examples(
    60, stateful_step_count=30
)
