"""Bounds on the lines of a stream: length, time, memory, turns of the event loop."""

import asyncio
import gzip
import json
import tracemalloc
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.http import line_reader, time_slice
from manyclass.service.http.line_reader import Lines, pieces
from manyclass.service.http.memory_budget import MemoryBudget, Reservation
from manyclass.service.http.problems import Problem
from manyclass.service.http.request_body import GUNZIP_BYTES
from manyclass.service.log.submission import NAME_BYTES
from tests.service.faulty import Clock, FaultyStore, many_turns
from tests.service.serving import assert_problem, calling, line

TEXT = " ".join(f"{number:x}" for number in Random(1).sample(range(16**7, 16**8), 100))
INSTANCE_BYTES = len(bytes(DEFAULT_TEXT.instance_of(TEXT).instance))  # 9 times those of the text


def fed(lines, data, beside=0):
    """Return the lines that end in data that was received, with bytes beside it."""
    lines.hold(len(data) + beside)
    return lines.feed(data)


async def test_a_line_that_is_too_long_is_skipped():
    async with calling(max_body_bytes=1024) as call:
        talk = call.streaming()
        talk.say(line())
        for _ in range(50):
            talk.say(b"x" * 100)
        talk.say(b"\n" + line() + b"y" * 2000, more=False)
        *faults, summary = await talk.end_lines()
        assert [(each["line"], each["status"]) for each in faults] == [(2, 422), (4, 422)]
        assert summary["accepted"] == 2


async def test_others_have_their_turn_while_a_client_sends_rubbish(call, monkeypatch):
    monkeypatch.setattr(time_slice, "SLICE_SECONDS", 0)
    talk = call.streaming()
    talk.say(b"\n" * 100_000 + b"x\n" * 10_000, more=False)
    turns = 0
    while not talk.task.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 300


@given(
    st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=8),
    st.lists(st.integers(0, 100), max_size=10),
    st.booleans(),
)
def test_lines_are_the_same_however_they_are_cut(texts, cuts, ended):
    data = b"\n".join(texts) + (b"\n" if ended and texts else b"")
    borders = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    budget = MemoryBudget(2**20)
    reservation = Reservation(budget)
    lines = Lines(8, reservation, Clock())
    found = []
    for start, end in pairwise(borders):
        found += fed(lines, data[start:end])
    found += lines.rest()
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert found == [None if len(text) > 8 else text for text in expected]


def test_whole_lines_count_until_they_are_learned():
    budget = MemoryBudget(2**20)
    lines = Lines(100, Reservation(budget), Clock())
    assert list(fed(lines, b"ab\ncd\nef", 500)) == [b"ab", b"cd"]
    lines.hold(1000)
    assert budget.used == 8 + 500 + 1000
    lines.settle()
    assert budget.used == 2
    assert list(fed(lines, b"g\n")) == [b"efg"]
    lines.settle()
    assert budget.used == 0


async def test_lines_on_their_way_through_the_log_count_in_the_budget():
    store = FaultyStore()
    names = " ".join(f"c{number}" for number in range(100))
    for packed in (False, True):
        async with calling(store=store) as call:
            sent = line(classes=names) * 3
            budget = call.app.limits.budget
            encoding = {"content-encoding": "gzip"} if packed else {}
            talk = call.streaming(**encoding)
            with store.before_append.shut() as gate:
                talk.say(gzip.compress(sent) if packed else sent, more=False)
                await gate.reached()
                assert budget.used >= len(sent) + 3 * 100 * NAME_BYTES
            await talk.end_lines()
            assert budget.used == 0


