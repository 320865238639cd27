"""The figures of the history, in metrics and /stats."""

import pytest

from manyclass.service.store.errors import StoreFull
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.faulty import Clock, FaultyStore
from tests.service.serving import calling

EVENT = {"features": ["a"], "classes": ["x"], "source": "anna"}


def clock_at(seconds):
    clock = Clock()
    clock.now = seconds
    return clock


async def figures(call):
    return (await call("GET", "/stats")).json()["history"]


async def test_amendments_grow_older_until_a_rebuild():
    clock = clock_at(1_000_000.0)
    async with calling(wall_clock=clock) as call:
        await call("POST", "/learn", {"events": [EVENT] * 3})
        clock.now += 10
        await call("PUT", "/events/seq:1", {"classes": ["y"]})
        clock.now += 20
        await call("DELETE", "/events/seq:2")
        clock.now += 5
        shown = await figures(call)
        assert (shown["first_seq"], shown["events"], shown["bytes"]) == (1, 5, 0)
        assert (shown["amendments"], shown["amendment_age_seconds"]) == (2, 25.0)
        assert shown["erasures"] == 1  # the other one is corrected
        samples = await call.metrics()
        assert samples["amendments_waiting"] == 2
        assert samples["amendment_age_seconds"] == 25.0
        assert "rebuild_timestamp_seconds" not in samples
        report = (await call("POST", "/rebuild")).json()
        shown = await figures(call)
        assert (shown["amendments"], shown["amendment_age_seconds"]) == (0, 0.0)
        assert shown["last_rebuild"] == report
        assert shown["bytes"] > 0
        samples = await call.metrics()
        assert samples["rebuild_timestamp_seconds"] == report["finished_at"] == clock.now
        assert samples["history_bytes"] == shown["bytes"]
        assert samples["history_events"] == 5
        assert samples["rebuild_failures_total"] == 0


async def test_amendments_are_as_old_after_a_restart(tmp_path):
    clock = clock_at(1_000_000.0)
    for is_packed in (False, True):
        path = tmp_path / f"{is_packed}.db"
        async with calling(store=SqliteStore(path, clock), wall_clock=clock) as call:
            await call("POST", "/learn", EVENT)
            clock.now += 10
            await call("PUT", "/events/seq:1", {"classes": ["y"]})
            if is_packed:
                await call("POST", "/snapshots")
        clock.now += 90
        async with calling(store=SqliteStore(path, clock), wall_clock=clock) as call:
            # as far as it is known: an amendment has the time of the last event before it
            assert (await figures(call))["amendment_age_seconds"] == 100.0


async def test_a_restart_rebuilds_what_has_waited_for_long(tmp_path):
    clock, path = clock_at(1_000_000.0), tmp_path / "store.db"
    settings = {"rebuild_seconds": 3600.0, "wall_clock": clock}
    async with calling(store=SqliteStore(path, clock), **settings) as call:
        await call("POST", "/learn", EVENT)
        await call("PUT", "/events/seq:1", {"classes": ["y"]})
        call.app.engine.tick()
        assert not call.app.engine.rebuild.is_running
    clock.now += 3600
    async with calling(store=SqliteStore(path, clock), **settings) as call:
        call.app.engine.tick()
        await call.app.engine._tasks.join()
        shown = await figures(call)
        assert (shown["amendments"], shown["last_rebuild"]["corrected"]) == (0, 1)


class NoRoom(FaultyStore):
    """A store that keeps no segment."""

    def save_segment(self, info, body):
        raise StoreFull("the disk is full")


async def test_failures_are_counted():
    async with calling(store=NoRoom()) as call:
        await call("POST", "/learn", EVENT)
        await call("POST", "/snapshots")
        assert (await call.metrics())["history_failures_total"] == 1
        refused = await call("POST", "/rebuild")
        assert refused.status_code == 503
        samples = await call.metrics()
        assert samples["history_failures_total"] == 2
        assert samples["rebuild_failures_total"] == 1


class NoRoomToScrub(FaultyStore):
    """A store that cannot write its file anew the first time."""

    scrubs = 0

    def scrub(self):
        self.scrubs += 1
        if self.scrubs == 1:
            raise StoreFull("the disk is full")


async def test_amendments_wait_until_the_file_is_rewritten():
    store = NoRoomToScrub()
    async with calling(store=store) as call:
        await call("POST", "/learn", {"events": [EVENT] * 3})
        await call("PUT", "/events/seq:1", {"classes": ["y"]})
        await call("DELETE", "/events/seq:2")
        assert (await call("POST", "/rebuild")).status_code == 503
        shown = await figures(call)
        assert (shown["amendments"], shown["rebuild_failures"]) == (2, 1)
        listed = (await call("GET", "/events")).json()["events"]
        assert [each["classes"] for each in listed] == [["x"], ["y"]]
        digest = call.digest()
        assert (await call("POST", "/rebuild")).status_code == 200
        assert call.digest() == digest
        assert (await figures(call))["amendments"] == 0
        assert (await call("GET", "/events")).json()["events"] == listed


async def test_without_a_history_there_are_no_figures():
    async with calling(history=False) as call:
        assert await figures(call) is None
        assert not [name for name in await call.metrics() if name.startswith("history_")]
        assert (await call("GET", "/events")).status_code == 404


@pytest.mark.parametrize("wanted", ["history_bytes", "amendments_waiting"])
async def test_the_figures_are_there_before_an_event(wanted):
    async with calling() as call:
        assert (await call.metrics())[wanted] == 0
