"""POST /rebuild under another analysis of texts: by the event loop, by workers, in every call."""

import httpx
import pytest

from manyclass.client.client import Client
from manyclass.core.text import ALLOWED, DEFAULT_TEXT, TextAnalysis
from tests.service.faulty import FaultyStore
from tests.service.serving import NDJSON, assert_problem, calling, serving

WIDE = "words+pairs+characters+unmarked+symbols"
EVENTS = [
    {"text": "the goalie saved it", "classes": ["hockey"]},
    {"text": "a café with c++", "classes": ["code", "food"], "event_id": "e-1"},
    {"text": {"title": "naïve", "body": "the match"}, "classes": ["hockey"], "weight": 2.5},
    {"text": "not a match", "classes": ["code"], "not": ["hockey"], "source": "ann"},
    {"features": {"goalie": 2}, "classes": ["hockey"], "event_id": "e-2"},
    {"text": "again and again", "classes": ["food"], "event_id": "e-3"},
]
WAITING = [
    {"text": "l'été à la café", "id": "q-1"},
    {"text": {"title": "c#", "body": "late"}, "id": "q-2"},
    {"features": ["goalie"], "id": "q-3"},
]


class Service:
    """A service, asked over HTTP."""

    def __init__(self, client):
        self._client = client

    def __call__(self, method, path, body=None):
        answer = self._client.request(method, path, json=body)
        answer.raise_for_status()
        return answer

    def teach(self):
        """Teach the events in every call, and rank what is labelled later."""
        for event in EVENTS:
            self("POST", "/learn", event)
        many = [each | {"event_id": f"many {at}"} for at, each in enumerate(EVENTS)]
        self("POST", "/learn", {"events": many})
        lines = "".join(f"{each}\n" for each in ('{"text":"c++ lines","classes":["code"]}',) * 2)
        self._client.post("/learn", content=lines, headers=NDJSON).raise_for_status()
        for instance in WAITING[1:]:
            self("POST", "/rank", instance)
        self("POST", "/rank", {"instances": WAITING[:1]})

    def go_on(self):
        """Label what was ranked, repeat what was taught, and teach more."""
        for at, instance in enumerate(WAITING):
            self("POST", "/learn", {"id": instance["id"], "classes": [f"late {at}"]})
        for event in EVENTS:
            answer = self("POST", "/learn", event).json()
            assert answer["duplicates"] == ("event_id" in event)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("spec", ["words", WIDE])
def test_the_state_is_that_of_a_service_begun_with_it(workers, spec):
    states = []
    for begun in (DEFAULT_TEXT, TextAnalysis.parse(spec)):
        store = FaultyStore()
        with (
            serving(opened=store, text=begun, workers=workers, native=True) as served,
            httpx.Client(base_url=served.url, timeout=60) as asked,
            Client(served.url) as client,
        ):
            service = Service(asked)
            service.teach()
            if begun == DEFAULT_TEXT:
                report = client.rebuild(text=spec)
                assert (report.text, report.base) == (spec, 0)
                assert service("GET", "/rebuild").json()["last"]["text"] == spec
            service.go_on()
            stats = service("GET", "/stats").json()
            assert stats["settings"]["MANYCLASS_TEXT"] == spec
            states.append(service("GET", "/state").content)
    assert states[0] == states[1]


async def test_a_wrong_analysis_says_which_parts_there_are():
    async with calling() as call:
        refused = await call("POST", "/rebuild", {"text": "words+letters"})
        problem = assert_problem(refused, 422, "#/text")
        assert ALLOWED in problem["detail"]
        for wrong in (7, ["words"], {"title": "words"}):
            problem = assert_problem(await call("POST", "/rebuild", {"text": wrong}), 422, "#/text")
            assert "`text` must be the parts of an analysis of texts" in problem["detail"]
        assert_problem(await call("POST", "/rebuild", {"texts": "words"}), 422, "#/texts")
        assert_problem(await call("POST", "/rebuild", []), 422)
        assert_problem(await call("POST", "/rebuild?text=words"), 422)
        plain = {"content-type": "text/plain"}
        assert_problem(await call("POST", "/rebuild", b"words", headers=plain), 415)


async def test_without_a_body_or_members_it_is_an_ordinary_rebuild():
    async with calling() as call:
        await call("POST", "/learn", EVENTS[0])
        for body in (None, {}, {"text": None, "learner": None}, {"text": str(DEFAULT_TEXT)}):
            report = (await call("POST", "/rebuild", body)).json()
            assert (report["events"], report["text"]) == (1, str(DEFAULT_TEXT))


