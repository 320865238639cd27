"""Delayed labels, sent to another process than the one that ranked the instance."""

import asyncio
import json
from unittest.mock import Mock

import pytest

from manyclass.service.ingest import peer_lookup
from manyclass.service.ingest.peer_messages import Question, opened
from manyclass.service.store.errors import CommitOutcomeUnknown, StoreUnavailable
from tests.service.faulty import PATIENCE
from tests.service.serving import NDJSON, assert_problem, calling, side_by_side
from tests.service.shared import SharedLog

PLACES = {"one": "#/id", "many": "#/events/1/id", "stream": "#/id"}
EVENT = {"features": ["z"], "classes": ["z"]}


def count_posts(call, monkeypatch):
    """Return a list that collects the recipients of questions from now on."""
    posted = []
    post = call.store.post

    def counting(letters):
        posted.extend(name for name, body in letters if isinstance(opened(body), Question))
        post(letters)

    monkeypatch.setattr(call.store, "post", counting)
    return posted


def cut(call, monkeypatch):
    """Make every post of peer messages fail from now on."""
    unreachable = Mock(side_effect=StoreUnavailable("the cable is cut"))
    monkeypatch.setattr(call.store, "post", unreachable)


async def label(call, how, **event):
    """Send the label alone, or behind another event."""
    match how:
        case "one":
            return await call("POST", "/learn", event)
        case "many":
            return await call("POST", "/learn", {"events": [EVENT, event]})
        case "stream":
            body = b"".join(json.dumps(each).encode() + b"\n" for each in (EVENT, event))
            return await call("POST", "/learn", body, headers=NDJSON)


@pytest.mark.parametrize("how", PLACES)
async def test_teaches_what_another_process_ranked(how):
    async with side_by_side() as (one, two), calling() as other:
        made = await two.ranked_id("a b b")
        two.clock.now += 5
        assert (await label(one, how, id=made, classes=["x"])).status_code == 200
        await label(other, how, features={"a": 1, "b": 2}, classes=["x"])
        assert one.learned_digest() == other.learned_digest()
        asked, told = await one.metrics(), await two.metrics()
        assert (asked["label_delay_seconds_count"], asked["label_delay_seconds_sum"]) == (1, 5)
        assert asked['peer_lookups_total{result="found"}'] == 1
        assert told["label_delay_seconds_count"] == 0


async def test_the_order_of_events_does_not_depend_on_the_ranking_process(monkeypatch):
    async with side_by_side() as (one, two), calling() as other:
        posted = count_posts(one, monkeypatch)
        far, near = await two.ranked_id("a"), await one.ranked_id("a")
        classes = ["u", "v", "w", "x"]
        forms = [{"id": far}, {"features": ["a"]}, {"id": near}, {"id": far, "event_id": "e"}]
        pairs = list(zip(forms, classes, strict=True))
        events = [form | {"classes": [name]} for form, name in pairs]
        answer = (await one("POST", "/learn", {"events": events})).json()
        assert (answer["seq"], answer["accepted"]) == (4, 4)
        await other.learn(*(("a", name) for name in classes))
        assert one.learned_digest() == other.learned_digest()
        assert posted == ["two"]


async def test_a_batch_of_lines_is_asked_for_at_once(monkeypatch):
    async with side_by_side() as (one, two):
        posted = count_posts(one, monkeypatch)
        ids = [await two.ranked_id(f"f{number}") for number in range(10)]
        answer = await one.stream(*({"id": each, "classes": ["x"]} for each in ids))
        assert answer[-1]["accepted"] == 10
        assert posted == ["two"]


@pytest.mark.parametrize("how", ["one", "many"])
async def test_too_late_differs_from_never_seen(how):
    async with side_by_side(late_label_seconds=60) as (one, two):
        made = await two.ranked_id()
        two.clock.now += 61
        before = one.digest()
        gone = await label(one, how, id=made, classes=["x"])
        assert_problem(gone, 410, PLACES[how])
        never = await label(one, how, id="never", classes=["x"])
        assert_problem(never, 404, PLACES[how])
        assert one.digest() == before
        asked, told = await one.metrics(), await two.metrics()
        assert (asked["delayed_labels_expired_total"], told["delayed_labels_expired_total"]) == (
            1,
            0,
        )
        results = [asked[f'peer_lookups_total{{result="{each}"}}'] for each in RESULTS]
        assert results == [0, 1, 1, 0]


RESULTS = ("found", "too_late", "unknown", "no_answer")


