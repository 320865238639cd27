"""Plain rankings and what they share with other requests: connections, keys, limits, labels."""

import asyncio
import gc
import json
import os
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from manyclass.service.http.stalls import QUIET_SECONDS
from tests.service.faulty import Clock
from tests.service.http.two_ways import PREFIX, rank, two_ways
from tests.service.serving import KEYS, post, serving, statuses

BODY = b'{"features":["a","b"]}'
EVENTS = [{"features": [f"{each}", "a"], "classes": [f"c{each % 3}"]} for each in range(20)]


@pytest.fixture
async def ways():
    async with two_ways() as both:
        await both.learn(EVENTS)
        yield both


def body_of(answer):
    return json.loads(answer.partition(b"\r\n\r\n")[2])


# --- one connection -------------------------------------------------------------------------------


class HandClock:
    """The part of an event loop that the protocol uses for its timers."""

    def __init__(self):
        self.now = 100.0
        self.timers = []

    def time(self):
        return self.now

    def call_later(self, seconds, callback):
        timer = Mock(due=self.now + seconds, callback=callback)
        timer.cancel = lambda: self.timers.remove(timer)
        self.timers.append(timer)
        return timer

    def move(self, seconds):
        self.now += seconds
        for timer in [each for each in self.timers if each.due <= self.now]:
            self.timers.remove(timer)
            timer.callback()


async def test_an_unused_connection_is_closed_after_the_last_plain_ranking(ways):
    protocol, line = ways.native.connect()
    clock = protocol.loop = HandClock()
    for _ in range(10):
        protocol.data_received(rank(BODY))
        clock.move(4.9)
        assert len(clock.timers) == 1
    assert not line.closed
    clock.move(0.2)
    assert line.closed
    assert clock.timers == []
    assert ways.native.answered_plainly == 10


async def test_the_timer_of_another_request_is_that_of_plain_rankings_too(ways):
    protocol, line = ways.native.connect()
    clock = protocol.loop = HandClock()
    clock.create_task = asyncio.get_running_loop().create_task
    other = rank(b'{"features":["a"],"k":2.0}')
    for request in (rank(BODY), other, rank(BODY), other, other, rank(BODY)):
        protocol.data_received(request)
        await ways.native.settle(protocol)
        assert len(clock.timers) == 1
        clock.move(4.9)
        assert not line.closed
    protocol.data_received(other[:9])
    assert clock.timers == []
    protocol.data_received(other[9:])
    await ways.native.settle(protocol)
    clock.move(4.9)
    assert not line.closed
    clock.move(0.2)
    assert line.closed


async def test_a_client_that_ranks_plainly_is_not_quiet(ways):
    for way in (ways.native, ways.python):
        protocol, line = way.connect()
        for _ in range(2 * QUIET_SECONDS):
            protocol.data_received(rank(BODY))
            await way.settle(protocol)
            protocol.pass_second()
        assert not line.closed
        for _ in range(QUIET_SECONDS + 2):
            protocol.pass_second()
        assert line.closed
        protocol.connection_lost(None)
    ways.assert_equal_counts()


async def test_the_longest_idle_connection_is_the_first(ways):
    for way in (ways.native, ways.python):
        connections = [way.connect()[0] for _ in range(3)]
        for at in (1, 0):
            connections[at].data_received(rank(BODY))
            await way.settle(connections[at])
        assert [*way.app.limits.idle] == [connections[at] for at in (2, 1, 0)]
        assert connections[0].close_if_idle()
        for each in connections:
            each.connection_lost(None)


async def test_a_closing_connection_answers_nothing(ways):
    for way in (ways.native, ways.python):
        protocol, line = way.connect()
        protocol.data_received(rank(BODY))
        await way.settle(protocol)
        protocol.shutdown()
        assert line.closed
        before = line.written
        protocol.data_received(rank(BODY))
        await way.settle(protocol)
        assert line.written == before
        protocol.connection_lost(None)


