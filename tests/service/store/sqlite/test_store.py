"""The SQLite store beyond the contract suite: kills, damage, full disks, other processes."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from random import Random
from threading import Thread
from time import monotonic

import pytest

from manyclass.service.store.batch import join_batch
from manyclass.service.store.errors import (
    LogDamaged,
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreInUse,
    StoreUnavailable,
)
from manyclass.service.store.sqlite import file as sqlite_file
from manyclass.service.store.sqlite.chain import chain_of, prove
from manyclass.service.store.sqlite.snapshots import CHUNK_BYTES
from manyclass.service.store.sqlite.store import SqliteStore

MIB = 2**20


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def opened(path):
    """Return a function that opens the store after closing the one opened before."""
    stores = []

    def open_again(salvage=False):
        for store in stores:
            store.close()
        stores.append(SqliteStore(path, lambda: 1.0, salvage))
        return stores[-1]

    yield open_again
    for store in stores:
        store.close()


def change(path, statement, *values):
    """Change the file of a closed store by SQL."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(statement, values).rowcount == 1


def ask(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchone()[0]


def read_until_damage(store, after=0):
    events = []
    try:
        events.extend(store.read(after))
    except LogDamaged as error:
        return events, error.seq
    return events, None


# --- damage to the log ----------------------------------------------------------------------------


def three_batches(opened):
    store = opened()
    store.append([b"1", b"2"])
    store.append([b"3", b"4" * 3000])
    store.append([b"5"])
    store.close()


def damaged_values(value):
    """Yield damaged values: one bit flipped at many places, cut, emptied, of other types."""
    if isinstance(value, bytes):
        for place in range(0, len(value), max(1, len(value) // 40)):
            flipped = bytearray(value)
            flipped[place] ^= 1 << place % 8
            yield bytes(flipped)
        yield from (value[:-1], value[1:], value + b"\0", b"", b"\xff", "text", 7, 1.5)
    else:
        yield from (value ^ 1 << bit for bit in range(0, 62, 3))
        yield from (b"\xff\xfe", 1.5)


@pytest.mark.parametrize("column", ["body", "checksum", "first_seq"])
def test_a_damaged_batch_is_found_and_what_is_before_it_is_read(opened, path, column):
    three_batches(opened)
    whole = ask(path, f"SELECT {column} FROM events WHERE last_seq = 4")
    for damaged in damaged_values(whole):
        change(path, f"UPDATE events SET {column} = ? WHERE last_seq = 4", damaged)
        assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)
        assert read_until_damage(opened(), after=3) == ([], 4)
        assert read_until_damage(opened(), after=4) == ([(5, b"5")], None)
        opened().close()
    change(path, f"UPDATE events SET {column} = ? WHERE last_seq = 4", whole)
    assert read_until_damage(opened())[1] is None


@pytest.mark.parametrize("number", [3, 6, 2**40])
def test_a_batch_under_another_number_is_found(opened, path, number):
    three_batches(opened)
    change(path, "UPDATE events SET last_seq = ? WHERE last_seq = 4", number)
    assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)


def test_a_missing_batch_is_found(opened, path):
    three_batches(opened)
    change(path, "DELETE FROM events WHERE last_seq = 4")
    assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)
    assert read_until_damage(opened(), after=4) == ([(5, b"5")], None)


def insert_batch(path, first_seq, last_seq, body):
    """Insert a row that fits the one before it."""
    before = ask(path, "SELECT checksum FROM events ORDER BY last_seq DESC LIMIT 1")
    proof = prove(chain_of(before), bytes(8), first_seq, last_seq, body)
    change(path, "INSERT INTO events VALUES (?, ?, ?, ?)", last_seq, first_seq, proof, body)


def test_a_batch_that_overlaps_the_one_before_is_found(opened, path):
    three_batches(opened)
    insert_batch(path, 5, 6, join_batch([b"5", b"6"]))
    assert read_until_damage(opened(), after=4) == ([(5, b"5")], 6)
    assert read_until_damage(opened(), after=5) == ([], 6)


@pytest.mark.parametrize(("first_seq", "last_seq"), [(6, 8), (6, 6), (7, 6)])
def test_a_batch_that_holds_another_number_of_events_is_found(opened, path, first_seq, last_seq):
    three_batches(opened)
    insert_batch(path, first_seq, last_seq, join_batch([b"6", b"7"]))
    assert read_until_damage(opened(), after=4) == ([(5, b"5")], 6)


