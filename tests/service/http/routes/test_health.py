import asyncio
import json
import logging
from unittest.mock import Mock

import pytest

from manyclass.core.errors import LearnerHalfChanged
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.http.routes import rank
from manyclass.service.observability.out_of_memory import NOT_READY_SECONDS, OutOfMemory
from manyclass.service.store.errors import StoreFull, StoreUnavailable
from tests.service.faulty import FaultyStore
from tests.service.http.every_call import SCOPES, call_of
from tests.service.serving import KEYS, NDJSON, assert_problem, calling, side_by_side

OPEN = ["/livez", "/metrics", "/docs", "/openapi.json"]


async def test_a_proxy_gets_the_status_it_asked_for_while_there_is_no_state():
    store = FaultyStore()
    prefer = {"prefer": "not-ready=502"}
    with store.before_read.shut() as gate:
        async with calling(ready=False, store=store, rank_wait_seconds=0) as call:
            await gate.reached()
            response = await call("POST", "/rank", {"features": ["a"]}, headers=prefer)
            assert "recovering" in assert_problem(response, 502)["detail"]
            assert int(response.headers["retry-after"]) >= 1
            gate.open()
            while (await call("GET", "/readyz")).status_code == 503:
                await asyncio.sleep(0)
            unseen = {"features": ["a"], "min_seq": 1}
            response = await call("POST", "/rank", unseen, headers=prefer)
            assert_problem(response, 503)  # it is ready, and this ranking is not


async def test_while_it_recovers_only_health_and_reference_are_answered():
    store = FaultyStore()
    with store.before_read.shut() as gate:
        async with calling(ready=False, store=store) as call:
            await gate.reached()
            for path in OPEN:
                assert (await call("GET", path)).status_code == 200
            for query in ("", "?to=rank", "?to=learn"):
                response = await call("GET", f"/readyz{query}")
                assert "recovering" in assert_problem(response, 503)["detail"]
                assert int(response.headers["retry-after"]) >= 1
            for name, scope in SCOPES.items():
                if scope is not None and name != "POST /sheets":  # needs no state
                    response = await call_of(call, name, {})
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


async def test_an_engine_that_cannot_start_says_why():
    store = FaultyStore()
    async with calling(store=store) as call:
        await call.learn(("a", "x"), ("b", "y"))
    store.lose_event(1)
    store._snapshots.clear()
    async with calling(store=store, learner="ff", text=DEFAULT_TEXT) as call:
        for path in ("/readyz", "/readyz?to=rank"):
            detail = assert_problem(await call("GET", path), 503)["detail"]
            assert "damaged" in detail
        assert (await call("GET", "/livez")).status_code == 200
        assert_problem(await call("POST", "/rank", {"features": ["a"]}), 503)


async def test_is_ready_to_rank_only_while_the_store_cannot_be_reached(call, monkeypatch):
    await call.learn(("a", "x"))
    away = Mock(side_effect=StoreUnavailable("the cable is cut"))
    monkeypatch.setattr(call.store, "snapshots", away)
    for path in ("/readyz", "/readyz?to=learn"):
        detail = assert_problem(await call("GET", path), 503)["detail"]
        assert "the cable is cut" in detail
    ready = (await call("GET", "/readyz?to=rank")).json()
    assert (ready["status"], ready["seq"]) == ("ready", 1)
    assert ready["recovery"]["last_seq"] == 0


@pytest.mark.parametrize("to", ["", "?to=rank"])
async def test_a_full_store_is_told_and_ranking_goes_on(call, to):
    await call.learn(("a", "x"))
    call.store.append_error = StoreFull("/srv/store.db: no room", "make some")
    refused = await call("POST", "/learn", {"features": ["a"], "classes": ["x"]})
    assert_problem(refused, 503)
    answer = await call("GET", "/readyz" + to)
    assert answer.status_code == 200
    ready = answer.json()
    assert (ready["learns"], ready["reason"]) == (False, "store_full")
    assert ready["detail"] == "the store is full; make some"
    seen = await call.metrics()
    assert seen["store_full"] == 1
    assert [name for name in seen if name.startswith("learning_paused{") and seen[name]] == [
        'learning_paused{reason="store_full"}'
    ]
    assert (await call("POST", "/rank", {"features": ["a"]})).status_code == 200
    call.store.append_error = None
    call.app.engine.tick()
    await call.app.engine._tasks.join()
    ready = (await call("GET", "/readyz" + to)).json()
    assert (ready["learns"], ready["reason"], ready["detail"]) == (True, None, None)
    seen = await call.metrics()
    assert seen["store_full"] == 0
    assert not any(seen[name] for name in seen if name.startswith("learning_paused{"))


