import asyncio

import pytest

from manyclass.service.store.protocol import StoreUnavailable
from tests.service.faulty import FaultyStore, in_loop
from tests.service.serving import NDJSON, assert_problem, calling

OPEN = ["/livez", "/metrics", "/docs", "/openapi.json"]
CLOSED = [
    ("POST", "/rank"),
    ("POST", "/learn"),
    ("GET", "/classes"),
    ("GET", "/classes/x"),
    ("DELETE", "/classes/x"),
    ("GET", "/features/x"),
    ("DELETE", "/features/x"),
    ("GET", "/stats"),
    ("GET", "/snapshots"),
    ("POST", "/snapshots"),
    ("POST", "/snapshots/0/restore"),
    ("GET", "/readyz"),
]


@in_loop
async def test_while_it_recovers_only_health_and_reference_are_answered():
    store = FaultyStore()
    with store.before_read.shut() as gate:
        async with calling(ready=False, store=store) as call:
            await gate.reached()
            for path in OPEN:
                assert (await call("GET", path)).status_code == 200
            for what in ("rank", "learn"):
                response = await call("GET", f"/readyz?to={what}")
                assert "recovering" in assert_problem(response, 503)["detail"]
                assert int(response.headers["retry-after"]) >= 1
            for method, path in CLOSED:
                body = {"features": ["a"]} if path == "/rank" else None
                response = await call(method, path, body)
                assert "recovering" in assert_problem(response, 503)["detail"]
                assert int(response.headers["retry-after"]) >= 1
            assert_problem(await call("POST", "/learn", b"", headers=NDJSON), 503)
            gate.open()
            while (await call("GET", "/readyz")).status_code == 503:
                await asyncio.sleep(0)
            ready = (await call("GET", "/readyz")).json()
            assert ready["status"] == "ready"
            assert ready["recovery"]["last_seq"] == 0
            assert (await call("POST", "/rank", {"features": ["a"]})).status_code == 200


@in_loop
async def test_an_engine_that_cannot_start_says_why():
    store = FaultyStore()
    async with calling(store=store) as call:
        await call.learn(("a", "x"), ("b", "y"))
    store.lose_event(1)
    store.inner._snapshots.clear()
    async with calling(store=store, learner="ff") as call:
        for path in ("/readyz", "/readyz?to=rank"):
            detail = assert_problem(await call("GET", path), 503)["detail"]
            assert "damaged" in detail
        assert (await call("GET", "/livez")).status_code == 200
        assert_problem(await call("POST", "/rank", {"features": ["a"]}), 503)


@in_loop
async def test_is_not_ready_while_the_store_cannot_be_reached(monkeypatch):
    async with calling() as call:

        def unreachable():
            raise StoreUnavailable("the cable is cut")

        monkeypatch.setattr(call.store, "snapshots", unreachable)
        for path in ("/readyz", "/readyz?to=learn"):
            detail = assert_problem(await call("GET", path), 503)["detail"]
            assert "the cable is cut" in detail


@in_loop
async def test_is_ready_to_rank_while_the_store_cannot_be_reached(monkeypatch):
    async with calling() as call:
        await call.learn(("a", "x"))

        def unreachable():
            raise StoreUnavailable("the cable is cut")

        monkeypatch.setattr(call.store, "snapshots", unreachable)
        ready = (await call("GET", "/readyz?to=rank")).json()
        assert (ready["status"], ready["seq"]) == ("ready", 1)
        assert ready["recovery"]["last_seq"] == 0


@in_loop
async def test_is_ready_for_nothing_when_it_has_stopped():
    async with calling() as call:
        await call.app.engine.close()
        for what in ("rank", "learn"):
            assert_problem(await call("GET", f"/readyz?to={what}"), 503)


@pytest.mark.parametrize("what", ["", "sleep", "rank&to=sleep"])
@in_loop
async def test_one_is_ready_to_rank_or_to_learn(what):
    async with calling() as call:
        problem = assert_problem(await call("GET", f"/readyz?to={what}"), 422)
        assert [fault["parameter"] for fault in problem["errors"]] == ["to"]


@pytest.mark.parametrize("path", [*OPEN, "/readyz", "/readyz?to=rank"])
@in_loop
async def test_needs_no_key(path):
    async with calling(rank_keys=("r",), learn_keys=("l",), admin_keys=("a",)) as call:
        assert (await call("GET", path)).status_code == 200


@in_loop
async def test_home_leads_to_the_reference():
    async with calling() as call:
        response = await call("GET", "/")
        assert response.is_redirect
        assert response.headers["location"] == "docs"
