"""Stores of older releases are refused as they are, and their rows are no rows of a newer store."""

import sqlite3
from contextlib import closing

import pytest

from manyclass.service.store.batch import batch_checksum, join_batch
from manyclass.service.store.errors import LogDamaged, StoreError
from manyclass.service.store.sqlite.store import SqliteStore, accept_store
from tests.service.store.sqlite.changing import clock, opening


@pytest.mark.parametrize("version", [1, 2])
def test_a_store_of_an_older_release_is_refused_as_it_is(path, version):
    """The release that wrote it can then still read it."""
    with opening(path) as store:
        store.append([b"1"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    for call in (lambda: SqliteStore(path, clock), lambda: accept_store(path)):
        with pytest.raises(StoreError, match="made other features of texts") as error:
            call()
        assert "teach it the texts and labels again" in error.value.hint
    assert path.read_bytes() == before


def test_a_row_without_a_chain_is_no_row_of_a_store(path):
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
