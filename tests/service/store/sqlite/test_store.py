"""The SQLite store beyond the contract suite: one process, kills, full disks, failed writes."""

import json
import sqlite3
import subprocess
import sys
from random import Random
from threading import Thread
from time import monotonic

import pytest

from manyclass.service.store.errors import StoreDamaged, StoreError, StoreFull, StoreUnavailable
from manyclass.service.store.sqlite import file as sqlite_file
from tests.service.store.sqlite.changing import ask, read_until_damage

MIB = 2**20


# --- one process ----------------------------------------------------------------------------------


def test_a_failed_opening_does_not_keep_the_lock(opened, path):
    path.write_bytes(b"x" * 200)
    with pytest.raises(StoreDamaged):
        opened()
    path.unlink()
    assert opened().last_seq == 0


def test_a_closed_store_says_so(store):
    store.close()
    for use in (
        lambda: store.append([b"1"]),
        lambda: list(store.read(0)),
        lambda: store.save_snapshot(1, []),
        lambda: store.open_snapshot(1),
        lambda: store.delete_snapshot(1),
        lambda: store.trim(1),
        store.snapshots,
    ):
        with pytest.raises(StoreError, match="is closed"):
            use()


def test_a_waiting_writer_precedes_the_last_one(store):
    thread = Thread(target=store.append, args=([b"event"],))
    with store._file.writing():
        thread.start()
        deadline = monotonic() + 60
        while not store._file._next.locked():
            assert monotonic() < deadline
    with store._file.writing():
        assert store.last_seq == 1
    thread.join()


# --- kill -----------------------------------------------------------------------------------------

# Appends batches and says so, while another thread saves snapshots and trims behind them.
APPEND_UNTIL_KILLED = """
import sys
from pathlib import Path
from threading import Thread
from manyclass.service.store.sqlite.store import SqliteStore

store = SqliteStore(Path(sys.argv[1]), lambda: 1.0)

def take_snapshots():
    while True:
        seq = store.last_seq
        store.save_snapshot(seq, [b"%d " % seq * 400_000])
        newest, *older = store.snapshots()
        for info in older[1:]:
            store.delete_snapshot(info.seq)
        store.trim(older[0].seq if older else 0)

Thread(target=take_snapshots, daemon=True).start()
print("ready", flush=True)
while True:
    first = store.last_seq + 1
    last = store.append([b"event %d" % seq for seq in range(first, first + first % 5 + 1)])
    print(last, flush=True)
"""


def test_everything_acknowledged_before_a_kill_is_there_once(opened, path):
    random = Random(5)
    acknowledged = 0
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", APPEND_UNTIL_KILLED, path], stdout=subprocess.PIPE
        )
        with child:
            assert child.stdout.readline() == b"ready\n"
            answers = [child.stdout.readline() for _ in range(random.randrange(1, 150))]
            child.kill()
            answers += child.stdout.readlines()
        acknowledged = max(int(answer) for answer in answers if answer.endswith(b"\n"))

        store = opened()
        assert acknowledged <= store.last_seq <= acknowledged + 5
        infos = store.snapshots()
        for info in infos:
            assert b"".join(store.open_snapshot(info.seq)) == b"%d " % info.seq * 400_000
        trimmed = infos[-1].seq if infos else 0
        events = list(store.read(trimmed))
        assert events == [
            (seq, b"event %d" % seq) for seq in range(trimmed + 1, store.last_seq + 1)
        ]
        acknowledged = store.last_seq
        store.close()
    assert acknowledged > 50
    assert ask(path, "SELECT count(DISTINCT snapshot) FROM chunks") == len(infos)


# --- full disk ------------------------------------------------------------------------------------

