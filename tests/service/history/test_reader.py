"""Reading the history: what is in the log alone, and which events restores have undone."""

import pytest

from manyclass.service.history import reader, recorder
from manyclass.service.history.undone import Undone
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.faulty import Clock, FaultyStore
from tests.service.serving import calling

EVENTS = 3_000  # fewer than a segment has: all stay in the log
AT_ONCE = 40  # events of an append; only the first of them has a time


class CountingStore(FaultyStore):
    """A store that counts the events read from its log."""

    def __init__(self, clock):
        super().__init__(clock)
        self.events_read = 0

    def read(self, after):
        for event in super().read(after):
            self.events_read += 1
            yield event


@pytest.fixture(scope="module")
async def call():
    """Yield calls to a service whose log has many events, a second between two appends."""
    clock = Clock(1_000_000.0)
    async with calling(store=CountingStore(clock), wall_clock=clock, max_batch=AT_ONCE) as made:
        for at in range(0, EVENTS, AT_ONCE):
            events = [
                {"features": [f"f{number % 7}"], "classes": ["x"]}
                for number in range(at, at + AT_ONCE)
            ]
            assert (await made("POST", "/learn", {"events": events})).status_code == 200
            clock.now += 1
        yield made


async def page(call, query):
    """Return the events of a page, and how many events of the log were read for it."""
    before = call.store.events_read
    answer = await call("GET", f"/events?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json(), call.store.events_read - before


async def listed(call, query=""):
    """Return the numbers of the events of a page."""
    answer = await call("GET", f"/events?{query}")
    assert answer.status_code == 200, answer.text
    return [each["seq"] for each in answer.json()["events"]]


def time_of(seq, at_once=AT_ONCE):
    return 1_000_000.0 + (seq - 1) // at_once


async def test_an_event_is_found_without_reading_the_others(call):
    for seq in (1, 1_234, EVENTS):
        before = call.store.events_read
        found = (await call("GET", f"/events/seq:{seq}")).json()
        assert (found["seq"], found["time"]) == (seq, time_of(seq))
        assert call.store.events_read - before <= 100
    assert (await call("GET", f"/events/seq:{EVENTS + 1}")).status_code == 404


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_pages_go_on_where_the_last_ended(call, order):
    expected = [*range(1, EVENTS + 1)]
    listed, after = [], None
    while True:
        query = f"order={order}&limit=700" + (f"&after={after}" if after else "")
        found, _ = await page(call, query)
        listed += found["events"]
        after = found["next"]
        if after is None:
            break
    assert [each["seq"] for each in listed] == (expected[::-1] if order == "newest" else expected)
    assert [each["time"] for each in listed] == [time_of(each["seq"]) for each in listed]


@pytest.mark.parametrize(
    "query", ["limit=10", "limit=10&after=1000", f"limit=10&after={EVENTS - 10}&order=oldest"]
)
async def test_a_short_page_reads_a_part_of_the_log(call, query):
    found, read = await page(call, query)
    assert len(found["events"]) == 10
    assert read <= 600


async def test_an_append_that_is_larger_than_a_window_has_its_time():
    clock = Clock(1_000_000.0)
    async with calling(wall_clock=clock) as call:
        await call("POST", "/learn", {"features": ["a"], "classes": ["x"]})
        clock.now += 1
        await call("POST", "/learn", {"events": [{"features": ["a"], "classes": ["x"]}] * 900})
        clock.now += 1
        for query in ("limit=1000", "order=oldest&limit=1000", "order=oldest&after=700"):
            found = (await call("GET", f"/events?{query}")).json()["events"]
            times = {each["time"] for each in found if each["seq"] > 1}
            assert times == {1_000_001.0}
        assert (await call("GET", "/events/seq:850")).json()["time"] == 1_000_001.0


async def test_events_keep_their_times_over_segments_and_deletions(monkeypatch):
    monkeypatch.setattr(recorder, "SEGMENT_EVENTS", 40)
    clock = Clock(1_000_000.0)
    async with calling(wall_clock=clock) as call:
        for _ in range(2):
            events = [{"features": ["a"], "classes": [f"c{at % 3}"]} for at in range(50)]
            await call("POST", "/learn", {"events": events})
            clock.now += 1
        await call("POST", "/snapshots")
        infos = call.store.segments()
        assert [info.first_seq for info in infos] == [1, 41, 81]
        for seq in (1, 51, 81):  # an append or a segment begins there
            await call("DELETE", f"/events/seq:{seq}")
        await call("POST", "/rebuild")
        listed = (await call("GET", "/events?order=oldest&limit=1000")).json()["events"]
        expected = [(seq, time_of(seq, 50)) for seq in range(1, 101) if seq not in (1, 51, 81)]
        assert [(each["seq"], each["time"]) for each in listed] == expected


def test_events_between_a_snapshot_and_the_mark_are_undone():
    undone = Undone([(10, 5), (30, 20), (12, 11)])
    assert [seq for seq in range(40) if seq in undone] == [*range(6, 10), *range(21, 30)]
    assert 5 not in Undone([])


def test_a_restore_that_was_undone_itself_counts_no_more():
    undone = Undone([(10, 5), (20, 8)])
    assert [seq for seq in range(25) if seq in undone] == [*range(9, 20)]


def test_many_restores_are_apart_from_each_other():
    marks = [(10 * at + 8, 10 * at + 3) for at in range(1, 500)]
    undone = Undone(marks)
    expected = {seq for mark, source in marks for seq in range(source + 1, mark)}
    assert {seq for seq in range(6_000) if seq in undone} == expected


async def test_events_before_a_gap_are_listed(tmp_path):
    for is_kept in (True, False, True):
        clock = Clock(1_000_000.0)
        store = SqliteStore(tmp_path / "store.db", clock)
        async with calling(store=store, wall_clock=clock, history=is_kept, snapshot_keep=1) as call:
            if is_kept and (await call("GET", "/stats")).json()["seq"]:
                for order in ("newest", "oldest"):
                    answer = await call("GET", f"/events?order={order}")
                    assert [each["seq"] for each in answer.json()["events"]] == [1]
                assert (await call("GET", "/events/seq:2")).status_code == 404
            await call("POST", "/learn", {"features": ["a"], "classes": ["x"]})
            await call("POST", "/snapshots")


async def test_a_class_has_its_events_under_its_present_name_and_with_corrected_labels():
    async with calling() as call:
        for name in ("old ☃", "kept", "mistaken"):
            body = {"features": [name], "classes": [name], "source": "s"}
            assert (await call("POST", "/learn", body)).status_code == 200
        renamed = await call("POST", "/classes/old%20%E2%98%83", {"rename": "new"})
        corrected = await call("PUT", "/events/seq:3", {"classes": ["kept"]})
        assert renamed.status_code == corrected.status_code == 200
        for _ in range(2):  # before and after the history is written anew
            for name, expected in {
                "new": [1],
                "kept": [3, 2],
                "mistaken": [],
                "old ☃": [1],
            }.items():
                assert await listed(call, f"class={name}&source=s") == expected, name
            assert (await call("POST", "/rebuild")).status_code == 200


async def test_wrong_leaves_out_what_ranked_first():
    async with calling() as call:
        for name in ("x", "x", "y", "x"):
            await call("POST", "/learn", {"features": ["one"], "classes": [name]})
        assert await listed(call) == [4, 3, 2, 1]
        assert await listed(call, "wrong=true") == [3, 1]


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_a_slow_search_goes_on_behind_each_part_that_it_has_read(monkeypatch, order):
    """Also if no event of the part can match; and it finds each event once."""
    monkeypatch.setattr(recorder, "SEGMENT_EVENTS", 10)
    monkeypatch.setattr(reader, "SCAN_SECONDS", -1.0)
    async with calling() as call:
        for at in range(60):
            source = {"source": "rare"} if at in (7, 31, 32) else {}
            await call("POST", "/learn", {"features": ["a"], "classes": ["x"]} | source)
            if at == 45:
                await call("POST", "/snapshots")
        found, pages, after = [], 0, None
        while True:
            given = "" if after is None else f"&after={after}"
            answer = await call("GET", f"/events?source=rare&order={order}{given}")
            page = answer.json()
            found += [each["seq"] for each in page["events"]]
            pages += 1
            if page["next"] is None:
                break
            assert page["next"] != after
            after = page["next"]
        assert found == ([8, 32, 33] if order == "oldest" else [33, 32, 8])
        assert pages >= 6
