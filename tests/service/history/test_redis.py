"""The history of a store in Redis, with an archive and without, of several processes."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from manyclass.core.event import Event
from manyclass.service.history.reader import Filter
from tests.redis_server import RedisServer
from tests.service.engines import until
from tests.service.history.redis_cluster import History, event, leader, same
from tests.service.history.test_rebuild import content, taught


@pytest.fixture
def server(tmp_path):
    with RedisServer(tmp_path / "redis") as started:
        yield started


@pytest.fixture(params=["archive", "log only"])
def history(request, server, tmp_path):
    return History(server, tmp_path / "archive" if request.param == "archive" else None)


@pytest.fixture
def archived(server, tmp_path):
    return History(server, tmp_path / "archive")


async def test_any_process_lists_and_corrects_and_all_go_over_to_the_rebuilt_state(history):
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(history.engine()) for _ in range(3)]
        first, second, third = await leader(*engines)
        events = [event(f"f{n % 7} g{n % 5}", f"c{n % 4}", event_id=f"e{n}") for n in range(50)]
        for at, each in enumerate(events):
            await engines[at % 3].submit([each])
        await third.reached(50, 10)
        found = await asyncio.to_thread(third.history.page, Filter(), 100)
        assert len(found.records) == 50
        wrong = next(each for each in found.records if each.event.event_id == "e10")
        amend = Event.amend(wrong.seq, wrong.event.instance, ["c9"], wrong.classes)
        await third.submit([amend])
        gone = next(each for each in found.records if each.event.event_id == "e20")
        await second.submit([Event.amend(gone.seq, gone.event.instance, [], gone.classes)])
        await same(*engines)
        assert [len(each.history.amendments) for each in engines] == [2, 2, 2]
        assert (await asyncio.to_thread(second.history.find, wrong.seq)).classes == ["c9"]
        assert await asyncio.to_thread(second.history.find, gone.seq) is None
        done = await first.rebuild_state()
        assert (done.corrected, done.deleted, done.unreached) == (1, 1, 0)
        await same(*engines)
        order = {each.seq: each.event.event_id for each in found.records}
        amended = {each.event_id: each for each in events}
        amended["e10"] = event("f3 g0", "c9", event_id="e10")
        del amended["e20"]
        expected = [amended[order[seq]] for seq in sorted(order) if order[seq] in amended]
        assert content(first.model) == content(taught(first.model.options, expected))
        for each in engines:
            await asyncio.to_thread(each.history.refresh)
            assert len(each.history.amendments) == 0
            left = await asyncio.to_thread(each.history.page, Filter(), 100)
            assert len(left.records) == (49 if history.url else 0)
        await first.submit([event("f1 g1", "c1")])
        await same(*engines)
    async with history.engine() as again:
        assert again.model.has_class("c9")


async def test_nothing_of_a_deleted_event_is_left_in_redis_and_in_the_archive(
    history, server, tmp_path
):
    async with history.engine() as engine:
        await engine.submit([event("a b", "x")])
        secret = event("zzsecret there", "zzclass", source="zzperson", text="zzsecret there")
        [result] = await engine.submit([secret])
        await engine.submit([event("c d", "x")])
        await engine.take_snapshot()
        await engine.submit([event("e f", "y")])
        await until(lambda: engine.cluster.is_leader)
        await engine.take_snapshot()
        assert _holds(tmp_path)
        await engine.submit([Event.amend(result.seq, secret.instance, [], secret.classes)])
        base_is_behind = history.url is None
        done = await engine.rebuild_state()
        assert done.deleted == 1
        assert not base_is_behind or done.unreached == 0
        await asyncio.sleep(0.5)  # the server removes its old file in a thread
        assert _holds(tmp_path) == []


def _holds(folder):
    words = (b"zzsecret", b"zzclass", b"zzperson")
    files = [each for each in folder.rglob("*") if each.is_file()]
    return [each for each in files if any(word in each.read_bytes() for word in words)]
