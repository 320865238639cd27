"""The queue of review: it survives restarts, is bounded, leased, labelled once and erased."""

import asyncio
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from manyclass.service.ingest.review_queue import BOUND_SECONDS, READ_AT_ONCE, UNDO_SECONDS
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreFull, StoreUnavailable
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.sqlite.store import SqliteStore
from manyclass.service.store.sqlite.waiting import SqliteWaiting
from manyclass.service.store.waiting import Item, MemoryWaiting, waiting_of
from tests.redis_server import RedisServer
from tests.service.engines import until
from tests.service.faulty import Clock
from tests.service.serving import assert_problem, bearer, calling

SECRET = "Kowalczyk"


def opened(folder, clock):
    return SqliteStore(folder / "store.db", clock)


async def rank(call, *ids, **more):
    for each in ids:
        body = {"text": f"{SECRET} {each}", "id": each} | more
        assert (await call("POST", "/rank", body)).status_code == 200


async def label(call, name, *classes, **more):
    return await call("POST", "/learn", {"id": name, "classes": classes} | more)


async def review(call, query=""):
    answer = await call("GET", f"/review{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ids(call, query=""):
    return [each["id"] for each in (await review(call, query))["instances"]]


async def give(call, *names, **more):
    instances = [{"text": f"{SECRET} {each}", "id": each} for each in names]
    return await call("POST", "/review", {"instances": instances} | more)


# --- restarts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_given", [False, True])
async def test_what_waits_survives_a_restart(tmp_path, is_given):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        if is_given:
            assert (await give(call, "q-1", "q-2", batch="a.xlsx")).json()["ids"] == ["q-1", "q-2"]
        else:
            await rank(call, "q-1", "q-2", source="inbox")
        before = (await review(call))["instances"]
        assert call.app.api.state.queue._contents.unsaved == {}
    clock.now += 50
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        after = (await review(call))["instances"]
        assert [each | {"age": 0} for each in after] == [each | {"age": 0} for each in before]
        assert after[0]["age"] >= 50
        assert (await label(call, "q-1", "x", reviewer="anna")).json()["accepted"] == 1
        [event] = (await call("GET", "/events")).json()["events"]
        origin = {"batch": "a.xlsx", "source": None} if is_given else {"source": "inbox"}
        assert event | origin == event
        assert (event["text"], event["id"]) == (f"{SECRET} q-1", "q-1")
        assert await ids(call) == ["q-2"]
        assert_problem(await label(call, "q-1", "y"), 409)
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        assert await ids(call) == ["q-2"]  # though the labelled one is kept for an undo
        assert (await label(call, "q-1", "x")).json()["duplicates"] == 1


async def test_a_whole_long_text_is_kept(tmp_path):
    clock = Clock()
    long = "☃ long " * 3000
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await call("POST", "/rank", {"text": {"title": "short", "body": long}, "id": "q-1"})
        [shown] = (await review(call))["instances"]
        assert shown["text_cut"]
        assert shown["text"]["title"] == "short"
        assert 4000 < len("".join(shown["text"].values()).encode()) <= 4096
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await label(call, "q-1", "x")
        [event] = (await call("GET", "/events")).json()["events"]
        assert event["text"] == {"title": "short", "body": long}


async def test_without_storing_it_nothing_is_written(tmp_path):
    clock = Clock()
    store = opened(tmp_path, clock)
    async with calling(store=store, wall_clock=clock, review_stored=False) as call:
        await rank(call, "q-1")
        assert await ids(call) == ["q-1"]
    assert not [*tmp_path.glob("*.waiting")]


# --- bounds ---------------------------------------------------------------------------------------


async def test_the_least_certain_stay_and_given_ones_always(tmp_path):
    async with calling(review_items=3) as call:
        await rank(call, *(f"r-{number}" for number in range(5)))
        assert len(await ids(call)) == 3
        assert (await give(call, "g-1", "g-2")).status_code == 200
        waiting = await ids(call)
        assert len(waiting) == 3
        assert {"g-1", "g-2"} <= {*waiting}
        assert_problem(await give(call, "g-3", "g-4"), 409)
        assert {*await ids(call)} == {*waiting}
        metrics = await call.metrics()
        assert metrics["review_items"] == 3


async def test_what_is_too_old_goes(tmp_path):
    clock = Clock()
    async with calling(wall_clock=clock, review_seconds=1000) as call:
        await give(call, "q-1")
        clock.now += 999
        assert await ids(call) == ["q-1"]
        clock.now += 60
        assert await ids(call) == []


async def test_a_queue_that_could_not_be_read_is_well_again_once_it_can(monkeypatch):
    async with calling() as call:
        queue = call.app.api.state.queue

        def full(self):
            raise StoreFull("no space left", "make room")

        with monkeypatch.context() as patch:
            patch.setattr(MemoryWaiting, "heads", full)
            queue._contents._heads = None
            await asyncio.to_thread(queue.flush)
            assert (await call.metrics())["review_failing"] == 1
        call.clock.now += BOUND_SECONDS + 1
        await asyncio.to_thread(queue.flush)
        assert (await call.metrics())["review_failing"] == 0, "though nothing was ranked since"


async def test_a_full_disk_stops_neither_ranking_nor_learning(monkeypatch):
    async with calling() as call:

        def full(self, items):
            raise StoreFull("no space left", "make room")

        with monkeypatch.context() as patch:
            patch.setattr(MemoryWaiting, "put", full)
            await rank(call, "q-1", "q-2")
            assert await ids(call) == ["q-1", "q-2"]
            assert (await label(call, "q-1", "x")).status_code == 200
            assert "make room" in (await call("GET", "/stats")).json()["review"]["failing"]
            metrics = await call.metrics()
            assert metrics["review_failing"] == 1
            assert metrics["review_failures_total"] >= 1
            assert_problem(await give(call, "g-1"), 503)
        assert await ids(call) == ["q-2"]
        assert (await call("GET", "/stats")).json()["review"]["failing"] is None
        assert (await call.metrics())["review_failing"] == 0


def fail_full(*_):
    raise StoreFull("no space left", "make room")


async def test_a_full_disk_is_known_from_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(SqliteWaiting, "check_put", fail_full)
    async with calling(store=opened(tmp_path, Clock())) as call:
        assert (await call("GET", "/readyz")).json()["review_stored"] is False
        found = await review(call)
        assert (found["instances"], found["failing"]) == ([], "the store is full; make room")
        monkeypatch.undo()
        await asyncio.to_thread(call.app.api.state.queue.flush)
        assert (await call("GET", "/readyz")).json()["review_stored"] is True
        assert (await review(call))["failing"] is None


async def test_a_queue_that_cannot_be_read_is_not_well_because_it_can_be_written(monkeypatch):
    monkeypatch.setattr(MemoryWaiting, "heads", fail_full)
    async with calling() as call:
        await rank(call, "q-1")
        assert (await review(call))["failing"] == "the store is full; make room"
        await asyncio.to_thread(call.app.api.state.queue.flush)
        assert (await call.metrics())["review_failing"] == 1


@contextmanager
def full_disk():
    """Let no file grow, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_can_be_read_after_a_start(tmp_path):
    path, item = tmp_path / "store.waiting", Item(b"head", b"body")
    before = SqliteWaiting(path, Clock())
    before.put({"q-1": item})
    before.close()
    after = SqliteWaiting(path, Clock())
    with full_disk():
        assert after.heads() == {"q-1": b"head"}
        assert after.items(["q-1"]) == {"q-1": item}
        for write in (after.check_put, lambda: after.put({"q-2": item})):
            with pytest.raises(StoreUnavailable, match="disk"):
                write()
    after.check_put()
    assert after.heads() == {"q-1": b"head"}
    after.close()


def test_a_trial_on_redis_is_refused_as_a_put_is_and_keeps_nothing(tmp_path):
    with RedisServer(tmp_path) as server:
        store = open_store(server.url, time.time, 5.0)
        waiting = waiting_of(store, time.monotonic)
        waiting.check_put()
        assert waiting.heads() == {}
        with server.client() as client:
            client.config_set("maxmemory", 1)
        for write in (waiting.check_put, lambda: waiting.put({"q-1": Item(b"head", b"body")})):
            with pytest.raises(StoreFull):
                write()
        store.close()


# --- leases ---------------------------------------------------------------------------------------


async def test_nobody_gets_what_another_reviewer_has():
    async with calling() as call:
        await give(call, *(f"q-{number}" for number in range(6)))
        anna = await ids(call, "?reviewer=anna&limit=2")
        ben = await ids(call, "?reviewer=ben&limit=3")
        assert (len(anna), len(ben)) == (2, 3)
        assert not {*anna} & {*ben}
        assert await ids(call, "?reviewer=anna&limit=2") == anna
        assert len(await ids(call)) == 6
        body = {"reviewer": "anna", "renew": [anna[0], ben[0]], "release": [anna[1], ben[1]]}
        held = (await call("POST", "/review/leases", body)).json()["held"]
        assert held == [anna[0]]
        assert {*await ids(call, "?reviewer=ben")} == {f"q-{number}" for number in range(6)} - {
            anna[0]
        }
        call.clock.now += 121
        assert len(await ids(call, "?reviewer=cem")) == 6


@pytest.mark.parametrize("query", ["?", "?reviewer=anna&", "?strategy=random&"])
async def test_a_list_without_leases_has_all_and_leases_none(query):
    async with calling(learn_keys=("anna:a-key", "ben:b-key")) as call:
        anna, ben = bearer("a-key"), bearer("b-key")
        body = {"instances": [{"text": "a", "id": each} for each in ("q-1", "q-2")]}
        await call("POST", "/review", body, headers=anna)
        taken = (await call("GET", "/review?limit=1", headers=ben)).json()["instances"]
        listed = (await call("GET", f"/review{query}lease=false", headers=anna)).json()
        assert {each["id"] for each in listed["instances"]} == {"q-1", "q-2"}
        assert (listed["reviewer"], listed["waiting"], len(taken)) == (None, 2, 1)
        left = (await call("GET", "/review", headers=ben)).json()["instances"]
        assert len(left) == 2


async def test_a_list_of_suspects_without_leases_leases_none():
    async with calling() as call:
        await call.learn(*[("a", "x"), ("b", "y")] * 100)
        await call("POST", "/learn", {"features": ["a"], "classes": ["y"], "event_id": "w"})
        suspects = "?strategy=suspect&reviewer="
        assert "event:w" in await ids(call, f"{suspects}anna&lease=false")
        assert "event:w" in await ids(call, f"{suspects}ben")
        assert "event:w" not in await ids(call, f"{suspects}anna")


async def test_a_lease_needs_a_name():
    async with calling() as call:
        assert_problem(await call("POST", "/review/leases", {"renew": ["q"]}), 422, "#/reviewer")


async def test_leases_and_items_are_shared_by_processes(tmp_path):
    def by():
        return {"store": open_store(server.url, time.time, 5.0), "wall_clock": time.time}

    with RedisServer(tmp_path) as server:
        async with calling(**by()) as one, calling(**by()) as two:
            await give(one, "q-1", "q-2", "q-3")
            anna = await ids(one, "?reviewer=anna&limit=1")
            ben = await ids(two, "?reviewer=ben")
            assert {*anna, *ben} == {"q-1", "q-2", "q-3"}
            assert not {*anna} & {*ben}
            await call_release(two, "ben", ben)
            assert {*await ids(one, "?reviewer=anna")} == {"q-1", "q-2", "q-3"}
            seq = (await label(two, "q-1", "x", reviewer="ben")).json()["seq"]
            await one.settled(seq)
            assert "q-1" not in await ids(one)
        async with calling(**by()) as one:
            assert {*await ids(one)} == {"q-2", "q-3"}
            await call_erase(one, "q-2")
            assert await ids(one) == ["q-3"]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
async def test_a_label_ends_the_lease(kind, tmp_path):
    clock = Clock()
    with ExitStack() as servers:
        if kind == "redis":
            server = servers.enter_context(RedisServer(tmp_path))
            store = open_store(server.url, time.time, 5.0)
        else:
            store = MemoryStore(clock) if kind == "memory" else opened(tmp_path, clock)
        async with calling(store=store, wall_clock=clock, review_twice=100) as call:
            await give(call, "q-1", "q-2")
            assert await ids(call, "?reviewer=anna") == ["q-1", "q-2"]
            assert await ids(call, "?reviewer=ben") == []
            await label(call, "q-1", "x", reviewer="anna")
            [shown] = (await review(call, "?reviewer=ben"))["instances"]
            assert (shown["id"], shown["second"]) == ("q-1", True)
            await asyncio.to_thread(call.app.api.state.queue.flush)
            assert await ids(call, "?reviewer=cem") == []  # ben has it, anna the other one
            await label(call, "q-2", "x", reviewer="dora")  # without a lease
            assert await ids(call, "?reviewer=cem") == ["q-2"]


async def call_release(call, reviewer, names):
    await call("POST", "/review/leases", {"reviewer": reviewer, "release": names})


async def call_erase(call, name):
    answer = await call("DELETE", f"/events/{name}")
    assert answer.json() == {"seq": None, "deleted": 0, "waiting": 1, "more": False}


# --- choices --------------------------------------------------------------------------------------


async def test_strategies_sources_and_batches():
    async with calling() as call:
        await call.learn(("goalie", "hockey"), ("ball", "golf"))
        for name, word in (("q-1", "goalie"), ("q-2", "ball"), ("q-3", "goalie")):
            body = {"instances": [{"features": [word], "id": name, "source": word}], "batch": name}
            assert (await call("POST", "/review", body)).status_code == 200
        assert await ids(call, "?strategy=class:hockey") == ["q-1", "q-3"]
        assert await ids(call, "?strategy=class:golf") == ["q-2"]
        assert {*await ids(call, "?strategy=random")} == {"q-1", "q-2", "q-3"}
        assert await ids(call, "?source=ball") == ["q-2"]
        assert await ids(call, "?batch=q-3") == ["q-3"]
        assert (await review(call, "?limit=1"))["waiting"] == 3
        for wrong in ("best", "class:", "class"):
            answer = await call("GET", f"/review?strategy={wrong}")
            assert_problem(answer, 422)
            known = "uncertain, suspect, random, or class:NAME with the name of a class"
            assert answer.json()["detail"] == f"strategy: must be {known}"
        long = await call("GET", f"/review?strategy=class:{'x' * 5000}")
        assert "at most 4102 characters" in long.json()["detail"]


async def test_likely_wrong_labels_are_corrected_or_confirmed():
    async with calling() as call:
        pairs = [("a", "x"), ("b", "y")] * 100
        await call.learn(*pairs)
        for name in ("w-1", "w-2"):
            event = {"features": ["a"], "classes": ["y"], "event_id": name, "source": name}
            await call("POST", "/learn", event | {"reviewer": "anna"})
        query = "?strategy=suspect&reviewer=ben"
        found = await review(call, query)
        shown = {each["event"]: each for each in found["instances"]}
        assert {"w-1", "w-2"} <= {*shown}
        first = shown["w-1"]
        assert (first["ranked"], first["classes"], first["source"]) == (["x", "y"], ["y"], "w-1")
        assert first["id"] == "event:w-1"
        assert found["waiting"] == len(shown)
        assert await ids(call, "?strategy=suspect&reviewer=cem") == []
        assert await ids(call, f"{query}&source=w-2") == ["event:w-2"]
        body = {"classes": ["x"], "reviewer": "ben"}
        assert (await call("PUT", "/events/w-1", body)).json()["changed"]
        await call("PUT", "/events/w-2", {"classes": ["y"], "reviewer": "ben"})
        left = [each["event"] for each in (await review(call, query))["instances"]]
        assert not {"w-1", "w-2"} & {*left}
        assert (await call("GET", "/events/w-1")).json()["reviewer"] == "ben"


async def test_rejected_classes_leave_an_instance_waiting():
    async with calling() as call:
        await give(call, "q-1")
        await call("POST", "/learn", {"id": "q-1", "not": ["x"]})
        assert await ids(call) == ["q-1"]


async def test_rejected_classes_are_taken_back():
    async with calling(store=MemoryStore(clock := Clock()), wall_clock=clock) as call:
        await give(call, "q-1", "q-2")
        body = {"id": "q-1", "not": ["x"], "reviewer": "anna"}
        seq = (await call("POST", "/learn", body)).json()["seq"]
        undo = {"id": "q-1", "reviewer": "anna", "seq": seq}
        for wrong, status in (
            ({"id": "q-2"}, 404),
            ({"seq": seq + 1}, 404),
            ({"reviewer": "ben"}, 409),
        ):
            assert_problem(await call("POST", "/review/undo", undo | wrong), status)
        answer = await call("POST", "/review/undo", undo)
        assert answer.json() == {"seq": seq + 1, "deleted": seq}
        assert (await call("GET", "/events")).json()["events"] == []
        assert await ids(call) == ["q-1", "q-2"]
        assert_problem(await call("POST", "/review/undo", undo), 404)
        seq = (await label(call, "q-1", "x", reviewer="anna")).json()["seq"]
        assert_problem(await call("POST", "/review/undo", undo | {"seq": seq}), 404)  # a label


async def test_faulty_instances_are_refused_by_their_position():
    async with calling() as call:
        twice = {"instances": [{"text": "a", "id": "q"}, {"text": "b", "id": "q"}]}
        assert_problem(await call("POST", "/review", twice), 422, "#/instances/1/id")
        both = {"instances": [{"text": "a"}, {"text": "a", "features": ["a"]}]}
        assert_problem(await call("POST", "/review", both), 422, "#/instances/1/text")
        assert_problem(await call("POST", "/review", {"instances": []}), 422)
        assert await ids(call) == []


# --- undo and erasure -----------------------------------------------------------------------------


async def test_a_reviewer_takes_the_own_label_back():
    clock = Clock()
    async with calling(wall_clock=clock) as call:
        await give(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        assert await ids(call) == []
        undo = {"id": "q-1", "reviewer": "ben"}
        assert_problem(await call("POST", "/review/undo", undo), 409, "#/reviewer")
        answer = await call("POST", "/review/undo", undo | {"reviewer": "anna"})
        assert answer.json() == {"seq": 2, "deleted": 1}
        assert await ids(call) == ["q-1"]
        assert_problem(await call("POST", "/review/undo", undo), 404, "#/id")

        assert (await label(call, "q-1", "y", reviewer="ben")).json()["accepted"] == 1
        clock.now += UNDO_SECONDS + 1
        await call.app.api.state.queue.tidy()
        assert (await call("GET", "/stats")).json()["review"]["items"] in (0, 1)
        assert call.app.api.state.queue.remove(["q-1"]) == 0


async def test_a_label_that_replaced_another_one_is_not_taken_back_with_it():
    async with calling() as call:
        await give(call, "q-1")
        await label(call, "q-1", "x", reviewer="anna")
        assert (await label(call, "q-1", "y", reviewer="ben", replace=True)).status_code == 200
        undo = {"id": "q-1", "reviewer": "ben"}
        refused = await call("POST", "/review/undo", undo)
        assert "replaced another one, x:" in assert_problem(refused, 409, "#/id")["detail"]
        assert (await label(call, "q-1", "x", reviewer="anna", replace=True)).status_code == 200
        answer = await call("POST", "/review/undo", undo | {"reviewer": "anna"})
        assert answer.status_code == 200, answer.text
        assert await ids(call) == ["q-1"]


async def test_only_the_key_of_a_reviewer_or_an_admin_key_takes_its_label_back():
    keys = {"learn_keys": ("anna:a-key", "ben:b-key", "l-key"), "admin_keys": ("admin",)}
    async with calling(**keys) as call:
        anna, ben, unnamed = (bearer(f"{each}-key") for each in "abl")
        undo = {"id": "q-1", "reviewer": "anna"}
        for taker in (anna, bearer("admin")):
            body = {"instances": [{"text": "a", "id": "q-1"}]}
            await call("POST", "/review", body, headers=anna)
            body = {"id": "q-1", "classes": ["x"]}
            assert (await call("POST", "/learn", body, headers=anna)).status_code == 200
            for other, status in ((ben, 403), (unnamed, 409)):
                answer = await call("POST", "/review/undo", undo, headers=other)
                assert_problem(answer, status, "#/reviewer")
            answer = await call("POST", "/review/undo", {"id": "q-1"}, headers=ben)
            assert_problem(answer, 409, "#/reviewer")
            answer = await call("POST", "/review/undo", {"id": "q-1"}, headers=taker)
            assert answer.status_code == 200, answer.text
        body = {"id": "q-1", "classes": ["x"], "reviewer": "cleo"}  # no key has this name
        await call("POST", "/learn", body, headers=unnamed)
        answer = await call("POST", "/review/undo", undo | {"reviewer": "cleo"}, headers=unnamed)
        assert answer.status_code == 200


@pytest.mark.parametrize("way", ["?source=anna", "?batch=b", "?source=anna&batch=b", "/q-1"])
async def test_nothing_of_an_erased_instance_is_left(tmp_path, way):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        body = {"instances": [{"text": SECRET, "id": "q-1", "source": "anna"}], "batch": "b"}
        await call("POST", "/review", body)
        await call("POST", "/review", {"instances": [{"text": "kept", "id": "q-2"}]})
        found = (tmp_path / "store.db.waiting").read_bytes()
        assert SECRET.encode() in found
        assert (await call("DELETE", f"/events{way}")).json()["deleted"] == 0
        assert await ids(call) == ["q-2"]
        for file in tmp_path.iterdir():
            assert SECRET.encode() not in file.read_bytes(), file


async def test_labels_of_a_reviewer_taken_back_wait_no_longer_than_their_event():
    async with calling() as call:
        await give(call, "q-1", "q-2")
        await label(call, "q-1", "x", reviewer="anna")
        await call("DELETE", "/events?reviewer=anna")
        assert await ids(call) == ["q-2"]  # the erased instance is erased from the queue too


async def test_two_reviewers_at_once_get_different_instances():
    async with calling() as call:
        await give(call, *(f"q-{number}" for number in range(40)))
        found = await asyncio.gather(
            *(ids(call, f"?reviewer=r{number}&limit=5") for number in range(8))
        )
        every = [each for some in found for each in some]
        assert len(every) == len({*every}) == 40


# --- labels by events with ids of their own -------------------------------------------------------


async def test_a_label_with_an_event_id_of_its_own_is_remembered_after_a_restart(tmp_path):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await give(call, "q-1", "q-2")
        await rank(call, "q-3")
        assert {*await ids(call)} == {"q-1", "q-2", "q-3"}
        for name in ("q-1", "q-3"):
            assert (await label(call, name, "x", event_id=f"e-{name}")).status_code == 200
        assert await ids(call) == ["q-2"]
    for _ in range(2):
        async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
            assert await ids(call) == ["q-2"]
            answer = await label(call, "q-1", "y", event_id="e-2")  # both are learned
            assert answer.status_code == 200
    clock.now += UNDO_SECONDS + 1
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        assert await ids(call) == ["q-2"]
        assert [*call.app.api.state.queue._store.heads()] == ["q-2"]


async def test_an_instance_that_comes_again_under_a_labelled_id_waits():
    async with calling() as call:
        for number in range(2):
            for bring in (rank, give):
                name = bring.__name__
                await bring(call, name)
                assert await ids(call) == [name]
                await label(call, name, "x", event_id=f"{name}-{number}")
                assert await ids(call) == []


async def test_the_label_of_a_given_instance_is_not_of_a_ranking_by_its_id():
    async with calling() as call:
        await give(call, "q-1")
        assert await ids(call) == ["q-1"]
        await call("POST", "/rank", {"text": "another letter", "id": "q-1"})
        await label(call, "q-1", "x")
        [event] = (await call("GET", "/events")).json()["events"]
        assert event["text"] == f"{SECRET} q-1"


# --- leases of what does not wait -----------------------------------------------------------------


async def test_what_does_not_wait_is_not_leased():
    async with calling() as call:
        await give(call, "q-1", "q-2", "q-3", "q-4")
        assert len(await ids(call)) == 4
        await label(call, "q-2", "x")
        await label(call, "q-3", "x", event_id="e")
        assert await ids(call, "?reviewer=ben&limit=1") == ["q-1"]
        names = ["made-up", "q-1", "q-2", "q-3", "q-4", "event:made-up"]
        answer = await call("POST", "/review/leases", {"reviewer": "anna", "renew": names})
        assert answer.json() == {
            "held": ["q-4"],
            "not_waiting": ["made-up", "q-2", "q-3", "event:made-up"],
        }


async def test_the_lease_of_an_event_is_renewed_while_it_lasts():
    async with calling() as call:
        await call.learn(*[("a", "x"), ("b", "y")] * 100)
        event = {"features": ["a"], "classes": ["y"], "event_id": "w-1"}
        await call("POST", "/learn", event)
        assert "event:w-1" in await ids(call, "?strategy=suspect&reviewer=ben")
        for reviewer, held in (("ben", ["event:w-1"]), ("anna", [])):
            body = {"reviewer": reviewer, "renew": ["event:w-1"]}
            assert (await call("POST", "/review/leases", body)).json()["held"] == held
        call.clock.now += 121
        body = {"reviewer": "ben", "renew": ["event:w-1"]}
        assert (await call("POST", "/review/leases", body)).json()["held"] == []


async def test_two_processes_at_once_lease_different_instances(tmp_path):
    """Each asks in many threads, while the other one does."""
    with RedisServer(tmp_path) as server:
        stores = [open_store(server.url, time.time, 5.0) for _ in range(2)]
        waiting = [store.open_waiting(time.time) for store in stores]
        names = [f"q-{number}" for number in range(300)]

        def take(number):
            return waiting[number % 2].lease(names, f"r-{number}", 60.0, 25)

        with ThreadPoolExecutor(12) as threads:
            taken = [each for some in threads.map(take, range(12)) for each in some]
        assert len(taken) == len({*taken}) == 300
        waiting[0].release(names, "r-0")
        assert len(waiting[1].lease(names, "other", 60.0, 300)) == 25
        waiting[0].end_leases(names[:250])
        assert waiting[1].lease(names[:250], "ended", 60.0, 300) == names[:250]
        waiting[0].end_leases(names[:250])
        assert len(waiting[1].lease(names, "other", 60.0, 25)) == 25
        assert len(waiting[1].renew(names, "other", 60.0)) == 25
        items = {name: Item(b"head", b"body") for name in names}
        waiting[0].put(items)
        assert waiting[1].items(names) == items
        waiting[1].remove(names[:250])
        assert {*waiting[0].heads()} == {*names[250:]}
        assert len(waiting[0].lease(names[:250], "new", 60.0, 300)) == 250
        assert waiting[0].clear()
        assert waiting[1].heads() == {}
        assert not waiting[1].clear()
        for store in stores:
            store.close()


# --- choices among many ---------------------------------------------------------------------------


async def test_an_instance_that_has_a_label_does_not_wait_again():
    async with calling() as call:
        assert (await give(call, "g-1", "g-2")).json() == {"ids": ["g-1", "g-2"], "labelled": []}
        await call("POST", "/learn", {"id": "g-1", "classes": ["x"]})
        given = (await give(call, "g-1", "g-2")).json()
        assert given == {"ids": ["g-1", "g-2"], "labelled": ["g-1"]}
        assert await ids(call) == ["g-2"]


async def test_only_what_was_not_answered_automatically():
    async with calling() as call:
        await call.learn(*[("a", "x"), ("b", "y")] * 100)
        for name, body in (("q-1", {"min_confidence": 1.0}), ("q-2", {})):
            await call("POST", "/rank", {"features": ["c"], "id": name} | body)
        await give(call, "g-1")
        assert {*await ids(call)} == {"q-1", "q-2", "g-1"}
        assert {*await ids(call, "?abstained=true")} == {"q-1", "g-1"}  # that is for people
        assert {*await ids(call, "?abstained=true&learner=svm")} == {"q-1", "g-1"}
        answer = await call("GET", "/review?abstained=true&strategy=suspect")
        assert_problem(answer, 422)


async def test_suspects_of_a_source_are_found_behind_likelier_ones(monkeypatch):
    monkeypatch.setattr("manyclass.service.http.routes.review.MOST_SUSPECTS", 1)
    async with calling() as call:
        await call.learn(*[("a", "x"), ("b", "y")] * 100)
        for number in range(2):
            event = {"features": ["a"], "classes": ["y"], "event_id": f"w-{number}"}
            await call("POST", "/learn", event | {"source": f"s-{number}", "batch": "b"})
        found = [await ids(call, f"?strategy=suspect&source=s-{number}") for number in range(2)]
        assert found == [["event:w-0"], ["event:w-1"]]
        assert len(await ids(call, "?strategy=suspect&batch=b")) == 1
        assert await ids(call, "?strategy=suspect&batch=c") == []


async def test_a_list_of_suspects_reads_no_more_events_than_it_shows(monkeypatch):
    async with calling() as call:
        await call.learn(*[("a", "x"), ("b", "y")] * 100)
        for number in range(9):
            event = {"features": ["a"], "classes": ["y"], "event_id": f"w-{number}"}
            assert (await call("POST", "/learn", event)).status_code == 200
        history = call.app.engine.history
        read, find = [], history.find
        monkeypatch.setattr(history, "find", lambda seq: read.append(seq) or find(seq))
        first = await review(call, "?strategy=suspect&reviewer=anna&limit=2")
        assert len(read) == len(first["instances"]) == 2
        second = await review(call, "?strategy=suspect&reviewer=ben&limit=2")
        assert len(read) == 6
        names = [each["event"] for each in first["instances"] + second["instances"]]
        assert len({*names}) == 4
        assert first["waiting"] == second["waiting"] > 4


async def test_another_learner_ranks_the_queue_with_few_instances_in_memory(monkeypatch):
    async with calling(shadows=("pa",)) as call:
        await call.learn(("a", "x"), ("b", "y"))
        names = [f"q-{number:03}" for number in range(100)]
        await give(call, *names)
        asked = []
        read = MemoryWaiting.items

        def noting(self, ids):
            asked.append(len(ids))
            return read(self, ids)

        monkeypatch.setattr(MemoryWaiting, "items", noting)
        found = await ids(call, "?learner=pa&limit=5")
        assert len(found) == 5
        assert sum(asked) == 100
        assert max(asked) == READ_AT_ONCE
        anna = await ids(call, "?learner=pa&limit=5&reviewer=anna")
        ben = await ids(call, "?learner=pa&limit=5&reviewer=ben")
        assert len({*anna, *ben}) == 10


# --- what is not stored ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_damaged", [False, True])
async def test_what_was_stored_is_removed_once_it_is_not_to_be_stored(tmp_path, is_damaged):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await give(call, "q-1")
    path = tmp_path / "store.db.waiting"
    assert SECRET.encode() in path.read_bytes()
    if is_damaged:
        path.write_bytes(SECRET.encode() * 1000)
    store = opened(tmp_path, clock)
    async with calling(store=store, wall_clock=clock, review_stored=False) as call:
        await until(lambda: not path.exists())
        assert (await call("GET", "/readyz")).json()["review_stored"] is None
    for file in tmp_path.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file


async def test_readiness_shows_that_the_queue_cannot_be_stored(tmp_path, monkeypatch):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:

        def full(self, items):
            raise StoreFull("no space left", "make room")

        for is_stored in (True, False, True):
            with monkeypatch.context() as patch:
                if not is_stored:
                    patch.setattr(SqliteWaiting, "put", full)
                await rank(call, "q-1")
                await ids(call)
                ready = await call("GET", "/readyz")
                assert (ready.status_code, ready.json()["review_stored"]) == (200, is_stored)
                health = (await call("GET", "/stats")).json()["health"]
                assert health["review_stored"] is is_stored


# --- hostile clients ------------------------------------------------------------------------------


async def test_a_ranking_right_after_a_restart_takes_no_place_of_a_given_instance(tmp_path):
    clock = Clock()
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await give(call, "q-1")
    async with calling(store=opened(tmp_path, clock), wall_clock=clock) as call:
        await call("POST", "/rank", {"text": "another letter", "id": "q-1"})
        [shown] = (await review(call))["instances"]
        assert shown["text"] == f"{SECRET} q-1"


async def test_labels_of_instances_outside_the_queue_take_no_memory():
    async with calling(review_items=2) as call:
        await rank(call, *(f"q-{number}" for number in range(20)))
        left = await ids(call)
        for number in range(20):
            await label(
                call, f"q-{number}", "x", **({"event_id": f"e-{number}"} if number % 2 else {})
            )
        queue = call.app.api.state.queue
        queue.flush()
        await queue.tidy()
        assert {*queue._labelled} == {*left}
        assert await ids(call) == []


async def test_many_instances_in_a_large_body_and_a_long_text():
    async with calling() as call:
        names = [f"q-{number:03}" for number in range(300)]
        instances = [{"text": f"{name} " * 50, "id": name} for name in names]
        instances[7]["text"] = "a long letter " * 20_000
        body = {"instances": instances, "batch": "b"}
        assert (await call("POST", "/review", body)).json()["ids"] == names
        assert (await review(call, "?batch=b"))["waiting"] == 300
        assert call.app.limits.budget.used == 0
        instances[8] = {"text": 5, "id": "q"}
        assert_problem(await call("POST", "/review", body), 422, "#/instances/8/text")
        empty = b'{"instances": [' + b" " * 70_000 + b"]}"
        assert_problem(await call("POST", "/review", empty), 422, "#/instances")
        many = {"instances": [{"text": "a"}] * 20_000}
        assert_problem(await call("POST", "/review", many), 422, "#/instances/1000")
