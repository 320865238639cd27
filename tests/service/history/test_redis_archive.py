"""The archive of a history in Redis: it fails, is full, and has objects that were never listed."""

import asyncio
from pathlib import Path

import pytest

from manyclass.service.history import history as history_parts
from manyclass.service.history import recorder
from manyclass.service.history.reader import Filter
from manyclass.service.store.errors import StoreFull, StoreUnavailable
from tests.service.engines import until
from tests.service.history.amending import content, taught
from tests.service.history.redis_cluster import event


async def test_a_failing_archive_holds_the_log_until_its_limit_and_learning_goes_on(archived):
    async with archived.engine(history_pending_bytes=20_000, snapshot_keep=1) as engine:
        await until(lambda: engine.cluster.is_leader)
        archive = engine.store.archived_segments._archive
        puts = archive.put

        def fails(*_):
            raise StoreUnavailable("the archive is away", "")

        archive.put = fails
        await engine.submit([event(f"f{n}", "x") for n in range(20)])
        await engine.take_snapshot()
        assert (engine.history.recorder.end, engine.history.recorder.lost_events) == (0, 0)
        assert len((await asyncio.to_thread(engine.history.page, Filter(), 100)).records) == 20
        await engine.submit([event(f"f{n} {'g' * 200}", "x") for n in range(100)])
        await engine.cluster.poll()  # the log is trimmed up to the position it says
        await engine.take_snapshot()
        await asyncio.to_thread(engine.history.refresh)
        assert engine.history.recorder.lost_events == 120
        assert engine.stats().history.lost_events == 120
        archive.put = puts
        await engine.submit([event("h", "y")])
        await engine.take_snapshot()
        found = await asyncio.to_thread(engine.history.page, Filter(), 100)
        assert [each.seq for each in found.records] == [121]
        assert (await engine.rebuild_state()).base == 120


async def test_a_full_redis_lists_what_the_archive_has_taken(archived, server, caplog):
    """Its memory is used up: segments are recorded all the same, and nothing is lost."""
    async with archived.engine(snapshot_keep=1) as engine:
        await until(lambda: engine.cluster.is_leader)
        await engine.submit([event(f"f{n}", "x") for n in range(20)])
        with server.client() as client:
            client.config_set("maxmemory", 1)
            await until(lambda: engine.cluster.heartbeat.is_full)
            await engine.cluster.poll()
            with pytest.raises(StoreFull):
                await engine.submit([event("g", "x")])
            engine.tick()
            await engine._tasks.join()
            history = engine.history
            assert (history.recorder.end, history.recorder.lost_events) == (20, 0)
            assert "lost" not in caplog.text
            client.config_set("maxmemory", 0)
        found = await asyncio.to_thread(history.page, Filter(), 100)
        assert [each.seq for each in found.records] == [*range(20, 0, -1)]
        assert (await engine.rebuild_state()).events == 20


async def test_an_archive_that_fails_once_in_a_full_redis_loses_nothing(
    archived, server, monkeypatch
):
    monkeypatch.setattr(history_parts, "PACK_PAUSES", (0.0, 0.0))
    async with archived.engine(snapshot_keep=1) as engine:
        await until(lambda: engine.cluster.is_leader)
        await engine.submit([event(f"f{n}", "x") for n in range(20)])
        archive = engine.store.archived_segments._archive
        puts, fails = archive.put, [StoreUnavailable("away", ""), StoreUnavailable("away", "")]

        def put(*arguments):
            if fails:
                raise fails.pop()
            puts(*arguments)

        archive.put = put
        with server.client() as client:
            client.config_set("maxmemory", 1)
            await until(lambda: engine.cluster.heartbeat.is_full)
            engine.tick()
            await engine._tasks.join()
            client.config_set("maxmemory", 0)
        recorder = engine.history.recorder
        assert (recorder.end, recorder.lost_events, fails) == (20, 0, [])


async def test_objects_that_were_never_listed_are_deleted_by_a_rebuild(archived, tmp_path):
    async with archived.engine() as engine:
        await engine.submit([event("a b", "x")])
        await until(lambda: engine.cluster.is_leader)
        segments = engine.store.archived_segments
        left = f"{segments._session.identity}/000000000000001-000000000000001-1-99.segment"
        later = f"{segments._session.identity}/000000000000001-000000000000001-900-1.segment"
        for name in (left, later):
            segments._archive.put(name, b"of a leader that ended")
        half = (tmp_path / "archive" / left).with_name(f".{Path(left).name}.0a1b.tmp")
        half.write_bytes(b"of a write that was killed")
        await engine.rebuild_state()
        assert segments._archive.get(left) is None
        assert not half.exists()
        assert segments._archive.get(later) is not None  # of a later leader: about to be listed


async def test_the_oldest_events_leave_the_archive(archived, monkeypatch):
    monkeypatch.setattr(recorder, "SEGMENT_EVENTS", 10)
    async with archived.engine(history_bytes=300, snapshot_keep=1) as engine:
        await until(lambda: engine.cluster.is_leader)
        expected = [event(f"f{n % 7} g{n}", f"c{n % 4}") for n in range(60)]
        for each in expected:
            await engine.submit([each])
        await engine.take_snapshot()
        await engine.rebuild.shorten()
        first = engine.history.reader.first_seq
        assert first > 1
        done = await engine.rebuild_state()
        assert done.base == first - 1
        assert content(engine.model) == content(taught(engine.model.options, expected))
