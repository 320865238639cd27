"""The instances of a source that is erased leave the queue and the memory of every process."""

import asyncio
import time

import pytest

from manyclass.service.ingest import erasure
from manyclass.service.ingest.stored_instance import Absence
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreFull
from tests.redis_server import RedisServer
from tests.service.engines import until
from tests.service.serving import assert_problem, calling


async def rank(call, name, source=None):
    body = {"text": f"the words of {name}", "id": name, "source": source}
    assert (await call("POST", "/rank", body)).status_code == 200


async def label(call, name):
    return await call("POST", "/learn", {"id": name, "classes": ["x"]})


async def waiting(call):
    found = (await call("GET", "/review?limit=100")).json()["instances"]
    return {each["id"] for each in found}


def in_memory(call, *names):
    """Return those of the ids whose instance is in the memory of the process."""
    found = {name: call.app.api.state.pending.find(name) for name in names}
    return {name for name, each in found.items() if not isinstance(each, Absence)}


async def test_nothing_of_the_source_waits_in_memory():
    async with calling() as call:
        for name in ("anna-1", "anna-2"):
            await rank(call, name, "anna")
        await rank(call, "ben-1", "ben")
        await rank(call, "none-1")
        await label(call, "anna-1")
        body = {"id": "none-1", "classes": ["x"], "source": "anna"}  # the label names the source
        assert (await call("POST", "/learn", body)).status_code == 200
        erased = (await call("DELETE", "/events?source=anna")).json()
        assert (erased["deleted"], erased["waiting"]) == (2, 1)
        for name in ("anna-1", "anna-2", "none-1"):
            assert_problem(await label(call, name), 410, "#/id")
        assert await waiting(call) == {"ben-1"}
        assert (await label(call, "ben-1")).status_code == 200
        await rank(call, "anna-3", "anna")  # later ones wait
        assert await waiting(call) == {"anna-3"}


@pytest.mark.parametrize("more", ["&batch=b", "&reviewer=cleo"])
async def test_a_label_to_be_given_again_finds_its_instance(more):
    async with calling() as call:
        await rank(call, "q-1", "anna")
        body = {"id": "q-1", "classes": ["x"], "reviewer": "cleo", "batch": "b"}
        await call("POST", "/learn", body)
        assert (await call("DELETE", f"/events?source=anna{more}")).json()["deleted"] == 1
        assert (await label(call, "q-1")).status_code == 200


async def test_an_instance_erased_by_its_id_is_not_in_memory():
    async with calling() as call:
        await rank(call, "q-1")
        await rank(call, "q-2")
        assert await waiting(call) == {"q-1", "q-2"}
        assert (await call("DELETE", "/events/q-1")).json()["waiting"] == 1
        assert in_memory(call, "q-1", "q-2") == {"q-2"}


def by(server):
    return {"store": open_store(server.url, time.time, 5.0), "wall_clock": time.time}


async def test_every_process_of_a_store_erases(tmp_path, monkeypatch):
    monkeypatch.setattr(erasure, "RETRY_SECONDS", 0)
    with RedisServer(tmp_path) as server:
        async with calling(**by(server)) as one, calling(**by(server)) as two:
            names = {"anna-1", "anna-2", "ben-1"}
            for name in names:
                await rank(two, name, name.split("-")[0])
            queue = two.app.api.state.queue
            put, failed = queue._store.put, []

            def full(items):
                failed.append({**items})
                raise StoreFull("no room")

            queue._store.put = full
            await asyncio.to_thread(queue.flush)
            assert {*failed[-1]} == names  # copied, and not stored
            assert (await one("DELETE", "/events?source=anna")).status_code == 200
            await until(lambda: in_memory(two, *names) == {"ben-1"})
            await until(lambda: {*queue._contents.unsaved} == {"ben-1"})
            queue._store.put = put
            await asyncio.to_thread(queue.flush)
            assert await waiting(one) == {"ben-1"}
            assert_problem(await label(one, "anna-1"), 410, "#/id")


async def test_processes_that_are_not_told_are_named_by_the_answer(tmp_path):
    with RedisServer(tmp_path) as server:
        async with calling(**by(server)) as one, calling(**by(server)) as two:
            await rank(two, "anna-1", "anna")
            post = one.app.engine.cluster.shared.post

            def full(messages):
                raise StoreFull("no room")

            one.app.engine.cluster.shared.post = full
            assert_problem(await one("DELETE", "/events?source=anna"), 503)
            one.app.engine.cluster.shared.post = post
            assert (await one("DELETE", "/events?source=anna")).status_code == 200
            await until(lambda: not in_memory(two, "anna-1"))


async def test_an_erasure_is_tried_until_the_store_takes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(erasure, "RETRY_SECONDS", 0)
    with RedisServer(tmp_path) as server:
        async with (
            calling(**by(server), review_stored=False) as one,
            calling(**by(server), review_stored=False) as two,
        ):
            await rank(two, "anna-1", "anna")
            await rank(two, "ben-1", "ben")
            assert await waiting(two) == {"anna-1", "ben-1"}
            store = two.app.api.state.queue._store
            remove, refused = store.remove, []

            def refuse_once(ids):
                if not refused:
                    refused.append(ids)
                    raise StoreFull("no room")
                remove(ids)

            store.remove = refuse_once
            assert (await one("DELETE", "/events?source=anna")).status_code == 200
            await until(lambda: [*store.heads()] == ["ben-1"])
            assert refused
