"""An event that labels a ranked instance by its id has the text, the id and the source of it."""

import json
import time
from contextlib import asynccontextmanager

import pytest

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT, Reading, TextAnalysis
from manyclass.service.http.routes import events as event_routes
from manyclass.service.http.schemas.learn import MOST_PAIRS
from manyclass.service.store import open_store
from manyclass.service.store.sqlite.store import SqliteStore
from tests.redis_server import RedisServer
from tests.service.faulty import Clock
from tests.service.serving import assert_problem, calling, post

READING = Reading(DEFAULT_TEXT, 1000)
SECRET = "Kowalczyk"
TEXT = f"{SECRET} häs ☃ lost\nhis card"
LONG = f"{SECRET} " + 3000 * "☃ long "  # more than /review shows


def opened(folder, clock):
    return SqliteStore(folder / "store.db", clock)


def holds(folder, *names):
    """Return the files of the store that hold one of the names."""
    files = [*folder.iterdir()]
    assert files
    return [file.name for file in files for name in names if name.encode() in file.read_bytes()]


async def rank(call, **body):
    answer = await call("POST", "/rank", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def label(call, **body):
    answer = await call("POST", "/learn", {"classes": ["x"]} | body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def listed(call, query=""):
    answer = await call("GET", f"/events{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["events"]


def origin(event):
    return {name: event[name] for name in ("text", "id", "source")}


# --- what the history has -------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TEXT, LONG])
@pytest.mark.parametrize("ranked", ["alone", "in a batch", "one by one"])
@pytest.mark.parametrize("learned", ["one", "many", "stream"])
async def test_the_event_of_a_label_has_the_text_and_the_id(ranked, learned, text):
    async with calling() as call:
        instance = {"text": text, "id": "q-1", "source": "inbox"}
        if ranked == "alone":
            await rank(call, **instance)
        else:
            await rank(call, instances=[instance], explain=ranked == "one by one")
        event = {"id": "q-1", "classes": ["x"], "event_id": "e-1"}
        if learned == "one":
            await label(call, **event)
        elif learned == "many":
            assert (await call("POST", "/learn", {"events": [event]})).status_code == 200
        else:
            await call.stream(event)
        [found] = await listed(call)
        assert origin(found) == {"text": text, "id": "q-1", "source": "inbox"}
        assert (found["event_id"], found["key"], found["features"]) == ("e-1", "e-1", None)


async def test_an_id_made_here_and_features_are_kept_too():
    async with calling() as call:
        made = (await rank(call, text=TEXT))["id"]
        await label(call, id=made, source="ben")
        await rank(call, features={"a": 2}, id="q-2")
        await label(call, id="q-2")
        await label(call, features=["b"])
        third, second, first = await listed(call)
        assert origin(first) == {"text": TEXT, "id": made, "source": "ben"}
        assert origin(second) == {"text": None, "id": "q-2", "source": None}
        assert second["features"] == {"a": 2}
        assert origin(third) == {"text": None, "id": None, "source": None}


@pytest.mark.parametrize("way", ["one", "many"])
async def test_what_native_code_ranks_keeps_its_id_and_source(way):
    async with calling(native=True) as call:
        instance = {"features": {"ä": 2}, "id": "q-ä", "source": "inbox"}
        if way == "one":
            body = json.dumps(instance, ensure_ascii=False).encode()
            assert b" 200 OK" in call.app.native.rankings.answer(post("/rank", body), [])
        else:
            await rank(call, instances=[instance, {"features": ["b"]}])
        await label(call, id="q-ä")
        [found] = await listed(call)
        assert origin(found) == {"text": None, "id": "q-ä", "source": "inbox"}
        assert found["features"] == {"ä": 2}


async def test_a_retry_is_the_same_event_also_when_its_instance_is_gone():
    async with calling(late_label_seconds=60) as call:
        await rank(call, text=TEXT, id="q-1")
        await label(call, id="q-1", event_id="e-1")
        call.clock.now += 61
        assert (await label(call, id="q-1", event_id="e-1"))["duplicates"] == 1
        assert len(await listed(call)) == 1


async def test_what_is_learned_does_not_depend_on_text_and_id():
    async with calling() as one, calling() as other:
        for call, name in ((one, "q-1"), (other, "q-2")):
            await rank(call, text="a puck", id=name, source=name)
            await label(call, id=name)
        assert one.learned_digest() == other.learned_digest()


@asynccontextmanager
async def two_on_redis(folder, **settings):
    """Yield calls to two processes on one Redis server; the settings are those of the first."""

    def opened_by():
        return {"store": open_store(server.url, time.time, 5.0), "wall_clock": time.time}

    with RedisServer(folder) as server:
        async with calling(**opened_by(), **settings) as one, calling(**opened_by()) as two:
            yield one, two


async def test_the_text_comes_from_the_process_that_ranked(tmp_path):
    async with two_on_redis(tmp_path) as (one, two):
        await rank(two, text=LONG, id="q-1", source="inbox")
        seq = (await label(one, id="q-1"))["seq"]
        for call in (one, two):
            await call.settled(seq)
            [found] = await listed(call, "?id=q-1")
            assert origin(found) == {"text": LONG, "id": "q-1", "source": "inbox"}
            assert (await call("GET", "/events/q-1")).json() == found


async def test_a_restart_keeps_the_events_and_the_waiting_instances(tmp_path):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        for name in ("q-1", "q-2"):
            await rank(call, text=f"{name} {TEXT}", id=name)
        await label(call, id="q-1")
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        [found] = await listed(call)
        assert origin(found) == {"text": f"q-1 {TEXT}", "id": "q-1", "source": None}
        [waiting] = (await call("GET", "/review")).json()["instances"]
        assert (waiting["id"], waiting["text"]) == ("q-2", f"q-2 {TEXT}")
        refused = await call("POST", "/learn", {"id": "q-3", "classes": ["x"]})
        assert_problem(refused, 404, "#/id")
        await call("POST", "/snapshots")  # packs the events, and trims the log
        await call("POST", "/snapshots")
        assert (await call("GET", "/events/id:q-1")).json() == found
    assert holds(tmp_path, "q-2") == ["store.db.waiting"]


async def test_an_instance_without_a_label_never_comes_to_the_store(tmp_path):
    clock = Clock()
    store = opened(tmp_path, clock)
    async with calling(store=store, wall_clock=clock, late_label_seconds=60) as call:
        await label(call, features=["a"])
        await rank(call, text=TEXT, id="q-1")
        await call("POST", "/snapshots")
        clock.now += 61
        call.clock.now = clock.now
        assert_problem(await call("POST", "/learn", {"id": "q-1", "classes": ["x"]}), 410, "#/id")
        assert (await call("GET", "/stats")).json()["late_labels"] == {"waiting": 0, "bytes": 0}
        assert not holds(tmp_path, SECRET, "q-1")
    assert not holds(tmp_path, SECRET, "q-1")


@pytest.mark.parametrize("many", [False, True])
async def test_without_a_history_no_text_is_kept(tmp_path, many):
    clock = Clock()
    store = opened(tmp_path, clock)
    async with calling(store=store, wall_clock=clock, history=False) as call:
        instance = {"text": "the first wörd", "id": "q-1"}
        await rank(call, **({"instances": [instance]} if many else instance))
        [waiting] = (await call("GET", "/review")).json()["instances"]
        assert (waiting["text"], waiting["text_cut"]) == (None, False)
        assert "wörd" in waiting["features"]
        await label(call, id="q-1")
        [(_, payload)] = [*call.store.read(0)][-1:]
        event = Event.from_bytes(payload)
        assert (event.text, event.instance_id) == (None, None)
    assert not holds(tmp_path, "the first wörd")


async def test_a_process_without_a_history_takes_no_text_of_another(tmp_path):
    async with two_on_redis(tmp_path, history=False) as (one, two):
        await rank(two, text=TEXT, id="q-1")
        seq = (await label(one, id="q-1"))["seq"]
        await two.settled(seq)
        [found] = await listed(two)
        assert origin(found) == {"text": None, "id": None, "source": None}
        assert SECRET.lower() in found["features"]


# --- corrections, renamed classes, rebuilds -------------------------------------------------------


async def test_a_rebuild_of_amended_events_keeps_text_and_id():
    async with calling() as call:
        for name in ("q-1", "q-2"):
            await rank(call, text=f"{name} {TEXT}", id=name, source="inbox")
            await label(call, id=name, weight=2, **{"not": ["z"]})
        assert (await call("PUT", "/events/q-1", {"classes": ["y"]})).status_code == 200
        assert (await call("POST", "/classes/x", {"rename": "w"})).status_code == 200
        before = await listed(call)
        assert (await call("POST", "/rebuild")).json()["corrected"] == 1
        assert await listed(call) == before
        second, first = before
        assert origin(first) == {"text": f"q-1 {TEXT}", "id": "q-1", "source": "inbox"}
        assert origin(second) == {"text": f"q-2 {TEXT}", "id": "q-2", "source": "inbox"}
        assert (first["classes"], second["classes"]) == (["y"], ["w"])


async def test_the_rebuilt_state_is_that_of_the_same_events_taught_by_their_texts():
    async with calling() as call, calling() as other:
        for number in range(8):
            text = f"word{number % 3} and word{number % 2}"
            await rank(call, text=text, id=f"q-{number}")
            await label(call, id=f"q-{number}", classes=[f"c{number % 4}"])
            if number != 5:
                name = "c9" if number == 6 else f"c{number % 4}"
                await label(other, text=text, classes=[name])
        await call("PUT", "/events/q-6", {"classes": ["c9"]})
        await call("DELETE", "/events/q-5")
        await call("POST", "/rebuild")
        pages = [[*each.app.engine.model.learner.class_page("", "", 99)] for each in (call, other)]
        assert pages[0] == pages[1]
        answers = [(await rank(each, text="word1 and word2"))["ranked"] for each in (call, other)]
        assert answers[0] == answers[1]


# --- by the id of the instance --------------------------------------------------------------------


@pytest.mark.parametrize("key", ["q-1", "id:q-1"])
async def test_the_id_of_an_instance_is_a_key_of_its_event(key):
    async with calling() as call:
        await label(call, features=["a"])
        await rank(call, text=TEXT, id="q-1")
        await label(call, id="q-1", event_id="e-1")
        assert (await call("GET", f"/events/{key}")).json()["seq"] == 2
        assert (await call("PUT", f"/events/{key}", {"classes": ["y"]})).json()["amended"] == 2
        deleted = await call("DELETE", f"/events/{key}")
        assert deleted.json() == {"seq": 4, "deleted": 1, "waiting": 0, "more": False}
        assert_problem(await call("GET", f"/events/{key}"), 404)
        assert [each["seq"] for each in await listed(call)] == [1]


async def test_an_event_id_goes_before_the_id_of_an_instance():
    async with calling() as call:
        await rank(call, text=TEXT, id="both")
        await label(call, id="both")
        await label(call, features=["a"], event_id="both")
        for key in ("both", "id:both"):
            assert (await call("GET", f"/events/{key}")).json()["seq"] == 2
        assert [each["seq"] for each in await listed(call, "?id=both")] == [1]
        await call("DELETE", "/events/both")
        await label(call, features=["b"])
        assert (await call("GET", "/events/seq:1")).json()["id"] == "both"


async def test_the_id_of_several_events_reads_none_and_deletes_all(monkeypatch):
    monkeypatch.setattr(event_routes, "AMENDED_AT_ONCE", 2)
    async with calling() as call:
        await rank(call, text=TEXT, id="q-1")
        for name in "vwxyz":
            await label(call, id="q-1", classes=[name], event_id=name)
            await label(call, features=["a"])
        for method, body in (("GET", None), ("PUT", {"classes": ["z"]})):
            detail = assert_problem(await call(method, "/events/q-1", body), 409)["detail"]
            assert "'seq:1' is event 1, 'seq:3' is event 3" in detail
        assert [each["seq"] for each in await listed(call, "?id=q-1")] == [9, 7, 5, 3, 1]
        assert (await call("DELETE", "/events/seq:1")).json()["deleted"] == 1
        assert (await call("DELETE", "/events/q-1")).json()["deleted"] == 4
        assert [each["seq"] for each in await listed(call)] == [10, 8, 6, 4, 2]


@pytest.mark.parametrize("name", ["seq:1", "id:q-1"])
async def test_an_id_that_looks_like_another_key_is_found_behind_id(name):
    async with calling() as call:
        await label(call, features=["a"])
        await rank(call, text=TEXT, id=name)
        await label(call, id=name)
        assert (await call("GET", f"/events/id:{name}")).json()["seq"] == 2
        assert [each["seq"] for each in await listed(call, f"?id={name}")] == [2]


async def test_a_number_is_no_id():
    """A deleted event is not taken for one that labels an instance of such a name."""
    async with calling() as call:
        await label(call, features=["a"])
        await rank(call, text=TEXT, id="seq:1")
        await label(call, id="seq:1")
        await call("DELETE", "/events/seq:1")
        assert_problem(await call("DELETE", "/events/seq:1"), 404)
        assert [each["seq"] for each in await listed(call)] == [2]


# --- erasure --------------------------------------------------------------------------------------

WAYS = {
    "id": "/events/q-1",
    "event_id": "/events/e-1",
    "source": "/events?source=anna",
    "reviewer": "/events?reviewer=ben",
    "batch": "/events?batch=letters.xlsx",
    "all origins": "/events?source=anna&reviewer=ben&batch=letters.xlsx",
    "number": "/events/seq:2",
}


@pytest.mark.parametrize("undone", [False, True])
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_an_erased_label_is_left(tmp_path, way, undone):
    clock = Clock()
    secrets = (SECRET, "q-1")
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await label(call, features=["b"])
        kept = (await call("POST", "/snapshots")).json()["seq"]
        await rank(call, text=TEXT, id="q-1", source="anna")
        named = {"reviewer": "ben", "batch": "letters.xlsx"}
        await label(call, id="q-1", event_id="e-1", **named)
        await label(call, id="q-1", event_id="e-1", **named)
        if undone:
            await call("POST", f"/snapshots/{kept}/restore")
        await call("POST", "/snapshots")
        assert holds(tmp_path, *secrets)
        assert (await call("DELETE", WAYS[way])).json()["deleted"] == 1
        assert await listed(call, "?undone=yes&id=q-1") == []
        assert (await call("POST", "/rebuild")).json()["deleted"] == 1
        assert not holds(tmp_path, *secrets)
        history = call.app.engine.history
        segments = [history.reader.segment(info) for info in history.recorder.infos]
        payloads = b"".join(payload for each in segments for payload in each.payloads)
        assert not any(each.encode() in payloads for each in secrets)
    assert not holds(tmp_path, *secrets)


async def test_an_instance_that_was_erased_may_be_labelled_again_until_it_expires():
    """As docs/history.md says: instances that wait in memory are not part of the history."""
    async with calling(late_label_seconds=60) as call:
        await rank(call, text=TEXT, id="q-1")
        await label(call, id="q-1")
        await call("DELETE", "/events/q-1")
        await label(call, id="q-1")
        assert origin((await listed(call))[0])["text"] == TEXT
        await call("DELETE", "/events/q-1")
        call.clock.now += 61
        assert_problem(await call("POST", "/learn", {"id": "q-1", "classes": ["x"]}), 410, "#/id")


# --- the bytes of events --------------------------------------------------------------------------


def test_a_stamped_or_joined_event_keeps_its_text_and_id():
    event = Event.learn(Instance(["a"]), ["x"], text=TEXT, reading=READING, instance_id="q-1")
    for data in (Event.stamped(bytes(event), 7), bytes(event.join()), bytes(event)):
        read = Event.from_bytes(data)
        assert (read.text, read.instance_id) == (TEXT, "q-1")
    alone = Event.learn(Instance(["a"]), ["x"], instance_id="q-1")
    read = Event.from_bytes(Event.stamped(bytes(alone), 7))
    assert (read.time, read.text, read.instance_id) == (7, None, "q-1")
    assert json.dumps(origin_of(read.without_id())) == "[null, null, 0]"


def origin_of(event):
    return [event.text, event.instance_id, event.time]


# --- after a change of the analysis ---------------------------------------------------------------


@pytest.mark.parametrize("way", ["one", "many", "stream"])
async def test_a_label_of_many_classes_teaches_as_many_features_as_can_be_learned(way):
    """The analysis may have changed since the ranking: under this one there are more features."""
    text = " ".join(f"word{number}" for number in range(100))
    classes = [f"{number}" for number in range(1000)]  # 100,000 features times classes, then more
    async with calling(text=TextAnalysis()) as call:
        read = DEFAULT_TEXT.instance_of(text)
        assert len(read.instance) * len(classes) > MOST_PAIRS
        await rank(call, text=text, id="q-1")
        call.app.engine.model.text = DEFAULT_TEXT
        event = {"id": "q-1", "classes": classes}
        if way == "stream":
            assert (await call.stream(event))[-1]["accepted"] == 1
        else:
            body = event if way == "one" else {"events": [event]}
            answer = (await call("POST", "/learn", body)).json()
            [told] = answer["warnings"]
            assert "all after the first 200 are left out" in told["detail"]
        [found] = await listed(call)
        assert found["text"] == text
        assert call.app.engine.model.learner.features == MOST_PAIRS // len(classes)
        taught = call.learned_digest()
    async with calling(text=DEFAULT_TEXT) as call:
        await call("POST", "/learn", {"text": text, "classes": classes})
        assert call.learned_digest() == taught


async def test_a_label_of_a_text_that_was_not_kept_is_refused():
    async with calling(history=False, text=TextAnalysis()) as call:
        await rank(call, text=TEXT, id="q-1")
        await rank(call, features=["a"], id="q-2")
        call.app.engine.model.text = DEFAULT_TEXT
        refused = await call("POST", "/learn", {"id": "q-1", "classes": ["x"]})
        assert "send the label with the text" in assert_problem(refused, 410, "#/id")["detail"]
        assert (await label(call, id="q-2"))["accepted"] == 1