async def test_a_client_that_does_not_read_waits(ways):
    protocol, line = ways.native.connect()
    protocol.pause_writing()
    protocol.data_received(rank(BODY))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (line.written, ways.native.answered_plainly) == (b"", 0)
    protocol.resume_writing()
    await ways.native.settle(protocol)
    assert line.written.startswith(b"HTTP/1.1 200")
    protocol.data_received(rank(BODY))
    assert ways.native.answered_plainly == 1
    protocol.connection_lost(None)


async def test_the_date_is_that_of_the_server(ways):
    for date in (b"yesterday", b"tomorrow"):
        for way in (ways.native, ways.python):
            way.state.default_headers = [(b"date", date), (b"X-Server", b"y")]
        answer, answered = await ways.talk(rank(BODY))
        assert answer.startswith(b"HTTP/1.1 200 OK\r\ndate: %s\r\nx-server: y\r\ncontent-" % date)
        assert answered == 1


async def test_nothing_is_answered_plainly_once_the_server_stops(ways):
    for way in (ways.native, ways.python):
        way.app.stopping.set()
    assert (await ways.talk(rank(BODY)))[1] == 0


# --- the first piece of a request -----------------------------------------------------------------


@pytest.fixture
async def half(ways):
    """Yield, for both ways, the connection that received the head of a request by itself."""
    connections = []
    for way in (ways.native, ways.python):
        connections.append((way, *way.connect()))
        connections[-1][1].data_received(rank(BODY)[: -len(BODY)])
        await way.settle(connections[-1][1])
    yield connections
    for _, protocol, _ in connections:
        protocol.connection_lost(None)
    for _ in range(20):
        await asyncio.sleep(0)
    ways.assert_equal_counts()


async def test_a_head_is_held_for_its_body(half, ways):
    for way, protocol, line in half:
        assert not way.app.limits.idle
        assert protocol.timeout_keep_alive_task is None
        assert not protocol.close_if_idle()
        protocol.data_received(BODY)
        await way.settle(protocol)
        assert line.written.startswith(b"HTTP/1.1 200 OK")
        assert [*way.app.limits.idle] == [protocol]
        assert way.app.limits.budget.used == 0
    assert ways.native.answered_plainly == 1


async def test_held_bytes_are_counted(half, ways):
    assert ways.native.app.limits.budget.used > 0


async def test_a_held_head_is_parsed_after_a_second(half, ways):
    for way, protocol, line in half:
        protocol.pass_second()
        await way.settle(protocol)
        assert protocol.cycle.more_body
        for _ in range(QUIET_SECONDS + 1):
            protocol.pass_second()
        assert line.written.startswith(b"HTTP/1.1 408")
        assert line.closed
    assert half[0][2].written == half[1][2].written


async def test_a_request_that_is_held_is_answered_amid_a_shutdown(half):
    for way, protocol, line in half:
        protocol.shutdown()
        assert not line.closed
        protocol.data_received(BODY)
        await way.settle(protocol)
        assert b"\r\nconnection: close\r\n" in line.written
        assert line.closed
    assert half[0][2].written == half[1][2].written


async def test_a_client_that_leaves_after_the_head_is_counted(half, ways):
    for way, protocol, line in half:
        line.close()
        protocol.connection_lost(None)
        for _ in range(20):
            await asyncio.sleep(0)
        assert sum(way.app.api.state.metrics._requests["/rank", 499]._counts) == 1


# --- limits ---------------------------------------------------------------------------------------


