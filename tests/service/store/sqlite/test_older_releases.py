"""Stores of releases without identity, chain and mark are adopted, or refused."""

import sqlite3
from contextlib import closing
from hashlib import blake2b

import pytest

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store.batch import batch_checksum, join_batch
from manyclass.service.store.errors import LogDamaged, StoreError
from manyclass.service.store.sqlite.file import APPLICATION_ID, FIRST_TABLES
from manyclass.service.store.sqlite.mark import mark_path
from manyclass.service.store.sqlite.store import SqliteStore, accept_store
from tests.service.engines import model_of
from tests.service.store.sqlite.changing import clock, opening, refused


def old_checksum(*fields):
    return blake2b(repr(fields).encode(), digest_size=16).digest()


def make_old_store(path, events, snapshot_seq, state):
    """Write a store in the format of version 1: no identity, no chain, no mark."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for table in FIRST_TABLES:
            connection.execute(table)
        for seq, event in enumerate(events, 1):
            body = join_batch([event])
            row = (seq, seq, batch_checksum(seq, seq, body), body)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        chunk = blake2b(state, digest_size=16).digest()
        connection.execute("INSERT INTO chunks VALUES (1, 0, ?, ?)", (chunk, state))
        digest = blake2b(chunk, digest_size=16).digest()
        manifest = (snapshot_seq, 1, 1.0, len(state), 1, digest)
        connection.execute(
            "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*manifest, old_checksum(*manifest)),
        )
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")


def test_a_store_of_an_older_release_is_adopted_once(path):
    lessons = [bytes(Event.learn(Instance([f"f{n}"]), [f"c{n}"], f"{n}", n)) for n in range(6)]
    model = model_of(*map(Event.from_bytes, lessons[:5]))
    make_old_store(path, lessons[:5], 5, b"".join(model.dump()))
    model.apply(6, Event.from_bytes(lessons[5]))
    with opening(path) as store:
        assert store.append([lessons[5]]) == 6
    with opening(path) as store:
        recovery = Recovery()
        assert recover(store, Options(), clock, recovery).digest() == model.digest()
        assert recovery.snapshot.seq == 5
        assert [event for _, event in store.read(0)] == lessons
        assert store.is_older_than_rules
    mark_path(path).unlink()
    refused(path)


def test_a_store_whose_older_release_was_killed_is_refused_as_it_is(path):
    """The last events need the rules of that release, which can still read the unchanged file."""
    make_old_store(path, [b"1", b"2", b"3"], 2, b"state")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="events 3 to 3 were learned by an older release"):
        SqliteStore(path, clock)
    assert path.read_bytes() == before
    assert not mark_path(path).exists()


def test_an_old_store_in_the_place_of_a_newer_one_is_refused(path):
    with opening(path) as store:
        store.append([b"1"])
    path.unlink()
    make_old_store(path, [b"1"], 1, b"state")
    assert "event 1 was acknowledged" in refused(path)
    accept_store(path)
    with opening(path) as store:
        assert list(store.read(0)) == [(1, b"1")]


def test_a_row_without_a_chain_is_no_row_of_a_store_that_has_one(path):
    with opening(path) as store:
        store.append([b"1"])
        store.append([b"2"])
    body = join_batch([b"another"])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE events SET checksum = ?, body = ? WHERE last_seq = 1",
            (batch_checksum(1, 1, body), body),
        )
    with opening(path) as store, pytest.raises(LogDamaged) as error:
        list(store.read(0))
    assert error.value.seq == 1
