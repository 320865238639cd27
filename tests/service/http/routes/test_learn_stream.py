import asyncio
import gzip
import json

import pytest

from manyclass.service.http import stream_report
from manyclass.service.store.errors import StoreFull
from tests.service.faulty import Clock, FaultyStore, many_turns
from tests.service.serving import NDJSON, assert_problem, calling, line


async def test_learns_every_line_and_sums_up():
    async with calling() as call, calling() as other:
        body = line("a b") * 3 + line("c", "y z") + line("a", "y")
        assert await call.stream(body) == [
            {
                "kind": "summary",
                "lines": 5,
                "accepted": 5,
                "duplicates": 0,
                "rejected": 0,
                "seq": 5,
                "r1": 2 / 5,
                "r5": 2 / 5,
            }
        ]
        await other.learn(("a b", "x"), ("a b", "x"), ("a b", "x"))
        await other("POST", "/learn", {"features": ["c"], "classes": ["y", "z"]})
        await other.learn(("a", "y"))
        assert call.digest() == other.digest()


@pytest.mark.parametrize("body", [b"", b"\n\n  \r\n", b"\n" * 1000])
async def test_a_stream_of_nothing_is_fine(call, body):
    [summary] = await call.stream(body)
    assert summary["kind"] == "summary"
    assert (summary["accepted"], summary["lines"]) == (0, body.count(b"\n"))
    assert (summary["r1"], summary["r5"], summary["seq"]) == (None, None, 0)


async def test_learns_while_it_arrives(call):
    talk = call.streaming()
    both = line("a") + line("b")
    talk.say(both[:-5])
    await call.settled(1)
    talk.say(both[-5:] + b'{"features": [')
    await call.settled(2)
    talk.say(b'"c"], "classes": ["x"]}', more=False)  # no line end after the last one
    assert (await talk.end_lines())[-1]["accepted"] == 3


async def test_reports_bad_lines_by_number_and_goes_on(call):
    lines = [
        line("a"),
        b"not json\n",
        b"\n",
        line("a", ""),
        b'{"features":["a",""],"classes":["x"]}\n',
        b'{"id":"never","classes":["x"]}\n',
        b'{"features":["\xff"],"classes":["x"]}\n',
        line("b"),
        b'{"features":["a"],"cla',
    ]
    *faults, summary = await call.stream(*lines)
    told = [(each["kind"], each["line"], each["status"]) for each in faults]
    assert told == [
        ("fault", 2, 400),
        ("fault", 4, 422),
        ("fault", 5, 422),
        ("fault", 6, 404),
        ("fault", 7, 400),
        ("fault", 9, 400),
    ]
    assert faults[2]["errors"][0]["pointer"] == "#/features/1"
    assert (summary["lines"], summary["accepted"], summary["rejected"]) == (9, 2, 6)
    assert call.app.engine.model.seq == 2
    assert (await call.metrics())['learn_events_total{result="rejected"}'] == 6


async def test_knows_retries_and_reports_conflicts(call):
    await call.stream(line("a", event_id="e1"))
    sent = [("a", "e1"), ("b", "e2"), ("b", "e2"), ("c", "e1"), ("c", "e2"), ("d", "e3")]
    *faults, summary = await call.stream(*(line(name, event_id=each) for name, each in sent))
    assert [(each["line"], each["status"]) for each in faults] == [(4, 409), (5, 409)]
    counts = [summary[name] for name in ("accepted", "duplicates", "rejected", "seq")]
    assert counts == [2, 2, 2, 4]  # the retry of an event of its own batch has a number too
    seen = await call.metrics()
    assert seen['learn_events_total{result="duplicate"}'] == 2
    assert seen['learn_events_total{result="learned"}'] == 3


async def test_progress_is_reported_while_it_lasts(call, monkeypatch):
    monkeypatch.setattr(stream_report, "PROGRESS_LINES", 10)
    talk = call.streaming()
    talk.say(line() * 12)
    told = await talk.hear_line()
    assert (told["kind"], told["lines"], told["accepted"], told["seq"]) == (
        "progress",
        12,
        12,
        12,
    )
    assert told["r1"] == 11 / 12
    talk.say(line() * 10)
    assert (await talk.hear_line())["lines"] == 22
    talk.say(b"", more=False)
    assert (await talk.hear_line())["kind"] == "summary"
    await talk.end()