async def test_rankings_above_the_concurrency_are_shed():
    async with two_ways(max_concurrent=2, max_burst=3) as both:
        await both.learn(EVENTS)
        for way in (both.native, both.python):
            way.app.limits.admission.short.burst._tokens = 3.0
            connections = [way.connect() for _ in range(8)]
            for protocol, _ in connections:  # in one turn of the loop
                protocol.data_received(rank(BODY))
            for protocol, _ in connections:
                await way.settle(protocol)
            answers = [line.written[9:12] for _, line in connections]
            assert answers == [b"200"] * 5 + [b"503"] * 3
            assert way.app.limits.admission.short.taken == 0
            for protocol, line in connections:
                line.close()
                protocol.connection_lost(None)
        assert both.native.answered_plainly == 5
        both.assert_equal_counts()


async def test_bodies_are_bounded():
    async with two_ways(max_body_bytes=1024) as both:
        await both.learn(EVENTS)
        for size in (1024, 1025):
            answered = (await both.talk(rank(BODY[:-1] + b" " * (size - len(BODY)) + b"}")))[1]
            assert answered == (size == 1024)
        both.assert_equal_counts()


async def test_memory_is_bounded(ways):
    for way in (ways.native, ways.python):
        way.app.limits.budget.used = way.app.limits.budget.limit - len(BODY) + 1
    answer, answered = await ways.talk(rank(BODY))
    assert (answer[9:12], answered) == (b"503", 0)
    for way in (ways.native, ways.python):
        way.app.limits.budget.used -= 1
    assert (await ways.talk(rank(BODY)))[1] == 1


async def test_memory_that_ran_out_is_reported_as_for_other_requests(ways, monkeypatch):
    monkeypatch.setattr(Clock, "__call__", Mock(side_effect=MemoryError))
    answer, answered = await ways.talk(rank(BODY))
    assert (answer[9:12], answered) == (b"503", 0)
    for way in (ways.native, ways.python):
        assert way.app.api.state.metrics.out_of_memory.count == 1


async def test_an_unforeseen_error_is_reported_by_the_other_way(ways, monkeypatch, caplog):
    monkeypatch.setattr(Clock, "__call__", Mock(side_effect=RuntimeError))
    answer, answered = await ways.talk(rank(BODY))
    assert (answer[9:12], answered) == (b"500", 0)
    assert "a plain ranking failed" in caplog.text


async def test_a_service_that_could_not_start_says_so(ways):
    for way in (ways.native, ways.python):
        way.app.engine._fail("no disk")
    answer, answered = await ways.talk(rank(BODY))
    assert (answer[9:12], answered) == (b"503", 0)


# --- keys and origins -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "status", "plainly"),
    [
        (b"Bearer r", b"200", 1),
        (b"Bearer l", b"200", 1),
        (b"bearer a", b"200", 1),
        (b"BEARER   r", b"200", 1),
        (b"Bearer r ", b"200", 0),
        (b"Bearer\tr", b"401", 0),
        (b"Bearer x", b"401", 0),
        (b"Bearer rr", b"401", 0),
        (b"Bearer", b"401", 0),
        (b"Bearer ", b"401", 0),
        (b"Basic r", b"401", 0),
        (b"r", b"401", 0),
    ],
)
async def test_keys(value, status, plainly):
    async with two_ways(**KEYS) as both:
        for _ in range(2):  # the second time the answer may be known
            answer, answered = await both.talk(rank(BODY, b"authorization: " + value))
            assert (answer[9:12], answered) == (status, plainly)
            assert (await both.talk(rank(BODY)))[0][9:12] == b"401"
            twice = [b"authorization: " + value, b"authorization: Bearer r"]
            assert (await both.talk(rank(BODY, *twice)))[0][9:12] == b"400"
        both.assert_equal_counts()


async def test_hosts(ways):
    for host in (b"localhost", b"127.0.0.1:1", b"evil.example", b"LOCALHOST:5", b"[::1]", b"::1"):
        head = [b"host: " + host, b"content-type: application/json", b"content-length: %d"]
        for _ in range(2):
            answer, answered = await ways.talk(rank(BODY, head=head))
            is_local = host not in (b"evil.example", b"::1")
            assert (answer[9:12], answered) == ((b"200", 1) if is_local else (b"403", 0))


