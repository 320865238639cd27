import time
from unittest.mock import Mock

import pytest

from manyclass.core.errors import CoreError
from manyclass.service.config.settings import Settings
from manyclass.service.http.app import create_app
from manyclass.service.store.errors import StoreError
from tests.service.faulty import Clock, FaultyStore
from tests.service.serving import assert_problem, calling


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/nowhere", 404, None),
        ("POST", "/rank/", 404, None),
        ("GET", "/learn", 405, "POST"),
        ("POST", "/stats", 405, "GET, HEAD"),
        ("PATCH", "/classes/a/b", 405, "DELETE, GET, HEAD, POST, PUT"),
        ("PUT", "/snapshots", 405, "GET, HEAD, POST"),
        ("OPTIONS", "/livez", 405, "GET, HEAD"),
        ("POST", "/", 405, "GET, HEAD"),
        ("PUT", "/openapi.json", 405, "GET, HEAD"),
        ("PUT", "/console/app.js", 405, "GET, HEAD"),
        ("GET", "/snapshots/1/restore", 405, "POST"),
        ("DELETE", "/docs", 405, "GET, HEAD"),
    ],
)
async def test_paths_and_methods_that_are_not_there(call, method, path, status, allow):
    response = await call(method, path)
    assert_problem(response, status)
    assert "/docs" in response.json()["detail"]
    allowed = response.headers.get("allow")
    assert (allowed and sorted(allowed.split(", "))) == (allow and allow.split(", "))


async def test_the_log_says_why_the_service_failed_to_answer(call, monkeypatch, caplog):
    broken = Mock(side_effect=CoreError("nobody foresaw this"))
    monkeypatch.setattr(call.app.engine, "snapshots", broken)
    assert_problem(await call("GET", "/snapshots"), 500)
    [told] = [each for each in caplog.records if each.message == "GET /snapshots failed"]
    assert str(told.exc_info[1]) == "nobody foresaw this"


async def test_closing_the_app_closes_engine_and_store():
    store = FaultyStore()
    async with calling(store=store) as call:
        await call.learn(("a", "x"))
        app = call.app
    assert app.engine.status == "closed"
    assert store.closed
    assert [info.seq for info in store.snapshots()] == [1, 0]


async def test_closing_while_it_recovers():
    store = FaultyStore()
    async with calling(ready=False, store=store) as call:
        app = call.app
    assert app.engine.status == "closed"
    assert store.closed


def test_opens_the_store_the_settings_name(tmp_path):
    path = tmp_path / "deep" / "my.db"
    app = create_app(Settings(store=f"sqlite:{path}"))
    assert path.exists()
    assert app.engine._restorer._runtime.clock is time.monotonic  # snapshots and late labels
    app.engine.store.close()
    with pytest.raises(StoreError):
        create_app(Settings(store="nowhere:"))


@pytest.mark.parametrize("set_by", [-1e6, 1e6])
async def test_a_wall_clock_that_is_set_neither_stops_snapshots_nor_expires_labels(set_by):
    wall_clock = Clock()
    settings = {"snapshot_events": 0, "snapshot_seconds": 60, "late_label_seconds": 100}
    async with calling(wall_clock=wall_clock, **settings) as call:
        snapshots = call.app.engine._pipeline.schedule
        label = {"id": "i", "classes": ["a"]}
        for name in ("i", "j"):
            await call("POST", "/rank", {"features": ["f"], "id": name})
        await call.learn(("f", "a"))
        wall_clock.now += set_by
        assert not snapshots.due()
        assert (await call("POST", "/learn", label)).status_code == 200
        call.clock.now += 61
        assert snapshots.due()
        call.clock.now += 40
        assert (await call("POST", "/learn", label | {"id": "j"})).status_code == 410
        await snapshots.take()
        wall_clock.now -= set_by
        assert (await call.metrics())["snapshot_age_seconds"] >= 0