async def test_progress_of_a_slow_stream_is_reported_too(call, report_after):
    report_after(0)
    talk = call.streaming()
    for count in (1, 2, 3):
        talk.say(line())
        told = await talk.hear_line()
        assert (told["kind"], told["lines"], told["accepted"]) == ("progress", count, count)
    talk.say(line()[:5])  # an incomplete line: no progress
    talk.say(b"", more=False)
    assert (await talk.hear_line())["kind"] == "fault"  # and no progress before it
    while (await talk.hear_line())["kind"] != "summary":
        pass


PREFERRED = ["return=minimal", "Return=Minimal", "wait=5, return=minimal; x=1 , handling=lenient"]
NOT_PREFERRED = ["return=representation", "xreturn=minimal", "return=minimally", ""]


@pytest.mark.parametrize("prefer", PREFERRED)
async def test_the_whole_answer_comes_at_the_end_when_that_is_preferred(call, prefer, monkeypatch):
    monkeypatch.setattr(stream_report, "PROGRESS_LINES", 1)
    talk = call.streaming(prefer=prefer)
    talk.say(line() + b"no\n" + line())
    await call.settled(2)
    talk.say(b"neither\n" + line())
    await call.settled(3)
    await many_turns()
    assert talk.unheard() == 0
    talk.say(b"", more=False)
    status, headers, body = await talk.end()
    assert (status, headers[b"preference-applied"]) == (200, b"return=minimal")
    told = map(json.loads, body.splitlines())
    kinds = [(each["kind"], each.get("line", each.get("accepted"))) for each in told]
    assert kinds == [("fault", 2), ("fault", 4), ("summary", 3)]


@pytest.mark.parametrize("prefer", NOT_PREFERRED)
async def test_other_preferences_change_nothing(call, prefer, monkeypatch):
    monkeypatch.setattr(stream_report, "PROGRESS_LINES", 1)
    talk = call.streaming(prefer=prefer)
    talk.say(line())
    assert (await talk.hear_line())["kind"] == "progress"
    talk.say(b"", more=False)
    assert (await talk.hear_line())["kind"] == "summary"


async def test_an_early_end_is_reported_after_all_buffered_lines(call):
    talk = call.streaming(prefer="return=minimal")
    talk.say(line() + b"no\n")
    await call.settled(1)
    call.app.stopping.set()
    fault, failure = await talk.end_lines()
    assert (fault["line"], failure["kind"]) == (2, "failure")
    assert (failure["status"], failure["learned_up_to_line"]) == (503, 2)


async def test_learned_events_are_reported_while_the_stream_is_idle(call, report_after):
    report_after(0.01)
    talk = call.streaming()
    talk.say(line())
    told = await talk.hear_line()
    assert (told["kind"], told["accepted"]) == ("progress", 1)
    talk.say(b"", more=False)
    assert (await talk.hear_line())["kind"] == "summary"
    await talk.end()


def test_reports_to_a_slow_stream_are_bounded_too(monkeypatch):
    monkeypatch.setattr(stream_report, "MOST_PROGRESS_AT_ONE_PACE", 2)
    clock = Clock()
    pace = stream_report.ProgressSchedule(clock)
    told = []
    for settled in range(1, 1000):
        clock.now += 1.0
        if pace.is_due(settled):
            told.append(settled)
    assert told == [5, 10, 20, 30, 50, 70, 110, 150, 230, 310, 470, 630, 950]