# A limit on file sizes simulates a full disk; removing the limit frees space.
FILL_THE_DISK = """
import json, resource, sys
from pathlib import Path
from manyclass.service.store.errors import StoreUnavailable
from manyclass.service.store.sqlite.store import SqliteStore

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def batch(first):
    return [b"event %d " % seq * 1000 for seq in range(first, first + 20)]

store = SqliteStore(Path(sys.argv[1]), lambda: 1.0)
limit(int(sys.argv[2]))
refused = []  # in a row: the first failure makes room by emptying the write-ahead log
while len(refused) < 3:
    before = store.last_seq
    try:
        store.append(batch(before + 1))
        refused.clear()
    except StoreUnavailable as error:
        refused.append((before, store.last_seq, str(error), error.hint))
read = [(seq, len(event)) for seq, event in store.read(0)]
try:
    store.save_snapshot(before, [bytes(2**20)] * 100)
    saved = True
except StoreUnavailable:
    saved = False
limit(resource.RLIM_INFINITY)
after = store.append(batch(store.last_seq + 1))
if sys.argv[3] == "close":
    store.close()
print(json.dumps([refused, read[-1][0], saved, after]))
sys.stdout.flush()
if sys.argv[3] == "kill":
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["close", "kill"])
@pytest.mark.parametrize("size", [400_000, 1_000_000, 6_000_003])
def test_a_full_disk_refuses_and_later_goes_on_with_the_same_number(opened, path, size, end):
    child = subprocess.run(
        [sys.executable, "-c", FILL_THE_DISK, path, str(size), end], stdout=subprocess.PIPE
    )
    refused, read, saved, after = json.loads(child.stdout)
    assert len({(before, last) for before, last, *_ in refused}) == 1
    before = refused[0][0]
    assert before == refused[0][1] == read
    assert all("disk" in message and "disk" in hint for _, _, message, hint in refused)
    assert not saved
    assert after == before + 20
    store = opened()
    assert store.last_seq == after
    assert store.snapshots() == []
    assert list(store.read(0)) == [(seq, b"event %d " % seq * 1000) for seq in range(1, after + 1)]


@pytest.fixture
def limited(monkeypatch):
    """Return a function that limits the pages of a store's file from the next connection on."""

    def limit(pages):
        monkeypatch.setattr(sqlite_file, "SETTINGS", (*SETTINGS, f"max_page_count = {pages}"))

    SETTINGS = sqlite_file.SETTINGS
    return limit


def test_a_full_database_refuses_whole_batches(opened, limited):
    limited(100)
    store = opened()
    for _ in range(9):
        store.append([b"x" * 1000] * 30)
    last = store.last_seq
    for _ in range(3):
        with pytest.raises(StoreFull) as error:
            store.append([b"x" * 1000] * 300)
        assert error.value.hint
        with pytest.raises(StoreFull):
            store.check_append(300_000)
    store.check_append(1000)
    assert len(list(store.read(0))) == store.last_seq == last
    limited(10_000)
    store = opened()
    assert store.append([b"y"]) == last + 1
    assert len(list(store.read(0))) == last + 1


def test_a_snapshot_that_does_not_fit_makes_room_for_events_again(opened, limited):
    limited(2000)
    store = opened()
    store.append([b"1"])
    store.save_snapshot(1, [bytes(MIB)])
    for _ in range(3):
        with pytest.raises(StoreFull):
            store.save_snapshot(1, [bytes(MIB)] * 20)
        assert [info.bytes for info in store.snapshots()] == [MIB]
        store.append([b"x" * MIB])
    assert store.last_seq == 4


def test_pages_of_what_was_trimmed_and_replaced_are_used_again(opened, limited, path):
    limited(3000)
    store = opened()
    for _ in range(20):
        seq = store.append([b"x" * MIB] * 3)
        store.save_snapshot(seq - 1, [bytes(2 * MIB)])
        for info in store.snapshots()[1:]:
            store.delete_snapshot(info.seq)
        store.trim(seq)
    assert store.last_seq == 60


