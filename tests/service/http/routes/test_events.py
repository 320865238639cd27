"""The events of the history by their keys, and pages of large ones."""

import pytest

from manyclass.core.dedup_window import DedupWindow
from manyclass.service.http.routes import events
from tests.service.serving import calling


async def teach(call, *features, **fields):
    body = {"features": features, "classes": ["x"]} | fields
    answer = await call("POST", "/learn", body)
    assert answer.status_code == 200, answer.text


async def listed(call, query=""):
    answer = await call("GET", f"/events{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("event_id", ["seq:2", "seq:two", "an id", "seq:"])
async def test_a_key_finds_its_event(event_id):
    async with calling() as call:
        await teach(call, "a", event_id=event_id)
        await teach(call, "b")
        [_, first] = (await listed(call))["events"]
        assert (await call("GET", f"/events/{first['key']}")).json()["seq"] == 1
        assert (await call("DELETE", f"/events/{first['key']}")).status_code == 200
        assert [each["seq"] for each in (await listed(call))["events"]] == [2]


async def test_the_key_of_an_event_whose_id_is_forgotten_is_its_number():
    async with calling() as call:
        call.app.engine.model.recent = DedupWindow(1)
        await teach(call, "a", event_id="one")
        await teach(call, "b", event_id="two")
        assert [each["key"] for each in (await listed(call))["events"]] == ["two", "seq:1"]


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_a_page_of_large_events_is_shorter(monkeypatch, order):
    monkeypatch.setattr(events, "PAGE_BYTES", 100)
    async with calling() as call:
        for each in range(7):
            await teach(call, *(f"feature {each} {at}" for at in range(20)))
        seqs, after = [], ""
        while True:
            page = await listed(call, f"?order={order}{after}")
            assert len(page["events"]) <= 1
            seqs += [each["seq"] for each in page["events"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert seqs == (list(range(7, 0, -1)) if order == "newest" else list(range(1, 8)))


async def test_the_events_of_a_source_are_deleted_in_parts(monkeypatch):
    monkeypatch.setattr(events, "AMENDED_AT_ONCE", 2)
    monkeypatch.setattr(events, "MOST_DELETED", 5)
    async with calling() as call:
        for each in range(14):
            await teach(call, f"f{each}", source="ann" if each % 2 else "ben")
        found = (await call("DELETE", "/events?source=ann")).json()
        assert found == {"seq": 19, "deleted": 5, "more": True}
        found = (await call("DELETE", "/events?source=ann")).json()
        assert found == {"seq": 21, "deleted": 2, "more": False}
        assert {each["source"] for each in (await listed(call))["events"]} == {"ben"}