async def test_the_answer_before_the_end_of_a_stream_is_bounded(call, monkeypatch):
    monkeypatch.setattr(stream_report, "PROGRESS_LINES", 2)
    talk = call.streaming()
    long_name = "n" * 4097
    piece = line(long_name) + line("a", long_name) + line()
    for _ in range(20_000 // 3):
        talk.say(piece)
    talk.say(b"", more=False)
    told = await talk.end_lines()
    faults = [each for each in told if each["kind"] == "fault"]
    assert len(faults) == 100
    assert told[-1]["rejected"] == 2 * (20_000 // 3)
    progress = [each["lines"] for each in told if each["kind"] == "progress"]
    assert 300 < len(progress) < 600
    assert progress[-1] - progress[-2] > progress[1] - progress[0]
    assert len(json.dumps(told)) < 60_000 + 150 * len(progress)


async def test_the_sender_waits_while_events_are_stored():
    store = FaultyStore()
    async with calling(store=store) as call:
        talk = call.streaming()
        with store.before_append.shut() as gate:
            talk.say(line("a"))
            await gate.reached()
            talk.say(line("b"))
            for _ in range(100):
                await asyncio.sleep(0)
            assert not talk._receive.empty()  # the service has not read it
        talk.say(b"", more=False)
        assert (await talk.end_lines())[-1]["accepted"] == 2


async def test_a_full_queue_makes_it_wait():
    store = FaultyStore()
    async with calling(store=store, max_queue_events=1) as call:
        with store.before_append.shut() as gate:
            first = asyncio.create_task(
                call("POST", "/learn", {"features": ["a"], "classes": ["x"]})
            )
            await gate.reached()
            talk = call.streaming()
            talk.say(line() * 3, more=False)
            for _ in range(100):
                await asyncio.sleep(0)
            assert not talk.task.done()
        assert (await first).status_code == 200
        assert (await talk.end_lines())[-1]["accepted"] == 3


async def test_a_store_that_fails_before_anything_was_learned_is_a_problem(call):
    call.store.append_error = StoreFull("no room")
    response = await call("POST", "/learn", line(), headers=NDJSON)
    assert_problem(response, 503)
    assert int(response.headers["retry-after"]) >= 1


async def test_a_store_that_fails_later_ends_the_stream_with_how_far_it_came(call):
    talk = call.streaming()
    talk.say(line() * 3 + b"bad\n")
    assert (await talk.hear_line())["kind"] == "fault"
    await call.settled(3)
    call.store.append_error = StoreFull("no room")
    talk.say(line() * 2)
    failure = await talk.hear_line()
    await talk.end()
    assert failure["kind"] == "failure"
    assert (failure["status"], failure["learned_up_to_line"], failure["accepted"]) == (
        503,
        4,
        3,
    )
    assert "no room" in failure["detail"]
    assert call.app.engine.model.seq == 3


async def test_when_the_service_stops_it_says_how_far_it_came(call):
    talk, idle = call.streaming(), call.streaming()
    talk.say(line() * 3)
    await call.settled(3)
    call.app.stopping.set()
    failure = await talk.hear_line()
    assert (failure["kind"], failure["learned_up_to_line"]) == ("failure", 3)
    status, _, _ = await idle.end()
    assert status == 503
    await talk.end()


@pytest.mark.parametrize("packed", [False, True])
async def test_it_stops_too_when_the_sender_never_pauses(call, packed):
    body = line() * 3
    if packed:
        body = gzip.compress(body)
    answer = []

    async def receive():
        if call.app.engine.model.seq >= 30:
            call.app.stopping.set()
        assert call.app.engine.model.seq < 300, "it did not stop"
        return {"type": "http.request", "body": body, "more_body": True}

    async def send(message):
        answer.append(message)

    headers = NDJSON | ({"content-encoding": "gzip"} if packed else {})
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/learn", "headers": raw}
    await call.app(scope, receive, send)
    failure = json.loads(answer[-1]["body"])
    assert (failure["kind"], failure["status"]) == ("failure", 503)
    assert failure["learned_up_to_line"] == call.app.engine.model.seq


async def test_a_gzipped_piece_is_left_in_the_middle_when_the_service_stops(call):
    talk = call.streaming(**{"content-encoding": "gzip"})
    talk.say(gzip.compress(b"\n" * 20 * 2**20 + line()))
    await asyncio.sleep(0)
    call.app.stopping.set()
    *_, failure = await talk.end_lines()
    assert (failure["kind"], failure["status"]) == ("failure", 503)
    assert call.app.engine.model.seq == 0


async def test_the_whole_lines_of_a_lost_client_are_learned(call, caplog):
    talk = call.streaming()
    talk.say(line("a") + line("b") + line("c")[:-2])
    talk.leave()
    assert await talk.end() is None
    assert call.app.engine.model.seq == 2
    seen = await call.metrics()
    assert seen['request_duration_seconds_count{endpoint="/learn",status="499"}'] == 1
    assert not [record for record in caplog.records if record.exc_info]


async def test_reads_gzip_as_it_arrives(call):
    packed = gzip.compress(line("a") * 500)
    talk = call.streaming(**{"content-encoding": "gzip"})
    for position in range(0, len(packed), 7):
        talk.say(packed[position : position + 7])
    talk.say(b"", more=False)
    assert (await talk.end_lines())[-1]["accepted"] == 500


async def test_broken_gzip(call):
    packed = gzip.compress(b"".join(line(f"a{n}") for n in range(2000)))
    headers = NDJSON | {"content-encoding": "gzip"}
    assert_problem(await call("POST", "/learn", b"not gzip", headers=headers), 400)
    assert call.app.engine.model.seq == 0
    talk = call.streaming(**{"content-encoding": "gzip"})
    talk.say(packed[:-100], more=False)
    *_, failure = await talk.end_lines()
    assert (failure["kind"], failure["status"]) == ("failure", 400)
    assert failure["learned_up_to_line"] == call.app.engine.model.seq > 0