async def test_a_service_without_a_history_says_what_it_needs():
    async with calling(history=False) as call:
        problem = assert_problem(await call("POST", "/rebuild", {"text": "words"}), 404)
        assert "it needs MANYCLASS_HISTORY=yes and a store" in problem["detail"]


@pytest.mark.parametrize("native", [True, False])
async def test_texts_that_were_taught_without_a_history_are_refused_by_name(native):
    """The events say that their instances were texts, in every call."""
    store = FaultyStore()
    async with calling(store=store, history=False, native=native) as call:
        await call("POST", "/learn", EVENTS[0])
        await call("POST", "/learn", EVENTS[1])
        await call("POST", "/learn", {"features": ["a"], "classes": ["x"]})
        await call("POST", "/rank", WAITING[0])
        await call("POST", "/learn", {"id": "q-1", "classes": ["x"]})
        assert (await call("POST", "/learn", EVENTS[1])).json()["duplicates"] == 1
        payloads = [payload for _, payload in store.read(0)]
        assert not any(b"goalie saved it" in each or b"with c++" in each for each in payloads)
    async with calling(store=store, native=native) as call:
        assert (await call("POST", "/learn", EVENTS[1])).json()["duplicates"] == 1
        problem = assert_problem(await call("POST", "/rebuild", {"text": WIDE}), 409)
        assert "3 events were made from a text that was not kept" in problem["detail"]
        assert "seq:1, seq:2, seq:4. Delete each" in problem["detail"]
        for seq in (1, 2, 4):
            assert (await call("DELETE", f"/events/seq:{seq}")).status_code == 200
        assert (await call("POST", "/rebuild", {"text": WIDE})).json()["events"] == 1


async def test_waiting_instances_are_reviewed_by_the_present_analysis():
    async with calling() as call:
        await call("POST", "/learn", EVENTS[0])
        await call("POST", "/rank", {"text": "the goalie " + "x " * 5000, "id": "q-1"})
        await call("POST", "/rebuild", {"text": "words"})
        [waiting] = (await call("GET", "/review?learner=svm")).json()["instances"]
        assert set(waiting["features"]) == {"the", "goalie", "x"}
        assert waiting["text_cut"]


@pytest.mark.parametrize("kind", ["features", "text"])
async def test_an_instance_is_corrected_to_no_more_classes_than_it_can_have(kind):
    async with calling() as call:
        words = [f"word{number}" for number in range(300)]
        given = words if kind == "features" else " ".join(words)
        await call("POST", "/learn", {kind: given, "classes": ["wrong"]})
        answer = await call("PUT", "/events/seq:1", {"classes": [str(each) for each in range(999)]})
        assert_problem(answer, 422, "#/classes")


async def test_a_corrected_event_is_that_of_the_present_analysis():
    async with calling(learner="svm(replay=4)") as call:
        for event in EVENTS[:4]:
            await call("POST", "/learn", event)
        await call("POST", "/rebuild", {"text": WIDE})
        await call("PUT", "/events/seq:1", {"classes": ["food"]})
        await call("DELETE", "/events/seq:3")
        async with calling(learner="svm(replay=4)", text=TextAnalysis.parse(WIDE)) as begun:
            for event in EVENTS[:4]:
                await begun("POST", "/learn", event)
            await begun("PUT", "/events/seq:1", {"classes": ["food"]})
            await begun("DELETE", "/events/seq:3")
            assert (await call("GET", "/state")).content == (await begun("GET", "/state")).content


@pytest.mark.parametrize("history", [True, False])
async def test_a_merge_says_that_a_rebuild_follows(history):
    async with calling(history=history) as call:
        await call.learn(("a", "x"), ("b", "y"), ("c", "z"))
        body = {"rename": "w"}
        assert (await call("POST", "/classes/z", body)).json() == {"seq": 4, "rebuilds": False}
        body = {"merge_into": "y"}
        assert (await call("POST", "/classes/x", body)).json() == {"seq": 5, "rebuilds": history}
        body = {"release": True}
        assert (await call("POST", "/classes/z", body)).json() == {"seq": 6, "rebuilds": history}
        if history:
            assert (await call("GET", "/rebuild")).json()["merged"] == 6
            assert (await call("POST", "/rebuild")).status_code == 200
            assert (await call("GET", "/rebuild")).json()["merged"] is None