def test_a_trim_goes_in_steps(opened, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.sqlite.store.TRIMMED_BYTES_AT_ONCE", 250)
    store = opened()
    for _ in range(10):
        store.append([b"x" * 100])
    steps = []
    trim_some = store._trim_some
    monkeypatch.setattr(
        store, "_trim_some", lambda seq: steps.append(read_until_damage(store)) or trim_some(seq)
    )
    store.trim(9)
    assert len(steps) == 4
    assert [seq for seq, _ in store.read(9)] == [10]


def test_a_commit_waits_for_the_disk_and_freed_pages_are_not_written(opened):
    connection = opened()._file._connection

    def setting(name):
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    assert setting("journal_mode") == b"wal"
    assert setting("synchronous") == 2  # FULL
    assert setting("secure_delete") == 0


def test_the_write_ahead_log_stays_small(store, path):
    for _ in range(40):
        store.append([b"x" * 50_000] * 2)
    store.save_snapshot(store.last_seq, [bytes(MIB)] * 40)
    store.trim(store.last_seq)
    assert path.with_name(path.name + "-wal").stat().st_size < 10 * MIB


# --- writes with an unknown outcome ---------------------------------------------------------------


class FailsAfterwards:
    """A connection that executes the next statement of a kind and then reports an error."""

    def __init__(self, connection, start):
        self._connection = connection
        self._start = start

    def execute(self, statement, *values):
        result = self._connection.execute(statement, *values)
        if statement.startswith(self._start):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
            error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
            raise error
        return result

    def close(self):
        self._connection.close()


def test_an_append_that_was_said_to_have_failed_is_taken_back(store):
    store.append([b"1"])
    store._file._connection = FailsAfterwards(store._file._connection, "INSERT INTO events")
    with pytest.raises(StoreUnavailable, match="SQLITE_IOERR_FSYNC") as error:
        store.append([b"lost", b"lost"])
    assert error.value.hint
    assert store.last_seq == 1
    assert store.append([b"2"]) == 2
    assert list(store.read(0)) == [(1, b"1"), (2, b"2")]


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.save_snapshot(4, [b"lost"]),
        lambda store: store.trim(1),
        lambda store: list(store.snapshots()),
    ],
)
def test_a_failed_append_is_taken_back_by_the_next_write(store, use):
    store.append([b"1"])
    store._file._connection = FailsAfterwards(store._file._connection, "INSERT INTO events")
    with pytest.raises(StoreUnavailable):
        store.append([b"lost"])
    use(store)
    assert store.append([b"next"]) == store.last_seq
    assert b"lost" not in dict(store.read(store.last_seq - 1)).values()


def test_a_snapshot_that_was_said_to_have_failed_does_no_harm(store):
    store.append([b"1"])
    store._file._connection = FailsAfterwards(
        store._file._connection, "INSERT OR REPLACE INTO snapshots"
    )
    with pytest.raises(StoreUnavailable):
        store.save_snapshot(1, [b"state"])
    assert store.append([b"2"]) == 2
    assert all(b"".join(store.open_snapshot(info.seq)) == b"state" for info in store.snapshots())


def test_acknowledged_events_that_are_gone_are_noticed_after_a_failure(store):
    store.append([b"1"])
    store.append([b"2"])
    store._file._connection.execute("DELETE FROM events WHERE last_seq = 2")
    store._file._connection = FailsAfterwards(store._file._connection, "INSERT INTO events")
    with pytest.raises(StoreUnavailable):
        store.append([b"3"])
    with pytest.raises(StoreDamaged, match="2 was acknowledged"):
        store.append([b"3"])


def test_a_batch_too_large_for_a_row_is_refused(opened, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.sqlite.store.LARGEST_BATCH", 1000)
    store = opened()
    with pytest.raises(StoreError, match="fit in one append") as error:
        store.append([b"x" * 600, b"y" * 600])
    assert "fewer" in error.value.hint
    assert store.append([b"x" * 600]) == 1


def test_a_scrub_leaves_no_byte_of_what_was_trimmed(store, path):
    store.append([b"a secret" * 100])
    store.append([b"what is kept"])
    store.save_base(2, [b"the base"])
    store.trim(1)
    store.scrub()
    found = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    assert b"a secret" not in found
    assert b"what is kept" in found
    assert b"".join(store.open_snapshot(2)) == b"the base"