async def test_the_form_of_an_event_is_gone_while_the_event_waits_for_the_log():
    store = FaultyStore()
    names = [f"{number:03}".ljust(1000, "x") for number in range(60)]
    size, count = sum(map(len, names)), 20
    async with calling(store=store) as call:
        await call("POST", "/learn", {"features": ["a"], "classes": names})
        for many in (False, True):
            event = {"features": ["a"], "classes": names}
            body = {"events": [event]} if many else event
            tracemalloc.start()
            try:
                with store.before_append.shut():
                    sent = [
                        asyncio.ensure_future(call("POST", "/learn", body)) for _ in range(count)
                    ]
                    while call.app.engine.stats().queued_events < count:
                        await asyncio.sleep(0.01)
                    held = tracemalloc.get_traced_memory()[0]
                    counted = call.app.engine.stats().queued_bytes
                    answers = asyncio.gather(*sent)
                await answers
            finally:
                tracemalloc.stop()
            sent_bytes = count * size  # the client keeps them too
            assert held - sent_bytes < counted + sent_bytes / 2


async def test_names_on_their_way_through_the_log_count_in_the_budget():
    store = FaultyStore()
    event = {"text": "a", "classes": [f"{number:x}" for number in range(500)]}
    many = {"events": [event] * 3}
    large = {"events": [event] * 40}
    async with calling(store=store) as call:
        for body, events in ((event, 1), (many, 3), (large, 40)):
            with store.before_append.shut() as gate:
                answer = asyncio.ensure_future(call("POST", "/learn", body))
                await gate.reached()
                assert call.app.limits.budget.used >= events * 500 * NAME_BYTES
            assert (await answer).status_code == 200
            assert call.app.limits.budget.used == 0


async def test_the_features_of_texts_on_their_way_through_the_log_count_in_the_budget():
    """They take ten times the bytes of the body."""
    store = FaultyStore()
    event = {"text": TEXT, "classes": ["x"]}
    many = {"events": [event] * 100}
    async with calling(store=store, max_body_bytes=2**20) as call:
        budget = call.app.limits.budget
        for lines in (False, True):
            with store.before_append.shut() as gate:
                if lines:
                    talk = call.streaming()
                    talk.say((json.dumps(event).encode() + b"\n") * 100, more=False)
                    answer = asyncio.ensure_future(talk.end())
                else:
                    answer = asyncio.ensure_future(call("POST", "/learn", many))
                await gate.reached()
                assert budget.used >= 100 * INSTANCE_BYTES
            await answer
            assert budget.used == 0


