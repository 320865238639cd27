"""A history with a damaged segment: ranking and learning go on, a rebuild is refused."""

import sqlite3
import time
from contextlib import closing

import pytest

from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.serving import assert_problem, calling


async def test_a_damaged_segment_with_amendments_stops_nothing_but_rebuilds(tmp_path):
    path = tmp_path / "store.db"
    async with calling(store=SqliteStore(path, time.time)) as call:
        await call.learn(("a", "x"), ("b", "y"))
        assert (await call("DELETE", "/events/seq:1")).status_code == 200
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE segments SET body = substr(body, 1, 20)")
        connection.commit()
    async with calling(store=SqliteStore(path, time.time)) as call:
        assert (await call("POST", "/rank", {"features": ["a"]})).status_code == 200
        await call.learn(("a", "x"))
        assert_problem(await call("GET", "/events"), 503)
        assert_problem(await call("POST", "/rebuild"), 503)
        assert call.app.engine.history.failures == 1
        assert call.app.engine.status == "ready"


@pytest.mark.parametrize("column", ["first_seq", "body", "checksum"])
async def test_a_value_of_another_type_is_named_as_damage(tmp_path, column):
    path = tmp_path / "store.db"
    async with calling(store=SqliteStore(path, time.time)) as call:
        await call.learn(("a", "x"), ("b", "y"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE segments SET {column} = 'x'")
        connection.commit()
    async with calling(store=SqliteStore(path, time.time)) as call:
        assert "damaged" in assert_problem(await call("GET", "/events"), 503)["detail"]
        assert_problem(await call("POST", "/rebuild"), 503)
        assert (await call("GET", "/metrics")).status_code == 200
        assert (await call("POST", "/rank", {"features": ["a"]})).status_code == 200


async def test_a_part_that_leaves_the_history_while_it_is_read_is_no_damage(monkeypatch):
    async with calling(history_seconds=0) as call:
        for each in ("a", "b", "c"):
            await call.learn((each, "x"))
            await call("POST", "/snapshots")
        store, history = call.store, call.app.engine.history
        reads = store.read_segment

        def leaves(last_seq):
            monkeypatch.setattr(store, "read_segment", reads)
            history.recorder.drop(2)
            return reads(last_seq)

        history.reader.forget()
        monkeypatch.setattr(store, "read_segment", leaves)
        found = (await call("GET", "/events?order=oldest")).json()["events"]
        assert [each["seq"] for each in found] == [3]
        store.delete_segments(3)
        history.reader.forget()
        problem = assert_problem(await call("GET", "/events"), 503)
        assert problem["detail"].startswith("the history up to event 3 is missing; the state")


async def test_damage_that_a_snapshot_is_behind_does_not_hinder_a_start(tmp_path):
    """The state needs nothing of it, so the hint may not be to replace the store."""
    path = tmp_path / "store.db"
    async with calling(store=SqliteStore(path, time.time), history=False) as call:
        for each in ("a", "b", "c"):
            await call.learn((each, "x"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE events SET checksum = x'00' WHERE last_seq = 2")
        connection.commit()
    async with calling(store=SqliteStore(path, time.time)) as call:
        engine = call.app.engine
        assert (engine.status, engine.model.seq, engine.history.failures) == ("ready", 3, 1)
        await call.learn(("d", "x"))
        problem = assert_problem(await call("POST", "/rebuild"), 503)
        assert problem["detail"].startswith("the log is damaged at event 2")
        assert "backup" not in problem["detail"]
