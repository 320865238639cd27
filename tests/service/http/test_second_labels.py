"""A share of the instances is labelled by a second reviewer, who does not see the first label."""

import asyncio
import time

import pytest

from manyclass.service.ingest.review_queue import LEASE_SECONDS, UNDO_SECONDS
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreFull
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.sqlite.store import SqliteStore
from tests.redis_server import RedisServer
from tests.service.faulty import Clock
from tests.service.serving import assert_problem, calling


async def given(call, *names, **more):
    body = {"instances": [{"text": f"text {each}", "id": each} for each in names]} | more
    assert (await call("POST", "/review", body)).status_code == 200


async def label(call, name, *classes, **more):
    return await call("POST", "/learn", {"id": name, "classes": classes} | more)


async def listed(call, reviewer, query=""):
    answer = await call("GET", f"/review?reviewer={reviewer}{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ids(call, reviewer, query=""):
    return [each["id"] for each in (await listed(call, reviewer, query))["instances"]]


async def agreement(call):
    return (await call("GET", "/review/agreement")).json()


async def learned(call):
    return (await call("GET", "/stats")).json()["learned"]


def with_twice(percent=100, **more):
    clock = Clock()
    more.setdefault("store", MemoryStore(clock))
    return clock, calling(review_twice=percent, wall_clock=clock, **more)


async def test_another_reviewer_gets_a_labelled_instance_without_its_label():
    clock, service = with_twice()
    async with service as call:
        await given(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        clock.now += LEASE_SECONDS + 1
        assert await ids(call, "anna") == []  # the first reviewer does not get it
        page = await listed(call, "ben")
        [shown] = page["instances"]
        assert (page["waiting"], shown["id"], shown["second"]) == (1, "q-1", True)
        assert (shown["event"], shown["classes"], shown["text"]) == (None, [], "text q-1")
        assert "anna" not in str(shown)
        assert await ids(call, "cem") == []  # ben has it
        assert (await call("GET", "/review")).json()["instances"] == []  # without a reviewer


async def test_a_second_reviewer_does_not_see_that_the_model_has_learned_the_label():
    _, service = with_twice()
    async with service as call:
        await call.learn(*((f"text q{n % 2}", "xy"[n % 2]) for n in range(300)))
        await given(call, "q-1")
        [before] = (await call("GET", "/review")).json()["instances"]
        assert before["probabilities"][0] is not None
        for _ in range(50):
            await call.learn(("text q-1", "z"))
        await label(call, "q-1", "z", reviewer="anna")
        [shown] = (await listed(call, "ben"))["instances"]
        assert (shown["second"], shown["ranked"]) == (True, before["ranked"])
        assert shown["confidence"] == before["confidence"]
        assert shown["probabilities"] == [None] * len(before["ranked"])
        assert "z" not in shown["ranked"]


async def test_an_equal_label_is_a_pair_and_is_not_learned():
    _, service = with_twice()
    async with service as call:
        await given(call, "q-1", "q-2")
        for each in ("q-1", "q-2"):
            await label(call, each, f"class {each}", reviewer="anna")
        number = (await call("GET", "/stats")).json()["seq"]
        for each in ("q-1", "q-2"):
            answer = (await label(call, each, f"class {each}", reviewer="ben")).json()
            assert (answer["accepted"], answer["duplicates"]) == (0, 1)
        assert (await call("GET", "/stats")).json()["seq"] == number
        assert await agreement(call) == {
            **{"percent": 100, "pairs": 2, "equal": 2, "kappa": 1.0},
            "disagreements": [],
        }
        assert await ids(call, "cem") == []  # two labels are enough


async def test_another_label_is_a_disagreement_and_the_first_one_stays():
    clock, service = with_twice()
    async with service as call:
        await given(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        problem = assert_problem(await label(call, "q-1", "y", reviewer="ben"), 409)
        assert (problem["label"]["reviewer"], problem["label"]["classes"]) == ("anna", ["x"])
        [event] = (await call("GET", "/events")).json()["events"]
        assert (event["classes"], event["reviewer"]) == (["x"], "anna")
        found = await agreement(call)
        assert (found["pairs"], found["equal"]) == (1, 0)
        assert found["disagreements"] == [
            {
                "id": "q-1",
                "text": "text q-1",
                "first": {"reviewer": "anna", "classes": ["x"]},
                "second": {"reviewer": "ben", "classes": ["y"]},
                "time": clock.now,
            }
        ]
        # a replacement does not count as a second label: ben has seen the first one
        assert (await label(call, "q-1", "y", reviewer="ben", replace=True)).status_code == 200
        assert_problem(await label(call, "q-1", "x", reviewer="anna"), 409)
        assert (await agreement(call))["disagreements"] == found["disagreements"]


@pytest.mark.parametrize(
    ("first", "second"), [("anna", "anna"), (None, "ben"), ("anna", None)], ids=str
)
async def test_only_the_labels_of_two_named_reviewers_are_compared(first, second):
    clock, service = with_twice()
    async with service as call:
        await given(call, "q-1")
        await label(call, "q-1", "x", reviewer=first)
        clock.now += LEASE_SECONDS + 1
        if second is not None and first != "anna":
            assert await ids(call, second) == []
        assert_problem(await label(call, "q-1", "y", reviewer=second), 409)
        assert (await agreement(call))["pairs"] == 0


async def test_a_share_of_the_instances_is_given_twice():
    names = [f"q-{each}" for each in range(100)]
    _, service = with_twice(10)
    async with service as call:
        await given(call, *names)
        for each in names:
            await label(call, each, "x", reviewer="anna")
            await label(call, each, "x", reviewer="ben")
        pairs = (await agreement(call))["pairs"]
        assert 2 <= pairs <= 25
    _, service = with_twice(0)
    async with service as call:
        await given(call, *names)
        for each in names:
            await label(call, each, "x", reviewer="anna")
        assert await ids(call, "ben") == []
        await label(call, "q-1", "x", reviewer="ben")
        assert (await agreement(call))["pairs"] == 0


async def test_a_list_has_a_fifth_of_second_labels_at_most():
    _, service = with_twice()
    async with service as call:
        await given(call, *(f"old-{each}" for each in range(9)))
        for each in range(9):
            await label(call, f"old-{each}", "x", reviewer="anna")
        await given(call, *(f"new-{each}" for each in range(9)))
        page = await listed(call, "ben", "&limit=10")
        assert [each["second"] for each in page["instances"]] == [False] * 8 + [True] * 2
        assert page["waiting"] == 18


@pytest.mark.parametrize("percent", [0, 100])
async def test_it_stays_for_its_second_label_beyond_the_time_to_undo(percent):
    clock, service = with_twice(percent)
    async with service as call:
        queue = call.app.api.state.queue
        await given(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        await asyncio.to_thread(queue.flush)  # as it does each second
        clock.now += UNDO_SECONDS + 1
        await queue.tidy()
        assert await ids(call, "ben") == (["q-1"] if percent else [])
        clock.now += 31 * 86400  # no longer than any other
        await asyncio.to_thread(queue.flush)
        assert await ids(call, "ben") == []
        assert queue.items == 0


async def test_pairs_survive_a_restart(tmp_path):
    for is_first in (True, False):
        clock = Clock()
        service = calling(
            store=SqliteStore(tmp_path / "store.db", clock), wall_clock=clock, review_twice=100
        )
        async with service as call:
            if is_first:
                await given(call, "q-1", "q-2")
                await label(call, "q-1", "x", reviewer="anna")
                await label(call, "q-2", "x", reviewer="anna")
                await label(call, "q-1", "y", reviewer="ben")
            found = await agreement(call)
            assert [each["id"] for each in found["disagreements"]] == ["q-1"]
            assert await ids(call, "cem") == ["q-2"]


async def test_a_store_that_fails_loses_no_second_label():
    _, service = with_twice()
    async with service as call:
        queue = call.app.api.state.queue
        await given(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        items, put = queue._store.items, queue._store.put

        def fail(*_):
            raise StoreFull("full")

        for broken in ("items", "put"):
            setattr(queue._store, broken, fail)
            assert_problem(await label(call, "q-1", "y", reviewer="ben"), 409)
            await asyncio.to_thread(queue.flush)
            setattr(queue._store, broken, items if broken == "items" else put)
            await asyncio.to_thread(queue.flush)
            assert (await agreement(call))["pairs"] == 1
            assert queue.failing is None
            await asyncio.to_thread(queue.pairs.forget, reviewer="ben")
            assert (await agreement(call))["pairs"] == 0


async def test_processes_on_redis_share_pairs(tmp_path):
    archive = f"file://{tmp_path}/archive"
    with RedisServer(tmp_path) as server:

        def opened():
            store = open_store(server.url, time.time, archive=archive)
            return calling(store=store, wall_clock=time.time, review_twice=100)

        async with opened() as one, opened() as two:
            await given(one, "q-1", "q-2")
            await label(one, "q-1", "x", reviewer="anna")
            await label(one, "q-2", "x", reviewer="anna")
            await asyncio.to_thread(one.app.api.state.queue.flush)
            assert set(await ids(two, "ben")) == {"q-1"} | {"q-2"}
            await label(two, "q-1", "y", reviewer="ben")
            for each in (one, two):
                assert (await agreement(each))["pairs"] == 1


@pytest.mark.parametrize(
    "path",
    ["/events/q-1", "/events?batch=a.xlsx", "/events?reviewer=anna", "/events?reviewer=ben"],
)
async def test_what_is_erased_leaves_no_pair(path):
    _, service = with_twice()
    async with service as call:
        await given(call, "q-1", batch="a.xlsx")
        await label(call, "q-1", "x", reviewer="anna")
        await label(call, "q-1", "y", reviewer="ben")
        assert (await call("DELETE", path)).status_code == 200
        assert (await agreement(call))["pairs"] == 0


async def test_an_undo_forgets_the_pair_and_the_instance_waits():
    _, service = with_twice()
    async with service as call:
        await given(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        await label(call, "q-1", "y", reviewer="ben")
        answer = await call("POST", "/review/undo", {"id": "q-1", "reviewer": "anna"})
        assert answer.status_code == 200
        assert (await agreement(call))["pairs"] == 0
        [shown] = (await listed(call, "cem"))["instances"]
        assert (shown["id"], shown["second"]) == ("q-1", False)


async def test_pairs_make_room_for_given_instances():
    _, service = with_twice(review_items=2)
    async with service as call:
        await given(call, "q-1", "q-2")
        await label(call, "q-1", "x", reviewer="anna")
        await label(call, "q-1", "y", reviewer="ben")
        await given(call, "q-3")
        assert set(await ids(call, "cem")) == {"q-2", "q-3"}
        assert (await agreement(call))["pairs"] == 0


async def test_labels_without_a_name_keep_nothing():
    clock, service = with_twice()
    async with service as call:
        queue = call.app.api.state.queue
        await given(call, "q-1", "q-2")
        await label(call, "q-1", "x")
        await label(call, "q-2", "x", reviewer="anna", event_id="own")
        await asyncio.to_thread(queue.flush)
        assert await ids(call, "ben") == []
        clock.now += UNDO_SECONDS + 1
        await queue.tidy()
        await asyncio.to_thread(queue.flush)
        assert queue._store.heads() == {}


async def test_instances_kept_for_a_second_label_leave_when_no_share_is_labelled_twice(tmp_path):
    clock = Clock()
    for percent, kept in ((100, 2), (0, 1)):
        store = SqliteStore(tmp_path / "store.db", clock)
        async with calling(store=store, wall_clock=clock, review_twice=percent) as call:
            queue = call.app.api.state.queue
            if percent:
                await given(call, "q-1", "q-2")
                await label(call, "q-1", "x", reviewer="anna")
            await asyncio.to_thread(queue.flush)
            clock.now += UNDO_SECONDS + 1
            await queue.tidy()
            await asyncio.to_thread(queue.flush)
            assert queue.items == 1, "one waits for its first label"
            assert len(await queue.find(["q-1", "q-2"])) == kept