@pytest.mark.parametrize("how", [{}, {"among": ["x"]}, {"explain": True}])
async def test_texts_whose_features_never_fit_in_memory_are_refused(how):
    count = 20
    limit = 20 * INSTANCE_BYTES
    async with calling(max_body_bytes=limit // 2, max_buffered_bytes=limit) as call:
        few = {"instances": [{"text": TEXT}] * 4} | how
        assert (await call("POST", "/rank", few)).status_code == 200
        waiting = len(call.app.api.state.pending)
        many = {"instances": [{"text": TEXT}] * count} | how
        assert len(json.dumps(many)) < limit // 2
        refused = assert_problem(await call("POST", "/rank", many), 413)
        assert "send it in parts" in refused["detail"]
        assert (len(call.app.api.state.pending), call.app.limits.budget.used) == (waiting, 0)
        others = Reservation(call.app.limits.budget)
        others.resize(16 * INSTANCE_BYTES)
        assert (await call("POST", "/rank", few)).status_code == 503  # of these, now
        others.release()
        event = {"text": TEXT, "classes": ["x"]}
        assert_problem(await call("POST", "/learn", {"events": [event] * count}), 413)
        assert (await call("POST", "/learn", {"events": [event] * 4})).status_code == 200
        assert call.app.limits.budget.used == 0


async def test_names_that_do_not_fit_in_memory_are_refused():
    event = {"text": "a", "classes": [f"{number:x}" for number in range(1000)]}
    async with calling(max_body_bytes=2**18, max_buffered_bytes=2**20) as call:
        assert (await call("POST", "/learn", event)).status_code == 200
        before = call.digest()
        assert (await call("POST", "/learn", {"events": [event] * 30})).status_code == 413
        talk = call.streaming()
        talk.say((json.dumps(event).encode() + b"\n") * 30, more=False)
        assert (await talk.end())[0] == 413
        assert (call.digest(), call.app.limits.budget.used) == (before, 0)


async def test_an_unfinished_line_counts_in_the_budget_and_a_finished_one_does_not(call):
    budget = call.app.limits.budget
    talk = call.streaming()
    talk.say(line("a") + line("b")[:-10])
    await call.settled(1)
    await many_turns()
    assert budget.used == len(line("b")) - 10
    talk.say(line("b")[-10:])
    await call.settled(2)
    await many_turns()
    assert budget.used == 0
    talk.say(line()[:7])
    await many_turns()
    assert budget.used == 7
    talk.leave()
    await talk.end()
    assert budget.used == 0


async def test_the_unpacking_of_a_stream_counts_too(call):
    budget = call.app.limits.budget
    talk = call.streaming(**{"content-encoding": "gzip"})
    talk.say(gzip.compress(b" " * 5000))
    await many_turns()
    assert budget.used == GUNZIP_BYTES + 5000
    talk.say(gzip.compress(b"\n"), more=False)
    assert (await talk.end())[0] == 200
    assert budget.used == 0


async def test_a_line_for_which_there_is_no_memory_is_refused(call):
    budget = call.app.limits.budget
    budget.limit = 10_000
    others = Reservation(budget)
    others.resize(5_000)
    talk = call.streaming()
    talk.say(line())
    await call.settled(1)
    talk.say(b" " * 6_000)
    failure = await talk.hear_line()
    assert (failure["kind"], failure["status"]) == ("failure", 503)
    assert failure["learned_up_to_line"] == 1
    await talk.end()
    assert budget.used == 5_000
    talk = call.streaming()
    talk.say(b" " * 6_000)
    status, headers, _ = await talk.end()
    assert status == 503
    assert int(headers[b"retry-after"]) >= 1
    others.release()
    talk = call.streaming()
    talk.say(b" " * 10_001)  # never
    assert (await talk.end())[0] == 413
    assert budget.used == 0


async def test_a_line_that_does_not_end_ends_its_stream(call, report_after, monkeypatch):
    """Nothing more comes, or a little now and then. Between lines a stream may be quiet."""
    report_after(0.001)
    monkeypatch.setattr(line_reader, "LINE_SECONDS", 0.05)
    for more in (b"", b" "):
        seq = call.app.engine.model.seq
        talk = call.streaming()
        talk.say(line())
        assert (await talk.hear_line())["kind"] == "progress"
        await asyncio.sleep(0.1)
        assert not talk.task.done()
        talk.say(line()[:5])
        while not talk.unheard():
            talk.say(more)
            await asyncio.sleep(0.001)
        failure = await talk.hear_line()
        assert (failure["kind"], failure["status"]) == ("failure", 408)
        assert failure["accepted"] == 1
        assert call.app.engine.model.seq == seq + 1
        await talk.end()


def test_the_time_for_a_line_begins_with_the_line():
    clock = Clock()
    lines = Lines(100, Reservation(MemoryBudget(2**20)), clock)
    for _ in range(10):
        clock.now += 59.0
        list(fed(lines, b"a\nb"))
    clock.now += 61.0
    assert list(fed(lines, b"\n")) == [b"b"]
    list(fed(lines, b"c"))
    clock.now += 59.0
    list(fed(lines, b"c"))
    clock.now += 2.0
    with pytest.raises(Problem):
        list(fed(lines, b""))


async def test_what_was_received_counts_before_its_reader_gets_a_turn():
    budget = MemoryBudget(2**20)
    lines = Lines(100, Reservation(budget), Clock())

    async def receive():
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    stop = asyncio.get_running_loop().create_future()
    body = pieces(receive, None, stop, 1, lines.hold)
    reading = asyncio.ensure_future(anext(body))
    while not budget.used:
        await asyncio.sleep(0)
    assert not reading.done()
    assert budget.used == 1000
    assert await reading == b"x" * 1000
    await body.aclose()


async def test_what_does_not_fit_ends_the_stream_where_it_is_received():
    lines = Lines(10**6, Reservation(MemoryBudget(500)), Clock())

    async def receive():
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    stop = asyncio.get_running_loop().create_future()
    with pytest.raises(Problem, match="takes more than 500 bytes of memory"):
        await anext(pieces(receive, None, stop, 1, lines.hold))