async def test_a_shared_store_that_is_full_or_away_is_told():
    async with side_by_side() as (one, _):
        engine, log = one.app.engine, one.store.log

        async def beaten():
            await engine.cluster.poll()
            return (await one("GET", "/readyz?to=rank")).json()

        assert (await beaten())["learns"]
        log.full = True
        assert (await beaten())["reason"] == "store_full"
        assert (await one("GET", "/readyz")).status_code == 200
        log.full, log.away = False, True
        assert (await beaten())["reason"] == "store_unavailable"
        assert (await one.metrics())['learning_paused{reason="store_unavailable"}'] == 1
        assert_problem(await one("GET", "/readyz"), 503)
        log.away = False
        assert (await beaten())["learns"]


async def test_is_ready_for_nothing_when_it_has_stopped(call):
    await call.app.engine.close()
    for what in ("rank", "learn"):
        assert_problem(await call("GET", f"/readyz?to={what}"), 503)


@pytest.mark.parametrize("what", ["", "sleep", "rank&to=sleep"])
async def test_one_is_ready_to_rank_or_to_learn(call, what):
    problem = assert_problem(await call("GET", f"/readyz?to={what}"), 422)
    assert [fault["parameter"] for fault in problem["errors"]] == ["to"]


@pytest.mark.parametrize("path", [*OPEN, "/readyz", "/readyz?to=rank"])
async def test_needs_no_key(path):
    async with calling(**KEYS) as call:
        assert (await call("GET", path)).status_code == 200


async def test_home_leads_to_the_reference(call):
    response = await call("GET", "/")
    assert response.is_redirect
    assert response.headers["location"] == "docs"


async def test_a_process_without_memory_says_so_for_a_while(call, monkeypatch, caplog):
    """As native code says it: std::bad_alloc arrives as MemoryError."""
    await call.learn(("a", "x"))
    before = call.digest()
    now = 1000.0
    metrics = call.app.api.state.metrics
    metrics.out_of_memory = OutOfMemory(lambda: now)

    fails = Mock(side_effect=MemoryError("std::bad_alloc"))
    with monkeypatch.context() as patched:
        patched.setattr(rank, "BatchRankings", Mock(of=fails, of_body=fails))
        patched.setattr(type(call.app.engine), "newest_snapshot", property(fails))
        patched.setattr(call.app.engine._pipeline.group_commit, "admit", fails)
        event = {"features": ["a"], "classes": ["x"]}
        for method, path, body in (
            ("POST", "/rank", {"features": ["a"]}),
            ("POST", "/rank", {"instances": [{"features": ["a"]}]}),
            ("POST", "/learn", event),
            ("GET", "/stats", None),
        ):
            answer = await call(method, path, body)
            assert_problem(answer, 503)
            assert int(answer.headers["retry-after"]) >= 1
        stream = json.dumps(event).encode() + b"\n"
        assert_problem(await call("POST", "/learn", stream, headers=NDJSON), 503)
    assert call.digest() == before
    assert (await call("POST", "/rank", {"features": ["a"]})).status_code == 200
    for query in ("", "?to=rank", "?to=learn"):
        assert_problem(await call("GET", "/readyz" + query), 503)
    seen = await call.metrics()
    assert seen["out_of_memory_total"] == 5
    assert seen['learning_paused{reason="memory"}'] == 1
    now += NOT_READY_SECONDS
    assert (await call("GET", "/readyz")).status_code == 200
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(errors) == 1  # and no traceback for each
    assert not errors[0].exc_info


async def test_an_event_that_finds_no_memory_to_be_applied_stops_learning(call, monkeypatch):
    """It is in the log, so the next start applies it."""

    fails = Mock(side_effect=MemoryError("std::bad_alloc"))
    monkeypatch.setattr(call.app.engine.model, "apply", fails)
    event = {"features": ["a"], "classes": ["x"]}
    assert_problem(await call("POST", "/learn", event), 503)
    problem = assert_problem(await call("GET", "/readyz"), 503)
    assert "bad_alloc" in problem["detail"]
    assert (await call.metrics())['learning_paused{reason="failed"}'] == 1
    assert (await call("POST", "/rank", {"features": ["a"]})).status_code == 200
    half_changed = Mock(side_effect=LearnerHalfChanged)
    monkeypatch.setattr(rank, "BatchRankings", Mock(of=half_changed))
    problem = assert_problem(await call("POST", "/rank", {"features": ["a"]}), 503)
    assert "restart this process" in problem["detail"]
