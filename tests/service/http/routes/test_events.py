"""The events of the history by their keys, and pages of large ones."""

import pytest

from manyclass.core.dedup_window import DedupWindow
from manyclass.service.http.routes import events
from tests.service.serving import assert_problem, calling


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


@pytest.mark.parametrize("event_id", ["seq:1", "seq:01", "id:e-1"])
async def test_an_id_that_looks_like_another_key_is_never_taken_for_it(event_id):
    async with calling() as call:
        await teach(call, "a", event_id="e-1")
        await teach(call, "b", event_id=event_id)
        for method, body in (("GET", None), ("PUT", {"classes": ["y"]}), ("DELETE", None)):
            refused = await call(method, f"/events/{event_id}", body)
            assert refused.status_code == 409
            assert "more than one event" in refused.json()["detail"]
            assert "'seq:2' is event 2" in refused.json()["detail"]
        assert [each["classes"] for each in (await listed(call))["events"]] == [["x"], ["x"]]
        assert (await call("GET", f"/events/id:{event_id}")).json()["seq"] == 2
        keys = [each["key"] for each in (await listed(call))["events"]]
        assert [(await call("GET", f"/events/{key}")).json()["seq"] for key in keys] == [2, 1]
        assert (await call("DELETE", f"/events/id:{event_id}")).status_code == 200
        assert [each["event_id"] for each in (await listed(call))["events"]] == ["e-1"]


async def test_every_event_has_a_key_whatever_ids_there_are():
    ids = ["seq:1", "seq:01", "seq:2", "seq:4", "id:seq:1", "id:id:seq:1", "id:"]
    async with calling() as call:
        await teach(call, "a")
        for each in ids:
            await teach(call, "b", event_id=each)
        found = (await listed(call))["events"]
        assert len(found) == 8
        for each in found:
            assert (await call("GET", f"/events/{each['key']}")).json()["seq"] == each["seq"]
        refused = (await call("DELETE", "/events/seq:1")).json()["detail"]
        assert "'seq:001' is event 1" in refused
        assert (await call("DELETE", "/events/seq:001")).status_code == 200
        assert {each["event_id"] for each in (await listed(call))["events"]} == set(ids)


@pytest.mark.parametrize(
    "number", ["\u0661", "\uff11", "\u00b9", "+1", " 1", "1_0", "-1", "1.0", ""]
)
async def test_only_ascii_digits_are_the_number_of_an_event(number):
    async with calling() as call:
        await teach(call, "a", event_id="e-1")
        for method in ("GET", "DELETE"):
            assert (await call(method, f"/events/seq:{number}")).status_code == 404
        assert len((await listed(call))["events"]) == 1


@pytest.mark.parametrize("number", ["0", "2", "9" * 19, "9" * 30, "9" * 5000])
async def test_a_number_that_no_event_has_is_unknown(number):
    async with calling() as call:
        await teach(call, "a")
        assert (await call("GET", f"/events/seq:{number}")).status_code in (404, 422)


async def _undone(call, *events):
    """Teach an event, then others that a restore undoes."""
    await teach(call, "a", event_id="kept", source="ben")
    kept = (await call("POST", "/snapshots")).json()["seq"]
    for features, fields in events:
        await teach(call, *features.split(), **fields)
    answer = await call("POST", f"/snapshots/{kept}/restore")
    assert answer.status_code == 200, answer.text


async def test_events_that_a_restore_has_undone_are_listed_when_asked_for():
    async with calling() as call:
        await _undone(call, ("b", {"source": "anna"}), ("c", {"event_id": "two"}))
        assert [each["event_id"] for each in (await listed(call))["events"]] == ["kept"]
        found = (await listed(call, "?undone=yes"))["events"]
        assert [(each["seq"], each["undone"]) for each in found] == [
            (3, True),
            (2, True),
            (1, False),
        ]
        assert (await listed(call, "?source=anna"))["events"] == []
        assert [
            each["seq"] for each in (await listed(call, "?undone=yes&source=anna"))["events"]
        ] == [2]
        for key in ("two", "seq:3", found[0]["key"]):
            assert (await call("GET", f"/events/{key}")).json() == found[0]
            refused = await call("PUT", f"/events/{key}", {"classes": ["y"]})
            assert refused.status_code == 409
            assert "restore has undone event 3" in refused.json()["detail"]


@pytest.mark.parametrize("key", ["two", "id:two", "seq:3"])
async def test_an_event_that_a_restore_has_undone_is_deleted_by_its_key(key):
    async with calling() as call:
        await _undone(call, ("b", {"source": "anna"}), ("c", {"event_id": "two"}))
        digest = call.app.engine.model.learner.dump
        before = {name: each.tobytes() for name, each in digest().items()}
        assert (await call("DELETE", f"/events/{key}")).json()["deleted"] == 1
        assert {name: each.tobytes() for name, each in digest().items()} == before
        assert [each["seq"] for each in (await listed(call, "?undone=yes"))["events"]] == [2, 1]
        assert (await call("GET", f"/events/{key}")).status_code == 404
        assert (await call("DELETE", f"/events/{key}")).status_code == 404