async def test_an_instance_expired_here_may_be_kept_elsewhere():
    async with side_by_side(late_label_seconds=60) as (one, two):
        await one.ranked_id("old", id="id")
        one.clock.now += 61
        gone = await label(one, "one", id="id", classes=["x"])
        assert_problem(gone, 410, "#/id")
        await two.ranked_id("new", id="id")
        assert (await label(one, "one", id="id", classes=["x"])).status_code == 200
        assert (await one("GET", "/features/new")).status_code == 200


async def test_lines_without_an_instance_are_skipped_in_their_order():
    async with side_by_side(late_label_seconds=60) as (one, two):
        made = await two.ranked_id()
        two.clock.now += 61
        late = [{"id": each, "classes": ["x"]} for each in ("never", made)]
        *faults, summary = await one.stream(late[0], b"no\n", late[1], EVENT)
        statuses = [(each["line"], each["status"]) for each in faults]
        assert statuses == [(1, 404), (2, 400), (3, 410)]
        assert (summary["accepted"], summary["rejected"]) == (1, 3)


async def test_a_process_that_has_just_started_is_asked_too():
    log = SharedLog()
    async with calling(store=log.store("one")) as one, calling(store=log.store("two")) as two:
        made = await two.ranked_id()
        assert (await label(one, "one", id=made, classes=["x"])).status_code == 200
        made = await one.ranked_id()
        assert (await label(two, "one", id=made, classes=["x"])).status_code == 200


@pytest.mark.parametrize("how", ["one", "many"])
async def test_without_an_answer_nothing_is_learned(how, monkeypatch):
    async with side_by_side() as (one, two):
        made = await two.ranked_id()
        before = one.digest()
        with monkeypatch.context() as broken:
            cut(one, broken)
            response = await label(one, how, id=made, classes=["x"])
        assert "did not answer" in assert_problem(response, 503)["detail"]
        assert int(response.headers["retry-after"]) >= 1
        assert one.digest() == before
        seen = await one.metrics()
        assert seen['learn_events_total{result="rejected"}'] == 0
        assert (await label(one, how, id=made, classes=["x"])).status_code == 200


async def test_without_an_answer_a_stream_ends_where_it_was(monkeypatch):
    async with side_by_side() as (one, two):
        made = await two.ranked_id()
        cut(one, monkeypatch)
        wanting = json.dumps({"id": made, "classes": ["x"]}).encode()
        assert_problem(await one("POST", "/learn", wanting, headers=NDJSON), 503)
        *_, end = await one.stream(*[EVENT] * 256, wanting)
        assert (end["kind"], end["status"], end["learned_up_to_line"]) == ("failure", 503, 256)


@pytest.mark.parametrize("how", PLACES)
async def test_the_wait_for_a_silent_process_is_short(how, monkeypatch):
    monkeypatch.setattr(peer_lookup, "ANSWER_SECONDS", 0.02)
    async with side_by_side() as (one, two):
        made = await two.ranked_id()
        with two.store.follows.shut() as gate:
            await gate.reached()
            waiting = asyncio.create_task(label(one, how, id=made, classes=["x"]))
            assert_problem(await asyncio.wait_for(waiting, PATIENCE), 503)


@pytest.mark.parametrize("how", PLACES)
async def test_a_retry_is_known_before_a_peer_lookup(how, monkeypatch):
    async with side_by_side() as (one, two):
        sent = {"id": await two.ranked_id(), "classes": ["x"], "event_id": "e"}
        await label(one, "one", **sent)
        cut(one, monkeypatch)
        again = await label(one, how, **sent)
        assert json.loads(again.content.splitlines()[-1])["duplicates"] == 1
        assert_problem(await label(one, "one", **sent | {"classes": ["y"]}), 409, "#/event_id")
        seen = await one.metrics()
        results = [seen[f'peer_lookups_total{{result="{each}"}}'] for each in RESULTS]
        assert results == [1, 0, 0, 0]


async def test_a_retry_is_acknowledged_when_what_it_repeats_is_durable():
    async with side_by_side() as (one, two):
        sent = {"id": await two.ranked_id(), "classes": ["x"], "event_id": "e"}
        await label(one, "one", **sent)
        one.store.confirm_error = CommitOutcomeUnknown("too few replicas have it")
        response = await label(one, "one", **sent)
        assert "may still be learned" in assert_problem(response, 503)["detail"]
        assert int(response.headers["retry-after"]) >= 1
        one.store.confirm_error = None
        assert (await label(one, "one", **sent)).json()["duplicates"] == 1


async def test_a_retry_at_another_process_is_a_duplicate():
    async with side_by_side() as (one, two):
        sent = {"id": await two.ranked_id(), "classes": ["x"], "event_id": "e"}
        first = (await label(one, "one", **sent)).json()
        again = (await label(two, "one", **sent)).json()
        assert (again["seq"], again["duplicates"]) == (first["seq"], 1)
