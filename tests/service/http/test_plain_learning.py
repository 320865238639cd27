"""Plain learning: the same answers, states and counts as by the other way."""

import asyncio
import json
import random
import re
from itertools import cycle

import pytest

from manyclass.core.model import Model
from manyclass.core.text import TextAnalysis
from manyclass.service.store.errors import CommitOutcomeUnknown, StoreUnavailable
from tests.service.http.instance_texts import OTHER_TEXTS, PLAIN_TEXTS
from tests.service.http.test_plain_rankings import VALUES
from tests.service.http.two_ways import learn, rank, two_ways
from tests.service.serving import KEYS, post, serving, statuses, until

BODY = b'{"features":["a","b"],"classes":["x"]}'


@pytest.fixture
async def ways():
    async with two_ways() as both:
        yield both


PLAIN = [
    BODY,
    b'{"classes":["x","y"],"features":{"a":2,"b":0.5}}',
    b' { "features" : [ "a" , "a" ] , "classes" : [ "x" , "x" , "z" ] } ',
    '{"features":["Grüße"],"classes":["Ω"]}'.encode(),
    json.dumps(
        {"features": [f"f{n}" for n in range(500)], "classes": [f"c{n}" for n in range(100)]}
    ).encode(),
    b'{"features":["a"],"classes":["x"],"event_id":"e"}',
    '{"event_id":"%s","features":{"a":0.5,"é":1e-31},"classes":["y","x","y"]}'.encode()
    % ("é" * 100).encode(),
    b'{"features":["a"],"classes":["x"],"source":"web"}',
    b'{"source":"%s","features":["a"],"classes":["x"]}' % ("é" * 2048).encode(),
    b'{"features":["a"],"classes":["x"],"batch":"letters.xlsx"}',
    b'{"reviewer":"anna","batch":"b","features":["a"],"source":"s","classes":["x"]}',
    b'{"reviewer":"%s","features":["a"],"classes":["x"]}' % ("é" * 2048).encode(),
    b'{"features":["a"],"reviewer":"anna","event_id":"e-r","batch":"b","classes":["x"]}',
    b'{"features":["a"],"source":"s","event_id":"e","classes":["x"]}',
    b'{"weight":1,"features":["a"],"classes":["x"]}',
    b'{"features":["a"],"classes":["x"],"weight":2.5,"source":"s"}',
    b'{"features":["a"],"classes":["x"],"weight":1e3}',
    b'{"features":["a"],"classes":["x"],"event_id":"e","weight":0.001}',
]
MORE = [{}, {"source": "web"}, {"event_id": "e"}, {"weight": 2}]
PLAIN += [
    json.dumps({"text": text, "classes": ["x"], **more}, ensure_ascii=escaped).encode()
    for text, more, escaped in zip(PLAIN_TEXTS, cycle(MORE), cycle([False, True]))
]
PLAIN = [  # each with an id of its own
    re.sub(rb'("event_id": ?"e)"', rb'\1 %d"' % number, body) for number, body in enumerate(PLAIN)
]
OTHERS = [
    b'{"features":["a"],"classes":["x"],"source":""}',
    b'{"features":["a"],"classes":["x"],"source":7}',
    b'{"features":["a"],"classes":["x"],"source":"e\\n"}',
    b'{"features":["a"],"classes":["x"],"source":"%s"}' % (b"s" * 4097),
    b'{"features":["a"],"classes":["x"],"source":"%s"}' % ("é" * 2049).encode(),
    b'{"features":["a"],"classes":["x"],"source":"s","source":"t"}',
    b'{"features":["a"],"classes":["x"],"reviewer":"s","reviewer":"t"}',
    b'{"features":["a"],"classes":["x"],"batch":"%s"}' % (b"s" * 4097),
    b'{"features":["a"],"classes":["x"],"batch":7}',
    b'{"features":["a"],"classes":["x"],"reviewer":""}',
    b'{"features":["a"],"classes":["x"],"event_id":"%s"}' % (b"e" * 201),
    b'{"features":["a"],"classes":["x"],"event_id":"%s"}' % ("é" * 200).encode(),
    b'{"features":["a"],"classes":["x"],"event_id":""}',
    b'{"features":["a"],"classes":["x"],"event_id":7}',
    b'{"features":["a"],"classes":["x"],"event_id":"e\\n"}',
    b'{"features":["a"],"classes":["x"],"event_id":"e","event_id":"f"}',
    b'{"features":["a"],"classes":["x"],"weight":0.000999}',
    b'{"features":["a"],"classes":["x"],"weight":1001}',
    b'{"features":["a"],"classes":["x"],"weight":-1}',
    b'{"features":["a"],"classes":["x"],"weight":"2"}',
    b'{"features":["a"],"classes":["x"],"weight":2,"weight":2}',
    b'{"features":["a"],"classes":["x"],"not":["y"]}',
    b'{"features":["a"],"not":["y"]}',
    *(
        b'{"%s":null,"features":["a"],"classes":["x"]}' % member
        for member in (
            b"event_id",
            b"source",
            b"weight",
            b"reviewer",
            b"batch",
            b"not",
            b"parents",
            b"text",
            b"id",
        )
    ),
    b'{"features":null,"text":"a","classes":["x"]}',
    b'{"features":["a"],"classes":null,"not":["y"]}',
    b'{"features":["a"],"classes":["x"],"parents":{"x":"p"}}',
    *(json.dumps({"text": text, "classes": ["x"]}).encode() for text in OTHER_TEXTS),
    b'{"text":"some words","features":["a"],"classes":["x"]}',
    b'{"text":"some words","text":"others","classes":["x"]}',
    b'{"id":"unknown","classes":["x"]}',
    b'{"features":["a"],"classes":[1,"x"]}',
    b'{"features":["a"],"classes":["x\\n"]}',
    b'{"features":["a"],"classes":[]}',
    b'{"features":["a"],"classes":[""]}',
    b'{"features":["a"],"classes":"x"}',
    b'{"features":["a"],"classes":["x"],"classes":["y"]}',
    b'{"features":["a"],"features":["b"],"classes":["y"]}',
    b'{"features":[],"classes":["x"]}',
    b'{"features":{"a":0},"classes":["x"]}',
    b'{"features":{"a":-1},"classes":["x"]}',
    b'{"features":["a"]}',
    b'{"classes":["x"]}',
    b'{"events":[{"features":["a"],"classes":["x"]}]}',
    b'{"features":["a"],"classes":["x"]}x',
    b'{"features":["a"],"classes":["x"],}',
    b'{"features":["a"],"classes":["x"',
    b'{"features":["a"],"classes":["\xff"]}',
    b'{"features":["a"],"classes":["' + b"n" * 70_000 + b'"]}',
    b"",
    b"[]",
    b"null",
    json.dumps({"features": ["a"], "classes": [f"c{n}" for n in range(101)]}).encode(),
    json.dumps(
        {"features": [f"f{n}" for n in range(3000)], "classes": [f"c{n}" for n in range(90)]}
    ).encode(),
]