def test_a_missing_end_of_the_log_is_found_when_a_snapshot_knows_of_it(opened, path):
    three_batches(opened)
    opened().save_snapshot(5, [b"x"])
    opened().close()
    change(path, "DELETE FROM events WHERE last_seq = 5")
    assert read_until_damage(opened(), after=2)[1] == 5


@pytest.mark.parametrize("column", ["seq", "checksum"])
def test_a_damaged_floor_is_found(opened, path, column):
    three_batches(opened)
    opened().trim(4)
    opened().close()
    for damaged in damaged_values(ask(path, f"SELECT {column} FROM floor")):
        change(path, f"UPDATE floor SET {column} = ?", damaged)
        with pytest.raises(StoreDamaged, match="trimmed is damaged") as error:
            opened()
        assert error.value.hint


# --- damage to snapshots --------------------------------------------------------------------------


def two_snapshots(opened):
    store = opened()
    store.append([b"event"] * 7)
    store.save_snapshot(5, [b"before"])
    store.save_snapshot(7, [Random(1).randbytes(2 * CHUNK_BYTES + 100)])
    store.close()


def assert_only_the_newest_is_damaged(store, part):
    assert 5 in [info.seq for info in store.snapshots()]
    assert all(isinstance(info.bytes, int) for info in store.snapshots())
    assert all(isinstance(info.taken_at, float) for info in store.snapshots())
    with pytest.raises(SnapshotDamaged) as error:
        b"".join(store.open_snapshot(7))
    assert (error.value.seq, error.value.part) == (7, part)
    assert error.value.hint
    assert b"".join(store.open_snapshot(5)) == b"before"
    assert store.last_seq == 7


@pytest.mark.parametrize("column", ["id", "bytes", "chunks", "digest", "checksum"])
def test_a_damaged_manifest_is_found(opened, path, column):
    two_snapshots(opened)
    for damaged in damaged_values(ask(path, f"SELECT {column} FROM snapshots WHERE seq = 7")):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("BEGIN")
            connection.execute(f"UPDATE snapshots SET {column} = ? WHERE seq = 7", (damaged,))
            connection.commit()
        assert_only_the_newest_is_damaged(opened(), "manifest")
        opened().close()


def test_a_damaged_manifest_is_not_worth_keeping(opened, path):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET checksum = ? WHERE seq = 7", b"x")
    info = opened().save_snapshot(7, [b"sound"], keep_existing=True)
    assert opened().snapshots()[0] == info
    assert b"".join(opened().open_snapshot(7)) == b"sound"


@pytest.mark.parametrize("taken_at", [1.0000000001, -1.0, b"\xff", "text"])
def test_a_damaged_time_is_found(opened, path, taken_at):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET taken_at = ? WHERE seq = 7", taken_at)
    assert_only_the_newest_is_damaged(opened(), "manifest")


def test_a_manifest_under_another_number_is_found_and_gives_no_numbers(opened, path):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET seq = ? WHERE seq = 7", 2**40)
    store = opened()
    with pytest.raises(SnapshotDamaged):
        store.open_snapshot(2**40)
    with pytest.raises(SnapshotMissing):
        store.open_snapshot(7)
    store.delete_snapshot(2**40)
    assert store.append([b"8"]) == 8
    assert opened().last_seq == 8


