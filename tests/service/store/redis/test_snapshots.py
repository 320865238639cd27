"""Snapshots in Redis: damage, remains of dead processes, and concurrent processes."""

import threading

import pytest

from manyclass.service.store.errors import (
    SnapshotDamaged,
    SnapshotMissing,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.redis import snapshots as redis_snapshots

CHUNK = 100  # bytes, so that a few hundred make several chunks


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(redis_snapshots, "CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(redis_snapshots, "CHUNKS_SWEPT_AT_ONCE", 2)
    # Let reads retain nothing, so that remains are visible at once.
    monkeypatch.setattr(redis_snapshots, "READING_MS", -1)


def chunks_of(data):
    """Return the keys of all chunks of a store."""
    return sorted(data.client.keys(data.key("chunk:*")))


def chunk_of(data, number):
    return next(key for key in chunks_of(data) if key.endswith(b":%d" % number))


def content(store, seq):
    return b"".join(store.open_snapshot(seq))


STATE = bytes(range(256)) * 2  # six chunks


@pytest.fixture
def store(open_redis):
    """Return a leading store with a snapshot at event 1."""
    made = open_redis()
    made.append([b"1", b"2"])
    made.save_snapshot(1, [STATE])
    assert made.heartbeat(2).is_leader
    return made


# --- damage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 3, 5])
@pytest.mark.parametrize(
    "damaged",
    [
        lambda chunk: chunk[:-1] + bytes([chunk[-1] ^ 1]),
        lambda chunk: bytes([chunk[0] ^ 1]) + chunk[1:],
        lambda chunk: chunk[:-1],
        lambda chunk: chunk + b"x",
        lambda chunk: b"",
    ],
)
def test_a_damaged_chunk(store, data, number, damaged):
    key = chunk_of(data, number)
    data.client.set(key, damaged(data.client.get(key)))
    reading = store.open_snapshot(1)
    with pytest.raises(SnapshotDamaged) as error:
        b"".join(reading)
    assert (error.value.seq, error.value.part) == (1, f"chunk {number}")


def test_a_snapshot_of_another_store_is_not_loaded(store, data, open_redis, redis_url):
    url = redis_url + "other"
    other = open_redis(url)
    other.append([b"1"])
    other.save_snapshot(1, [b"of another"])
    begin, other_begin = (key.encode() for key in (data.key(""), f"{{{data.name}other}}:"))
    for key in data.client.keys(other_begin.replace(b"{", b"\\{") + b"chunk:*"):
        data.client.copy(key, key.replace(other_begin, begin))
    manifest = data.client.hget(other_begin + b"snapshots", "1")
    data.client.hset(data.key("snapshots"), "1", manifest)
    with pytest.raises(SnapshotDamaged, match="another store"):
        store.open_snapshot(1)
    assert store.save_snapshot(1, [b"mine"], keep_existing=True).bytes == 4
    assert content(store, 1) == b"mine"


@pytest.mark.parametrize("number", [0, 3, 5])
def test_a_missing_chunk(store, data, number):
    data.client.delete(chunk_of(data, number))
    with pytest.raises(SnapshotDamaged, match="missing") as error:
        content(store, 1)
    assert error.value.part == f"chunk {number}"


def test_chunks_in_another_order(store, data):
    first, second = chunk_of(data, 1), chunk_of(data, 2)
    data.client.rename(first, b"{x}" + first)
    data.client.rename(second, first)
    data.client.rename(b"{x}" + first, second)
    with pytest.raises(SnapshotDamaged) as error:
        content(store, 1)
    assert error.value.part == "manifest"


@pytest.mark.parametrize(
    "damaged",
    [
        lambda text: text[:-1],
        lambda text: text.replace(b" 6 ", b" 5 "),
        lambda text: text.replace(b" 512 ", b" 513 "),
        lambda text: bytes([text[0] ^ 1]) + text[1:],
        lambda text: b"",
        lambda text: b"\xff\0 nonsense",
        lambda text: text + b" ",
    ],
)
def test_a_damaged_manifest(store, data, damaged):
    key = data.key("snapshots")
    data.client.hset(key, "1", damaged(data.client.hget(key, "1")))
    assert store.snapshots() == [SnapshotInfo(1, 0, 0.0)] == store.heartbeat(2).snapshots
    with pytest.raises(SnapshotDamaged) as error:
        store.open_snapshot(1)
    assert error.value.part == "manifest"
    kept = store.save_snapshot(1, [b"new"], keep_existing=True)
    assert store.snapshots() == [kept] == [SnapshotInfo(1, 3, kept.taken_at)]
    assert content(store, 1) == b"new"


def test_the_manifest_of_another_snapshot(store, data):
    key = data.key("snapshots")
    data.client.hset(key, "2", data.client.hget(key, "1"))
    with pytest.raises(SnapshotDamaged) as error:
        store.open_snapshot(2)
    assert error.value.part == "manifest"
    assert content(store, 1) == STATE


def test_a_damaged_snapshot_can_be_deleted(store, data):
    data.client.hset(data.key("snapshots"), "1", "nonsense")
    store.delete_snapshot(1)
    assert store.snapshots() == []


# --- remains --------------------------------------------------------------------------------------


def test_chunks_of_replaced_deleted_and_failed_snapshots_are_freed(store, data):
    assert len(chunks_of(data)) == 6
    store.save_snapshot(1, [STATE[:250]])
    assert len(chunks_of(data)) == 3

    def broken():
        yield STATE
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.save_snapshot(2, broken())
    assert len(chunks_of(data)) == 3
    store.save_snapshot(1, [STATE], keep_existing=True)
    assert len(chunks_of(data)) == 3
    store.delete_snapshot(1)
    assert chunks_of(data) == []
    assert data.client.hgetall(data.key("chunks")) == {}


def test_the_leader_sweeps_what_a_dead_process_left(store, open_redis, data, monkeypatch):
    other = open_redis()
    monkeypatch.setattr(redis_snapshots, "WRITING_MS", -1)  # the seconds since its death
    other._snapshots._write(2, "0" * 32, 0.0, [STATE])
    assert len(chunks_of(data)) == 12
    assert not other.heartbeat(2).is_leader
    assert len(chunks_of(data)) == 12
    for _ in range(3):
        store.heartbeat(2)
    assert len(chunks_of(data)) == 6
    assert content(store, 1) == STATE


def test_a_snapshot_being_written_is_not_swept(store, open_redis, data):
    other = open_redis()

    def chunks():
        for _ in range(5):
            yield STATE[:CHUNK]
            before = len(chunks_of(data))
            store.heartbeat(2)
            store._snapshots.sweep()
            assert len(chunks_of(data)) == before

    other.save_snapshot(2, chunks())
    assert content(store, 2) == STATE[:CHUNK] * 5


def test_too_slow_a_write_fails_and_leaves_nothing(store, open_redis, data, monkeypatch):
    other = open_redis()
    monkeypatch.setattr(redis_snapshots, "WRITING_MS", -1)  # each chunk arrives too late

    def chunks():
        yield STATE[:CHUNK]
        store._snapshots.sweep()
        yield STATE[:CHUNK]

    with pytest.raises(StoreUnavailable, match="SWEPT"):
        other.save_snapshot(2, chunks())
    written = other._snapshots._write(2, "0" * 32, 0.0, [STATE])
    store._snapshots.sweep()
    with pytest.raises(StoreUnavailable, match="SWEPT"):
        other._snapshots._make_visible(written, False, b"")
    assert [info.seq for info in store.snapshots()] == [1]
    assert len(chunks_of(data)) == 6


def test_a_snapshot_being_read_is_not_swept(store, open_redis, data, monkeypatch):
    monkeypatch.setattr(redis_snapshots, "READING_MS", 60_000)
    other = open_redis()
    reading = other.open_snapshot(1)
    read = next(reading)
    store.save_snapshot(1, [b"new"])
    store.delete_snapshot(1)
    store.heartbeat(2)
    assert len(chunks_of(data)) == 6
    assert read + b"".join(reading) == STATE
    assert data.client.hlen(data.key("chunks")) == 1


def test_reading_for_long_holds_what_is_read(store, data, monkeypatch):
    monkeypatch.setattr(redis_snapshots, "READING_MS", 60_000)
    now = [0.0]
    monkeypatch.setattr(redis_snapshots.time, "monotonic", lambda: now[0])
    reading = store.open_snapshot(1)
    identity = chunk_of(data, 0).split(b":")[-2]
    opened = data.client.hget(data.key("chunks"), identity)
    next(reading)
    data.client.hset(data.key("chunks"), identity, "0 6")  # equally long ago
    now[0] += 30
    assert len(b"".join(reading)) == 412
    held = data.client.hget(data.key("chunks"), identity)
    assert int(held.split()[0]) >= int(opened.split()[0])
    assert held.endswith(b" 6")


def test_keeping_what_is_there_among_processes_at_once(open_redis, data):
    stores = [open_redis() for _ in range(4)]
    stores[0].append([b"1"])
    infos = []
    threads = [
        threading.Thread(
            target=lambda store=store: infos.append(
                store.save_snapshot(1, [store.name.encode() * 20], keep_existing=True)
            )
        )
        for store in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(infos)) == 1
    assert stores[0].snapshots() == infos[:1]
    kept = content(stores[1], 1)
    assert kept in [store.name.encode() * 20 for store in stores]
    assert len(chunks_of(data)) == -(-len(kept) // CHUNK)


# --- refused --------------------------------------------------------------------------------------


def test_a_snapshot_of_before_the_log_is_refused(store, data):
    store.save_snapshot(2, [STATE])
    store.trim(2)
    with pytest.raises(StoreError, match="trimmed"):
        store.save_snapshot(1, [STATE])
    assert [info.seq for info in store.snapshots()] == [2, 1]
    assert len(chunks_of(data)) == 12
    store.delete_snapshot(1)
    with pytest.raises(StoreError, match="trimmed"):
        store.save_snapshot(1, [STATE], keep_existing=True)
    assert len(chunks_of(data)) == 6


def test_a_listed_one_that_is_deleted_meanwhile_is_missing(store):
    reading = store.open_snapshot(1)
    next(reading)
    store.delete_snapshot(1)
    with pytest.raises(SnapshotMissing):
        store.open_snapshot(1)
    with pytest.raises(SnapshotMissing):
        store.delete_snapshot(1)