async def test_plain_events_are_learned_natively(ways):
    usual = b"HTTP/1.1 200 OK\r\ndate: today\r\ncontent-type: application/json\r\n"
    for body in PLAIN * 2:  # again: a retry if the event has an id
        answer, answered = await ways.talk(learn(body))
        assert (answered, answer[: len(usual)]) == (1, usual), body
    ways.assert_equal_counts()


async def test_events_that_are_not_plain(ways):
    assert [body for body in OTHERS if (await ways.talk(learn(body)))[1]] == []
    ways.assert_equal_counts()


@pytest.mark.parametrize("more", MORE, ids=range(len(MORE)))
@pytest.mark.parametrize("escaped", [False, True])
async def test_the_history_has_the_texts_as_they_were_given(ways, more, escaped):
    for number, text in enumerate(PLAIN_TEXTS):
        more |= {"event_id": f"e {number}"} if "event_id" in more else {}
        body = {"text": text, "classes": [f"c {number}"], **more}
        request = learn(json.dumps(body, ensure_ascii=escaped).encode())
        answer, answered = await ways.talk(request)
        assert answered == 1
        assert b'"warnings"' not in answer
    ways.assert_equal_counts()
    for way in (ways.native, ways.python):
        events = (await way.call("GET", "/events?limit=100")).json()["events"]
        found = {event["classes"][0]: event["text"] for event in events}
        assert found == {f"c {number}": text for number, text in enumerate(PLAIN_TEXTS)}