async def test_allowed_origins():
    async with two_ways(allowed_origins=("https://a.example",)) as both:
        answer, answered = await both.talk(rank(BODY))
        assert (answered, b"\r\nvary: Origin\r\n\r\n" in answer) == (1, True)
        answer, answered = await both.talk(rank(BODY, b"origin: https://a.example"))
        assert (answered, b"access-control-allow-origin" in answer) == (0, True)
        both.assert_equal_counts()


# --- labels, learners -----------------------------------------------------------------------------


async def test_a_label_may_come_for_a_plain_ranking(ways):
    answer, answered = await ways.talk(rank(BODY), rank(b'{"id":"mine","features":{"n":2}}'))
    assert answered == 2
    assert f'"id":"{PREFIX}1"'.encode() in answer
    for instance_id, features in ((f"{PREFIX}1", {"a": 1, "b": 1}), ("mine", {"n": 2})):
        for way in (ways.native, ways.python):
            learned = await way.call("POST", "/learn", {"id": instance_id, "classes": ["late"]})
            assert learned.status_code == 200
        ways.assert_equal_counts()
        answer, _ = await ways.talk(rank(json.dumps({"features": features}).encode()))
        assert body_of(answer)["ranked"][0]["class"] == "late"
        assert body_of(answer)["seq"] == learned.json()["seq"]


async def test_the_learner_that_answers_may_change():
    async with two_ways(learner="ff", shadows=("svm", "committee(members=ff+ema)")) as both:
        await both.learn(EVENTS)
        seen = []
        for learner in ("svm", "committee(members=ff+ema)", "ff"):
            for way in (both.native, both.python):
                answer = await way.call("POST", f"/learners/{learner}/promote")
                assert answer.status_code == 200, answer.text
            answer, answered = await both.talk(rank(BODY))
            assert answered == 1
            seen.append(str(body_of(answer)["ranked"]))
        assert len(set(seen)) == 3
        both.assert_equal_counts()


async def test_names_that_need_an_escape(ways):
    names = ['a"b', "a\\b", "".join(map(chr, range(33)))]
    await ways.learn([{"features": ["q"], "classes": [name]} for name in names])
    answer, answered = await ways.talk(rank(b'{"features":["q"]}'))
    assert {each["class"] for each in body_of(answer)["ranked"]} >= {*names}
    assert answered == 1


# --- a real server --------------------------------------------------------------------------------


def test_a_server_answers_and_stops():
    with serving(native=True) as served:
        for each in EVENTS:
            httpx.post(served.url + "/learn", json=each)
        with served.connect() as one, served.connect() as two:
            for connection in (one, two, one, two):
                connection.sendall(post("/rank", BODY))
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\ndate: ")
            assert served.app.native.rankings.answered == 4
            served.stop()
            assert statuses(one) == statuses(two) == []


def test_python_answers_without_the_native_tier():
    with serving(native=False) as served:
        assert served.app.native is None
        assert served.talk(post("/rank", BODY))[0] == 200


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan keeps freed memory")
async def test_plain_rankings_raise_no_memory():
    async with two_ways(late_label_bytes=100_000) as ways:
        await raise_no_memory(ways)


async def raise_no_memory(ways):
    await ways.learn(EVENTS)
    protocol, line = ways.native.connect()
    line.write = lambda _: None
    request = rank(b'{"features":{"a":1,"b":2,"1":3},"id":"x","min_confidence":0.5}')
    plain = ways.native.answered_plainly
    sizes = []
    for count in (20_000, 100_000):
        for _ in range(count // 100):
            for _ in range(100):
                protocol.data_received(request)
            await asyncio.sleep(0)
        gc.collect()
        sizes.append(resident_bytes())
    assert ways.native.answered_plainly == plain + 120_000
    assert sizes[1] - sizes[0] < 2**21  # 21 bytes each
    protocol.connection_lost(None)
