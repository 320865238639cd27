import gc
import logging
from unittest.mock import Mock

import pytest

from manyclass.service.http.request_body import Blocks
from manyclass.service.http.routes import rank
from tests.service.asgi_client import AsgiClient
from tests.service.faulty import many_turns
from tests.service.serving import Conversation, assert_problem, calling


async def test_an_unforeseen_error_is_logged_and_reveals_nothing(call, monkeypatch, caplog):
    broken = Mock(side_effect=RuntimeError("secret detail"))
    monkeypatch.setattr(rank, "BatchRankings", Mock(of=broken))
    monkeypatch.setattr(call.app.engine.model, "answer", broken)
    monkeypatch.setattr(type(call.app.engine), "newest_snapshot", property(broken))
    for method, path, body in (
        ("POST", "/rank", {"features": ["a"]}),
        ("POST", "/rank", {"instances": [{"features": ["a"]}], "explain": True}),
        ("GET", "/stats", None),
    ):
        caplog.clear()
        response = await call(method, path, body)
        assert_problem(response, 500)
        assert "secret" not in response.text
        [record] = [each for each in caplog.records if each.levelno >= logging.ERROR]
        assert "secret detail" in str(record.exc_info[1])
    monkeypatch.undo()
    seen = await call.metrics()
    assert seen['request_duration_seconds_count{endpoint="/stats",status="500"}'] == 1


async def test_a_client_that_left_is_counted_and_not_answered(call):
    talk = Conversation(call.app, "/rank", {"content-type": "application/json"})
    talk.leave()
    assert await talk.end() is None
    seen = await call.metrics()
    assert seen['request_duration_seconds_count{endpoint="/rank",status="499"}'] == 1


async def test_a_call_below_the_path_of_a_proxy_is_answered(call):
    call.client = AsgiClient(call.app, root_path="/ranking")
    response = await call("POST", "/ranking/rank", {"features": ["a"]})
    assert response.status_code == 200
    seen = await call.metrics()
    assert seen['request_duration_seconds_count{endpoint="/rank",status="200"}'] == 1


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
async def test_other_methods_of_a_call_are_refused(call, method):
    response = await call(method, "/rank")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/rank"), ("POST", "/snapshots"), ("GET", "/stats")]
)
@pytest.mark.parametrize("keys", [{}, {"admin_keys": ("a",)}])
async def test_two_keys_are_one_too_many(method, path, keys):
    """Refuse two keys on every route, no matter which of them is valid."""
    async with calling(**keys) as call:
        for pair in (("a", "b"), ("b", "a"), ("a", "a")):
            headers = [("Authorization", f"Bearer {key}") for key in pair]
            response = await call.client.request(method, path, headers=headers)
            assert_problem(response, 400)
            assert "authorization" in response.json()["detail"]
        assert call.app.engine.model.seq == 0


CHANGES = [
    ("POST", "/snapshots"),
    ("POST", "/snapshots/1/restore"),
    ("DELETE", "/classes/x"),
    ("DELETE", "/features/a"),
    ("POST", "/learn"),
    ("POST", "/rank"),
    ("OPTIONS", "/snapshots"),
]


@pytest.mark.parametrize(("method", "path"), CHANGES)
@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"origin": "https://elsewhere.example"},
        {"host": "elsewhere.example"},
    ],
)
async def test_a_web_page_of_elsewhere_changes_nothing(call, method, path, headers):
    await call.learn(("a", "x"))
    before = call.digest(), (await call("GET", "/snapshots")).json()
    body = {"features": ["a"], "classes": ["y"]} if path == "/learn" else None
    assert_problem(await call(method, path, body, headers=headers), 403)
    assert (call.digest(), (await call("GET", "/snapshots")).json()) == before


@pytest.mark.parametrize("path", ["/stats", "/classes", "/snapshots", "/openapi.json", "/livez"])
async def test_a_page_whose_name_leads_here_reads_nothing(path):
    async with calling() as call, calling(rank_keys=("r",)) as closed:
        assert_problem(await call("GET", path, headers={"host": "elsewhere.example"}), 403)
        assert (await call("GET", path, headers={"host": "localhost:8000"})).status_code == 200
        known = await closed("GET", path, headers={"host": "elsewhere.example"})
        assert known.status_code in (200, 401)


async def test_refusals_of_origins_are_counted(call):
    await call("POST", "/rank", headers={"origin": "null"})
    await call("POST", "/snapshots", headers={"origin": "null"})
    seen = await call.metrics()
    for endpoint in ("/rank", "unknown"):
        name = f'request_duration_seconds_count{{endpoint="{endpoint}",status="403"}}'
        assert seen[name] == 1


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/rank", "application/json"),
        ("/learn", "application/json"),
        ("/learn", "application/x-ndjson"),
    ],
)
async def test_the_bytes_of_a_refused_request_are_freed_at_once(path, kind):
    """Memory is freed at once, not at the next garbage collection."""
    async with calling(max_body_bytes=2000) as call:
        gc.collect()
        gc.disable()
        try:
            talk = Conversation(call.app, path, {"content-type": kind})
            talk.say(b'{"features":["a"],"classes":["x"]}\n')
            await many_turns()
            call.app.limits.budget.limit = 1000
            talk.say(b" " * 1500)
            await talk.end()
            talk.task = None
            await many_turns()
            assert not [each for each in gc.get_objects() if isinstance(each, Blocks)]
        finally:
            gc.enable()
        assert call.app.limits.budget.refused == 1
        assert call.app.limits.budget.used == 0


async def test_without_room_for_fastapi_only_the_health_check_is_answered(call, monkeypatch):
    monkeypatch.setattr(call.app._metrics.out_of_memory, "_has_room", lambda: False)
    assert (await call("GET", "/livez")).json() == {"status": "live"}
    assert (await call("HEAD", "/livez")).status_code == 200
    for method, path in (("GET", "/readyz"), ("GET", "/stats"), ("POST", "/livez")):
        assert_problem(await call(method, path), 503)
    monkeypatch.undo()
    seen = await call.metrics()
    assert seen['request_duration_seconds_count{endpoint="/livez",status="200"}'] == 2