@pytest.mark.parametrize("column", ["body", "checksum"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_damaged_chunk_is_found(opened, path, column, number):
    two_snapshots(opened)
    where = f"WHERE snapshot = (SELECT id FROM snapshots WHERE seq = 7) AND number = {number}"
    for damaged in damaged_values(ask(path, f"SELECT {column} FROM chunks {where}")):
        change(path, f"UPDATE chunks SET {column} = ? {where}", damaged)
        assert_only_the_newest_is_damaged(opened(), f"chunk {number}")
        opened().close()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_missing_chunk_is_found(opened, path, number):
    two_snapshots(opened)
    change(path, "DELETE FROM chunks WHERE length(body) > 6 AND number = ?", number)
    store = opened()
    assert_only_the_newest_is_damaged(store, f"chunk {number}")
    with pytest.raises(SnapshotDamaged, match="it is missing" if number < 2 else "says 3 chunks"):
        b"".join(store.open_snapshot(7))


def test_a_whole_chunk_of_another_snapshot_is_found(opened, path):
    two_snapshots(opened)
    change(
        path,
        "UPDATE chunks SET (checksum, body) ="
        " (SELECT checksum, body FROM chunks WHERE body = x'6265666f7265')"
        " WHERE number = 2",
    )
    assert_only_the_newest_is_damaged(opened(), "manifest")


def test_a_damaged_snapshot_can_be_deleted_and_replaced(opened, path):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET chunks = 0 WHERE seq = 7")
    store = opened()
    store.save_snapshot(7, [b"new"])
    assert b"".join(store.open_snapshot(7)) == b"new"
    store.close()
    change(path, "UPDATE snapshots SET chunks = 0 WHERE seq = 7")
    store = opened()
    store.delete_snapshot(7)
    assert [info.seq for info in store.snapshots()] == [5]


def test_chunks_that_belong_to_no_snapshot_are_removed_on_opening(opened, path):
    two_snapshots(opened)
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "INSERT INTO chunks (snapshot, number, checksum, body) VALUES (77, ?, x'00', x'00')",
            [(number,) for number in range(10)],
        )
        connection.commit()
    opened().close()
    assert ask(path, "SELECT count(*) FROM chunks") == 4


# --- damage to the file ---------------------------------------------------------------------------


def small_store(opened):
    store = opened()
    events = [b"event %d" % seq * 20 for seq in range(1, 60)]
    for begin in range(0, 59, 7):
        store.append(events[begin : begin + 7])
    store.trim(7)
    state = Random(2).randbytes(20_000)
    store.save_snapshot(30, [b"older"])
    store.save_snapshot(40, [state])
    store.close()
    return dict(enumerate(events, start=1)), {30: b"older", 40: state}


def assert_nothing_wrong_is_given(opened, events, snapshots):
    """Assert that every readable event and snapshot was written, or a StoreError is raised.

    Return true if the store detected the damage.
    """
    try:
        store = opened()
    except StoreError:
        return True
    found = False
    try:
        for seq, event in store.read(7):
            assert events[seq] == event
        infos = store.snapshots()
    except StoreError:
        return True
    for info in infos:
        try:
            assert b"".join(store.open_snapshot(info.seq)) == snapshots[info.seq]
        except StoreError:
            found = True
    return found


def test_a_bit_flipped_anywhere_in_the_file_never_gives_wrong_bytes(opened, path):
    written = small_store(opened)
    whole = path.read_bytes()
    random = Random(3)
    found = 0
    for _ in range(300):
        place = random.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << random.randrange(8)
        path.write_bytes(flipped)
        found += assert_nothing_wrong_is_given(opened, *written)
    assert found > 100
    path.write_bytes(whole)
    assert not assert_nothing_wrong_is_given(opened, *written)


def test_a_file_cut_anywhere_never_gives_wrong_bytes(opened, path):
    written = small_store(opened)
    whole = path.read_bytes()
    random = Random(4)
    for size in [1, 99, 100, 4095, 4096, *(random.randrange(len(whole)) for _ in range(40))]:
        path.write_bytes(whole[:size])
        assert assert_nothing_wrong_is_given(opened, *written), size


def overwrite(path, place, content):
    with path.open("r+b") as file:
        file.seek(place)
        file.write(content)


def assert_its_pages_do_not_fit(opened):
    with pytest.raises(StoreDamaged, match="pages do not fit") as error:
        opened()
    assert "backup" in error.value.hint


def test_a_page_of_the_log_that_is_not_one_is_damage_to_the_log(opened, path):
    store = opened()
    store.append([b"1", b"2"])
    store.append([b"3" * 50_000])
    store.close()
    page = path.read_bytes().index(b"3" * 4092) // 4096  # starts with the number of the next event
    overwrite(path, page * 4096, b"\xff" * 4)
    assert_its_pages_do_not_fit(opened)
    assert read_until_damage(opened(salvage=True)) == ([(1, b"1"), (2, b"2")], 3)


def test_a_page_of_a_snapshot_that_is_not_one_is_damage_to_the_snapshot(opened, path):
    two_snapshots(opened)
    opened().save_snapshot(7, [bytes(CHUNK_BYTES), b"x" * 50_000])
    opened().close()
    page = path.read_bytes().index(b"x" * 4092) // 4096
    overwrite(path, page * 4096, b"\xff" * 4)
    assert_its_pages_do_not_fit(opened)
    assert_only_the_newest_is_damaged(opened(salvage=True), "chunk 1")


def test_pages_of_nonsense_are_damage_to_the_store(opened, path):
    small_store(opened)
    overwrite(path, 4096, b"\xff" * 4096 * 4)
    assert_its_pages_do_not_fit(opened)


def test_a_row_that_is_seen_but_cannot_be_deleted_does_not_hold_up_a_trim_for_ever(opened, path):
    small_store(opened)
    # The row of events 29 to 35, where 35 becomes 6: rows are not in order any more.
    place = path.read_bytes().index(b"\x23\x06\x00\x01\x5c")
    overwrite(path, place, b"\x06")
    assert_its_pages_do_not_fit(opened)
    store = opened(salvage=True)
    errors = []

    def trim():
        try:
            store.trim(40)
        except StoreDamaged as error:
            errors.append(error)

    thread = Thread(target=trim, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert len(errors) == 1
    assert errors[0].hint


def test_a_file_that_is_not_a_database_is_refused_untouched(opened, path):
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(StoreDamaged, match="not a SQLite file") as error:
        opened()
    assert error.value.hint
    assert path.read_bytes() == b"Dear diary, " * 1000


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_another_application_is_refused_untouched(opened, path, mode):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE events (last_seq)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another application") as error:
        opened()
    assert error.value.hint
    assert path.read_bytes() == before
    assert not path.with_name(path.name + "-wal").exists()


@pytest.mark.parametrize("checkpointed", [True, False])
def test_a_newer_version_is_refused(opened, path, checkpointed):
    opened().close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 3")
        if checkpointed:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:  # a copy made now has the new version only in the write-ahead log
            copy = path.with_name("copy.db")
            for end in ("", "-wal"):
                shutil.copy(f"{path}{end}", f"{copy}{end}")
            path = copy
        before = path.read_bytes()
        with pytest.raises(StoreError, match="has version 3") as error:
            SqliteStore(path, float)
        assert "release" in error.value.hint
        assert path.read_bytes() == before or not checkpointed


def test_a_folder_instead_of_a_file_is_an_error_with_a_hint(opened, path):
    path.mkdir()
    with pytest.raises(StoreError, match="directory") as error:
        opened()
    assert "STORE" in error.value.hint


def test_a_file_in_the_way_of_the_folder_is_an_error_with_a_hint(path):
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="File exists") as error:
        SqliteStore(path / "store.db", float)
    assert "STORE" in error.value.hint


def test_an_empty_file_becomes_a_store(opened, path):
    path.write_bytes(b"")
    assert opened().append([b"1"]) == 1


def test_a_file_that_vanishes_is_an_error_and_not_a_new_store(opened, path):
    store = opened()
    store.append([b"1"])
    path.unlink()
    with pytest.raises(StoreUnavailable):
        store.snapshots()
    assert not path.exists()


# --- one process ----------------------------------------------------------------------------------


def test_a_second_opener_is_refused_until_the_first_closes(opened, path):
    first = opened()
    with pytest.raises(StoreInUse, match="in use") as error:
        SqliteStore(path, float)
    assert error.value.hint
    assert first.append([b"1"]) == 1
    first.close()
    assert opened().last_seq == 1


def test_a_failed_opening_does_not_keep_the_lock(opened, path):
    path.write_bytes(b"x" * 200)
    with pytest.raises(StoreDamaged):
        opened()
    path.unlink()
    assert opened().last_seq == 0


def test_a_closed_store_says_so(opened):
    store = opened()
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


def test_a_waiting_writer_precedes_the_last_one(opened):
    store = opened()
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


def test_the_write_ahead_log_stays_small(opened, path):
    store = opened()
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


def test_an_append_that_was_said_to_have_failed_is_taken_back(opened):
    store = opened()
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
def test_it_is_taken_back_by_the_next_write_and_not_returned_before(opened, use):
    store = opened()
    store.append([b"1"])
    store._file._connection = FailsAfterwards(store._file._connection, "INSERT INTO events")
    with pytest.raises(StoreUnavailable):
        store.append([b"lost"])
    use(store)
    assert store.append([b"next"]) == store.last_seq
    assert b"lost" not in dict(store.read(store.last_seq - 1)).values()


def test_a_snapshot_that_was_said_to_have_failed_does_no_harm(opened):
    store = opened()
    store.append([b"1"])
    store._file._connection = FailsAfterwards(
        store._file._connection, "INSERT OR REPLACE INTO snapshots"
    )
    with pytest.raises(StoreUnavailable):
        store.save_snapshot(1, [b"state"])
    assert store.append([b"2"]) == 2
    assert all(b"".join(store.open_snapshot(info.seq)) == b"state" for info in store.snapshots())


def test_acknowledged_events_that_are_gone_are_noticed_after_a_failure(opened):
    store = opened()
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