async def test_all_events_of_an_id_are_deleted_also_those_of_before_a_restore():
    async with calling() as call:
        await _undone(call, ("b", {"event_id": "two"}))
        await teach(call, "c", event_id="two")
        found = (await call("GET", "/events/two")).json()
        assert (found["seq"], found["undone"]) == (4, False)
        assert (await call("DELETE", "/events/two")).json()["deleted"] == 2
        assert [each["seq"] for each in (await listed(call, "?undone=yes"))["events"]] == [1]


async def test_the_id_of_an_undone_event_is_not_taken_for_a_number():
    async with calling() as call:
        await _undone(call, ("b", {"event_id": "seq:1"}))
        refused = await call("DELETE", "/events/seq:1")
        assert refused.status_code == 409
        assert "'seq:01' is event 1" in refused.json()["detail"]
        assert (await call("GET", "/events/seq:01")).json()["seq"] == 1
        assert (await call("DELETE", "/events/id:seq:1")).json()["deleted"] == 1
        assert [each["seq"] for each in (await listed(call, "?undone=yes"))["events"]] == [1]


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


async def test_events_are_listed_and_deleted_by_source_reviewer_and_batch():
    origins = [
        {"source": "mail", "reviewer": "anna", "batch": "a.csv"},
        {"source": "mail", "reviewer": "ben", "batch": "a.csv"},
        {"source": "phone", "reviewer": "anna", "batch": "b.csv"},
        {"source": "anna", "batch": "ben", "reviewer": "mail"},
        {},
    ]
    async with calling() as call:
        for origin in origins:
            await teach(call, "a", **origin)
        shown = (await listed(call, "?order=oldest"))["events"]
        names = ("source", "reviewer", "batch")
        assert [{name: each[name] for name in names if each[name]} for each in shown] == origins

        async def found(query):
            return [
                each["seq"] for each in (await listed(call, f"?order=oldest&{query}"))["events"]
            ]

        assert await found("reviewer=anna") == [1, 3]
        assert await found("batch=a.csv") == [1, 2]
        assert await found("reviewer=anna&batch=a.csv&source=mail") == [1]
        assert await found("reviewer=an") == []
        assert (await call("DELETE", "/events?reviewer=anna&batch=b.csv")).json()["deleted"] == 1
        assert (await call("DELETE", "/events?batch=a.csv")).json()["deleted"] == 2
        assert await found("") == [4, 5]


@pytest.mark.parametrize("query", ["", "?source=", "?reviewer=", f"?batch={'n' * 4097}"])
async def test_a_delete_needs_the_name_of_an_origin(query):
    async with calling() as call:
        await teach(call, "a")
        assert_problem(await call("DELETE", f"/events{query}"), 422)
        assert len((await listed(call))["events"]) == 1


async def test_the_events_of_a_source_are_deleted_in_parts(monkeypatch):
    monkeypatch.setattr(events, "AMENDED_AT_ONCE", 2)
    monkeypatch.setattr(events, "MOST_DELETED", 5)
    async with calling() as call:
        for each in range(14):
            await teach(call, f"f{each}", source="ann" if each % 2 else "ben")
        found = (await call("DELETE", "/events?source=ann")).json()
        assert found == {"seq": 19, "deleted": 5, "waiting": 0, "more": True}
        found = (await call("DELETE", "/events?source=ann")).json()
        assert found == {"seq": 21, "deleted": 2, "waiting": 0, "more": False}
        assert {each["source"] for each in (await listed(call))["events"]} == {"ben"}


async def test_events_are_found_by_words_of_their_texts_features_and_origins():
    async with calling() as call:
        events = [
            {"text": "Frau MÜLLER fragt nach dem Hund", "classes": ["x"], "source": "letter"},
            {"text": {"title": "Müll", "body": "wohin damit"}, "classes": ["x"]},
            {"features": ["hund", "katze"], "classes": ["x"], "event_id": "K-77"},
            {"text": "nichts", "classes": ["hund"], "reviewer": "Ann", "batch": "Hundesteuer.xlsx"},
            {"text": "ΑΘΗΝΑ по-русски ПриВет", "classes": ["x"]},
            {"text": "Straße, Jose\u0301 \uff21\uff22\uff23", "classes": ["x"], "source": "Zoë"},
            {"text": "नमस्ते कार्ड · بِطَاقَة · カードがまだ 😀", "classes": ["x"]},
        ]
        assert (await call("POST", "/learn", {"events": events})).status_code == 200
        for words, found in {
            "muller": [1],  # without the accents of the text
            "mull": [2, 1],
            "STRASSE josé": [6],
            "abc jose": [6],
            "zoe": [6],
            "कार्ड": [7],
            "بطاقة": [7],
            "ｶｰﾄﾞ": [7],
            "😀": [7],
            "hund": [4, 3, 1],
            "HUND frau": [1],
            "müll": [2, 1],
            "title": [],  # the name of a field
            "k-77": [3],
            "ann": [4],
            "letter": [1],
            "αθηνα": [5],
            "привет": [5],
            "frau wohin": [],
            "%20": [7, 6, 5, 4, 3, 2, 1],  # no word at all
        }.items():
            listing = await listed(call, f"?text={words}")
            assert [each["seq"] for each in listing["events"]] == found, words
        await call("PUT", "/events/seq:1", {"classes": ["y"]})
        [corrected] = (await listed(call, "?text=müller&class=y"))["events"]
        assert corrected["seq"] == 1