async def test_texts_are_read_by_the_analysis_of_the_model():
    body = b'{"text":"C++ caf\xc3\xa9","classes":["x"]}'
    found = {}
    for spec in ("words", "words+pairs+characters+unmarked+symbols"):
        async with two_ways(text=TextAnalysis.parse(spec)) as ways:
            assert (await ways.talk(learn(body)))[1] == 1
            assert (await ways.talk(rank(b'{"text":"cafe","explain":false}')))[1] == 1
            ways.assert_equal_counts()
            model = ways.native.app.engine.model
            found[spec] = model.learner.has_feature("c++"), model.learner.has_feature("cafe")
    assert list(found.values()) == [(False, False), (True, True)]


async def test_a_learner_comes_with_its_analysis():
    """After a rebuild under another analysis the next request is read by it."""
    async with two_ways() as ways:
        way = ways.native
        live, pending = way.app.engine._live, way.app.api.state.pending
        for spec in ("words", "words+pairs+unmarked"):
            analysis = TextAnalysis.parse(spec)
            live.use(Model(live.model.options, text=analysis))
            await way.talk(rank('{"text":"été chaud","id":"a"}'.encode()))
            await way.talk(learn('{"text":"été chaud","classes":["x"]}'.encode()))
            read = analysis.instance_of("été chaud").instance
            assert pending.find("a").data == bytes(read)
            [event] = (await way.call("GET", "/events?limit=1")).json()["events"][-1:]
            assert live.model.learner.has_feature("ete") == ("unmarked" in spec)
            assert event["text"] == "été chaud"
        assert way.answered_plainly == 4


async def test_a_service_without_a_history_keeps_no_texts():
    async with two_ways(history=False) as ways:
        assert (await ways.talk(learn(b'{"text":"some words","classes":["x"]}')))[1] == 1
        assert (await ways.talk(rank(b'{"text":"some words"}')))[1] == 1
        ways.assert_equal_counts()
        [waiting] = ways.native.app.api.state.pending.least_certain(10)
        assert waiting.text is None


async def test_a_learner_that_learns_no_weights_refuses_an_event_alone():
    async with two_ways(learner="frequency") as ways:
        weighted = learn(b'{"features":["a"],"classes":["x"],"weight":2}')
        answers = [await ways.talk(request) for request in (weighted, learn(BODY))]
        assert [(answer[9:12], answered) for answer, answered in answers] == [
            (b"422", 1),
            (b"200", 1),
        ]
        assert b'"pointer":"#/weight"' in answers[0][0]
        ways.assert_equal_counts()


async def test_retries_and_conflicts(ways):
    event = b'{"features":%s,"classes":%s,"event_id":"e"}'
    asked = event % (b'{"b":2,"a":0.5}', b'["x","y"]')
    again = event % (b'{"a":0.5,"b":2.0}', b'["y","x","y"]')
    other = event % (b'{"a":0.5,"b":2}', b'["x"]')
    slow = again.replace(b'"e"', b'"\\u0065"')  # the same by the other way
    answers = [await ways.talk(learn(body)) for body in (asked, again, slow, other, slow)]
    assert [answered for _, answered in answers] == [1, 1, 0, 1, 0]
    assert [answer[9:12] for answer, _ in answers] == [b"200"] * 3 + [b"409", b"200"]
    assert [b'"accepted":1' in answer for answer, _ in answers] == [True] + [False] * 4
    assert b'"pointer":"#/event_id"' in answers[3][0]
    ways.assert_equal_counts()
    assert ways.native.app.engine.model.learner.learned == 1
    assert ways.native.app.api.state.metrics.plain_events == {"event loop": 2, "worker": 0}


