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
