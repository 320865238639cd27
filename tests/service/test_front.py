import logging

import pytest

from service.errors import ClientGone
from service.front import Front
from service.metrics import Metrics
from tests.service.faulty import in_loop
from tests.service.serving import Conversation, assert_problem, calling


@in_loop
async def test_what_nobody_foresaw_is_logged_and_tells_nothing(monkeypatch, caplog):
    async with calling() as call:

        def broken(*arguments):
            raise RuntimeError("secret detail")

        monkeypatch.setattr(call.app.engine.model, "rank", broken)
        monkeypatch.setattr(type(call.app.engine), "newest_snapshot", property(broken))
        for method, path, body in (
            ("POST", "/rank", {"features": ["a"]}),
            ("POST", "/rank", {"instances": [{"features": ["a"]}]}),
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


@in_loop
async def test_a_client_that_left_is_counted_and_not_answered():
    metrics = Metrics()

    async def hot(headers, receive, send):
        raise ClientGone

    talk = Conversation(Front({"/rank": hot}, None, metrics), "/rank", {})
    assert await talk.end() is None
    text = str([family.samples for family in metrics.collect()])
    assert "'status': '499'" in text


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
@in_loop
async def test_other_methods_of_a_hot_path_are_refused(method):
    async with calling() as call:
        response = await call(method, "/rank")
        assert response.status_code == 405
        assert response.headers["allow"] == "POST"