async def test_a_stream_of_random_events(ways):
    drawn = random.Random(1)
    for _ in range(200):
        features = {drawn.choice("abcdefgh"): drawn.choice((1, 0.5, 3.25)) for _ in range(5)}
        asked = {"features": features, "classes": drawn.sample("stuvw", drawn.randrange(1, 4))}
        if drawn.random() < 0.5:
            asked["event_id"] = f"e{drawn.randrange(100)}"  # some of them with other content
        if drawn.random() < 0.5:
            asked["source"] = drawn.choice(["web", "mail"])
        if drawn.random() < 0.2:
            asked["reviewer"], asked["batch"] = "anna", drawn.choice(["a.csv", "b.csv"])
        if drawn.random() < 0.3:
            asked["weight"] = drawn.choice([1, 2, 0.25])
        await ways.talk(learn(json.dumps(asked).encode()), rank(b'{"features":["a","b"]}'))
    ways.assert_equal_counts()


async def test_cut_at_every_byte(ways):
    whole = learn(BODY)
    for at in range(1, len(whole)):
        is_held = at >= len(whole) - len(BODY)
        assert (await ways.talk(whole[:at], whole[at:]))[1] == is_held
        assert (await ways.talk(whole[:at]))[1] == 0
        assert (await ways.talk(whole + whole[:at], whole[at:]))[1] == 0
    ways.assert_equal_counts()


@pytest.mark.parametrize("name", VALUES, ids=repr)
async def test_headers(ways, name):
    for value in VALUES[name]:
        await ways.talk(learn(BODY, b"%s: %s" % (name, value)))
    ways.assert_equal_counts()


async def test_requests_behind_one_that_is_learned_are_answered_in_order(ways):
    answers = []
    for way in (ways.native, ways.python):
        protocol, line = way.connect()
        gate = way.call.store.before_append
        with gate.shut():
            protocol.data_received(learn(BODY))
            for request in (rank(b'{"features":["a"]}'), learn(BODY) + learn(BODY), rank(BODY)):
                protocol.data_received(request)
            await asyncio.sleep(0.01)
            assert line.written == b""
        for _ in range(3):
            await way.settle(protocol)
        async with asyncio.timeout(60):
            while line.written.count(b"HTTP/1.1 ") < 5:
                await asyncio.sleep(0)
        answers.append(line.written)
        protocol.connection_lost(None)
    assert answers[0] == answers[1]
    ways.assert_equal_counts()


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("away", "wait"),
        CommitOutcomeUnknown("lost", "look"),
        RuntimeError("broken"),
    ],
    ids=repr,
)
async def test_events_that_the_store_refuses(ways, error):
    for way in (ways.native, ways.python):
        way.call.store.append_errors = [error]
    answer, answered = await ways.talk(learn(BODY))
    assert (answer[9:10], answered) == (b"5", 1)


async def test_a_full_queue(ways):
    for way in (ways.native, ways.python):
        group_commit = way.app.engine._pipeline.group_commit
        group_commit.events = group_commit._limits.events
    answer, answered = await ways.talk(learn(BODY))
    assert (answer[9:12], answered) == (b"503", 1)
    assert {way.app.engine._queue_full for way in (ways.native, ways.python)} == {1}


async def test_a_client_that_leaves_has_its_event_learned(ways):
    for way in (ways.native, ways.python):
        protocol, line = way.connect()
        with way.call.store.before_append.shut():
            protocol.data_received(learn(BODY))
            await asyncio.sleep(0)
            line.closed = True
            protocol.connection_lost(None)
        async with asyncio.timeout(60):
            while way.app.engine.model.seq < 1:
                await asyncio.sleep(0)
        assert line.written == b""


async def test_keys():
    async with two_ways(**KEYS) as both:
        for value, status, plainly in (
            (b"Bearer r", b"403", 0),
            (b"Bearer l", b"200", 1),
            (b"Bearer a", b"200", 1),
            (b"Bearer x", b"401", 0),
        ):
            answer, answered = await both.talk(learn(BODY, b"authorization: " + value))
            assert (answer[9:12], answered) == (status, plainly)
        assert (await both.talk(learn(BODY)))[0][9:12] == b"401"


def test_a_stop_answers_what_is_learned():
    with serving(native=True) as served, served.connect() as connection:
        for number in range(20):
            connection.sendall(post("/learn", b'{"features":["f%d"],"classes":["c"]}' % number))
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\ndate: ")
        assert served.app.native.learning.answered == 20
        connection.sendall(post("/learn", BODY))
        until(lambda: served.app.engine.model.seq == 21)
        served.stop()
        assert statuses(connection) == [200]
