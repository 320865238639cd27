"""Plain rankings are answered as all others are: the same bytes, counts and stored instances."""

import gzip
import json
import random

import pytest

from manyclass.core.instance import Instance
from tests.core.specifications import ONE_OF_EACH
from tests.service.http.instance_texts import OTHER_TEXTS, PLAIN_TEXTS
from tests.service.http.two_ways import PREFIX, rank, two_ways

CLASSES = ["x", "y", "zeta", "ärger", "日本", "a b", "x/y<>&"]
BODY = b'{"features":{"a":1,"b":2.5,"c":3},"k":3}'
REST = b'"features":["a","b"]'  # of a body


def events(count=300, seed=1, features=12):
    drawn = random.Random(seed)
    for _ in range(count):
        names = drawn.sample(range(features), 4)
        classes = drawn.sample(CLASSES, drawn.choice((1, 1, 1, 2)))
        values = {"abcdefghijklmnop"[at]: round(drawn.uniform(0.1, 4), 2) for at in names}
        yield {"features": values, "classes": classes}


@pytest.fixture(scope="module")
async def ways():
    async with two_ways(late_label_bytes=20_000) as both:
        await both.learn(list(events()))
        yield both


@pytest.fixture(autouse=True)
def counts_stay_equal(request):
    yield
    if "ways" in request.fixturenames:
        request.getfixturevalue("ways").assert_equal_counts()


def body_of(answer):
    return json.loads(answer.partition(b"\r\n\r\n")[2])


# --- plain requests -------------------------------------------------------------------------------

PLAIN = [
    rank(BODY),
    rank(b'{"features":["a","b","a"]}'),
    rank(b' \t\r\n{ "features" : { "a" : 1 , "b" : 2.5e0 } , "k" : 2 } \n '),
    rank(b'{"k":1,"features":["a"]}'),
    rank(b'{"k":1000,"features":["a"]}'),
    rank(b'{"id":"q-1","features":["a"]}'),
    rank('{"id":"日本 ä\x7f","features":["ä"]}'.encode()),
    rank(b'{"id":"' + b"x" * 200 + b'","features":["unknown"]}'),
    rank(b'{"source":"inbox","features":["a"],"id":"of a source"}'),
    rank('{"features":["a"],"source":"日本"}'.encode()),
    rank(b'{"threshold":0.5,"features":["a"]}'),
    rank(b'{"threshold":-0,"features":["a"]}'),
    rank(b'{"threshold":-1e-3,"features":["a"]}'),
    rank(b'{"threshold":1e29,"features":["a"]}'),
    rank(b'{"min_confidence":0.9,"features":["a"]}'),
    rank(b'{"min_confidence":1,"features":["a"]}'),
    rank(b'{"min_confidence":0,"features":["unknown"]}'),
    rank(b'{"min_accuracy":0.95,"features":["a"]}'),
    rank(b'{"min_accuracy":0,"features":["a"],"min_confidence":0.5}'),
    rank(b'{"min_accuracy":null,"features":["a"]}'),
    rank(b'{"probabilities":true,"features":["a"]}'),
    rank(b'{"probabilities":false,"k":1,"features":["unknown"]}'),
    rank(b'{"features":["a"],"probabilities":null}'),
    rank(b'{"min_probability":0.2,"features":["a","b"]}'),
    rank(b'{"min_precision":0.5,"features":["a"],"min_probability":0.1,"min_confidence":0.2}'),
    rank(b'{"min_precision":1,"features":["a"]}'),
    rank(b'{"min_confidence":1e-300,"k":1,"threshold":9,"id":"q","features":["a","b"]}'),
    rank(b'{"threshold":null,"min_confidence":null,"among":null,"decode":null,"features":["a"]}'),
    rank(b'{"explain": false ,"min_seq":0,"features":["a"]}'),
    rank(b'{"keep":true,"features":["a"]}'),
    rank(b'{"features":["a"],"keep": null }'),
    rank(b'{"features":["a"],"min_seq":1}'),
    rank(b'{"features":{"' + b"n" * 4096 + b'":1}}'),
    rank(b'{"features":{"a":1e30,"b":0,"c":-1}}'),
    rank(b'{"features":{"a":-1e30,"b":-0.0}}'),
    rank(BODY, b"user-agent: x", b"ACCEPT: */*", b"x_y: 1", b"x-forwarded-for: 1.2.3.4"),
    rank(BODY, b"connection: keep-alive"),
    rank(BODY, b"Connection: Keep-Alive"),
    rank(BODY, b"accept: a", b"accept: b"),
    rank(BODY, b"authorization: whatever"),
    rank(BODY, head=[b"HOST:127.0.0.1", b"Content-Type:  application/json", b"CONTENT-length: %d"]),
    rank(BODY, head=[b"content-length: %d", b"content-type: application/json", b"host: localhost"]),
    rank(BODY, *(b"x%d: 1" % each for each in range(47))),
    rank(b'{"text":"a b c","k":3}'),
    rank(b'{"k":2,"threshold":0.5,"min_confidence":0.9,"source":"s","id":"t","text":"a \\u0062"}'),
    rank(b'{"text":{"title":"a b","body":"c \\ud83d\\ude00"}}'),
    *(
        rank(json.dumps({"text": text}, ensure_ascii=escaped).encode())
        for text in PLAIN_TEXTS
        for escaped in (False, True)
    ),
]
VECTORS = [  # plain bodies with one
    b'{"text":"a b","vector":[0.25, -0.5,1e-3 ,12],"k":2}',
    b'{"vector":"AACAPgAAAL8=","features":{"a":1,"b":2.5},"id":"v"}',
    b'{"vector" : { "int8" : "AgT8" } , "source" : "s" }',
]
PLAIN += map(rank, VECTORS)


@pytest.mark.parametrize("request_bytes", PLAIN)
async def test_plain_requests_are_answered_natively(ways, request_bytes):
    answer, answered = await ways.talk(request_bytes)
    assert answer.startswith(
        b"HTTP/1.1 200 OK\r\ndate: today\r\ncontent-type: application/json\r\n"
    )
    assert answered == 1


async def test_an_answer_is_one_write(ways):
    protocol, line = ways.native.connect()
    protocol.data_received(rank(BODY))
    assert line.writes == 1
    assert line.written.endswith(b"}")
    protocol.connection_lost(None)
    await ways.python.talk(rank(BODY))


async def test_plain_and_other_requests_on_one_connection(ways):
    other = rank(b'{"features":["a"],"k":2.0}')
    pieces = [rank(BODY), other, rank(BODY), rank(BODY), other, b"\r\n", rank(BODY), rank(BODY)]
    _, answered = await ways.talk(*pieces)
    assert answered == 4  # not the one behind an empty line


# --- requests that are not plain ------------------------------------------------------------------

VALUES = {
    b"host": [b"127.0.0.1", b"localhost:80", b"evil.example", b"", b"127.0.0.1, x"],
    b"content-type": [b"application/json", b"application/json; charset=utf-8", b"text/plain", b""],
    b"content-length": [b"40", b"+40", b"-40", b"040", b"0x28", b"40, 40", b"4 0", b"41", b"39"],
    b"transfer-encoding": [b"chunked", b"identity", b"gzip, chunked"],
    b"content-encoding": [b"gzip", b"identity", b"br"],
    b"expect": [b"100-continue", b"x"],
    b"upgrade": [b"websocket", b"h2c"],
    b"connection": [b"keep-alive", b"close", b"upgrade", b"keep-alive, x", b"KEEP-ALIVE", b"x"],
    b"proxy-connection": [b"keep-alive", b"close"],
    b"keep-alive": [b"timeout=5"],
    b"origin": [b"http://127.0.0.1", b"http://evil.example", b"null"],
    b"sec-fetch-site": [b"same-origin", b"cross-site"],
    b"sec-fetch-mode": [b"cors"],
    b"prefer": [b"not-ready=502"],
    b"authorization": [b"Bearer x"],
    b"te": [b"trailers"],
    b"trailer": [b"x"],
    b"content-language": [b"en"],
    b"x-forwarded-for": [b"1.2.3.4"],
    b"x": [b"y", b"a\x00b", b"a\x7fb", b"a\xffb", b"a\tb", b"\t", b"\x0b"],
    b"x_y": [b"y"],
    b"x y": [b"y"],
    b"x(y)": [b"y"],
    b"content_length": [b"3"],
    b"": [b"y"],
    b"\xc3\xa4": [b"y"],
}


def spelled(name, value):
    """Yield header lines of this name and value, in usual and in odd forms."""
    yield b"%s: %s" % (name, value)
    yield b"%s: %s" % (name.upper(), value)
    yield b"%s:%s" % (name, value)
    yield b"%s:  %s" % (name, value)
    yield b"%s: %s " % (name, value)
    yield b"%s:\t%s" % (name, value)
    yield b"%s : %s" % (name, value)
    yield b" %s: %s" % (name, value)
    yield b"%s: %s\r\n folded" % (name, value)
    yield b"%s:\r\n %s" % (name, value)
    yield b"%s: %s\n" % (name, value)
    yield b"%s: %s\r" % (name, value)
    yield b"%s: %s\r\n%s: %s" % (name, value, name, value)
    yield b"%s %s" % (name, value)


@pytest.mark.parametrize("name", VALUES, ids=repr)
async def test_headers(ways, name):
    usual = [b"host: 127.0.0.1", b"content-type: application/json", b"content-length: %d"]
    others = [each for each in usual if not each.startswith(name + b":")]
    for value in VALUES[name]:
        for line in spelled(name, value):
            await ways.talk(rank(BODY, line))
            await ways.talk(rank(BODY, line, head=others))
            await ways.talk(rank(BODY, head=[line, *others]))
    await ways.talk(rank(BODY, head=others))


SEEN_ELSEWHERE = {
    *(b"transfer-encoding", b"content-encoding", b"expect", b"upgrade", b"proxy-connection"),
    *(b"keep-alive", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"te", b"trailer"),
}


@pytest.mark.parametrize("name", sorted(SEEN_ELSEWHERE), ids=repr)
async def test_headers_that_only_the_other_way_knows(ways, name):
    for value in VALUES[name]:
        assert (await ways.talk(rank(BODY, b"%s: %s" % (name, value))))[1] == 0


async def test_many_and_long_headers(ways):
    for count in (47, 48, 97, 98, 200):
        _, answered = await ways.talk(rank(BODY, *(b"x: 1" for _ in range(count))))
        assert answered == (count <= 47)
    for size, plain in ((16_000, 1), (16_300, 0), (65_000, 0), (70_000, 0)):
        assert (await ways.talk(rank(BODY, b"x: " + b"y" * size)))[1] == plain


FIRST_LINES = [
    *(b"POST /rank HTTP/1.0", b"POST /rank HTTP/2.0", b"POST /rank HTTP/9.9", b"POST /rank"),
    *(b"POST /rank? HTTP/1.1", b"POST /rank?k=1 HTTP/1.1", b"POST /rank#x HTTP/1.1"),
    *(b"POST http://127.0.0.1/rank HTTP/1.1", b"POST //rank HTTP/1.1", b"POST /rank/ HTTP/1.1"),
    *(b"POST /RANK HTTP/1.1", b"POST /%72ank HTTP/1.1", b"POST rank HTTP/1.1"),
    *(b"post /rank HTTP/1.1", b"GET /rank HTTP/1.1", b"PUT /rank HTTP/1.1", b"P /rank HTTP/1.1"),
    *(b"POST  /rank HTTP/1.1", b"POST /rank  HTTP/1.1", b"POST /rank HTTP/1.1 ", b" POST /rank"),
    *(b"POST\t/rank HTTP/1.1", b"POST /rank http/1.1", b"POST /rank HTTP/1.1\r\n", b""),
    *(b"\r\nPOST /rank HTTP/1.1", b"\nPOST /rank HTTP/1.1", b"\0POST /rank HTTP/1.1", b"POST /"),
    *(b"POST /ra\0nk HTTP/1.1", b"POST * HTTP/1.1", b"OPTIONS /rank HTTP/1.1"),
]


@pytest.mark.parametrize("first", FIRST_LINES)
async def test_first_lines(ways, first):
    assert (await ways.talk(rank(BODY, first=first)))[1] == 0


async def test_line_ends(ways):
    for end in (b"\n", b"\r", b"\n\r", b"\r\r\n", b"\r\n ", b"\x0b", b""):
        assert (await ways.talk(rank(BODY, end=end)))[1] == 0
    whole = rank(BODY)
    ends = [at for at in range(len(whole)) if whole[at : at + 2] == b"\r\n"]
    for at in ends:
        for replacement in (b"\n", b"\r", b"\r\r\n", b"\r\n\r\n", b"", b"\0\r\n"):
            assert (await ways.talk(whole[:at] + replacement + whole[at + 2 :]))[1] == 0


async def test_cut_at_every_byte(ways):
    whole = rank(BODY)
    for at in range(1, len(whole)):
        is_held = at >= len(whole) - len(BODY)
        assert (await ways.talk(whole[:at], whole[at:]))[1] == is_held
        assert (await ways.talk(whole[:at]))[1] == 0
        assert (await ways.talk(whole + whole[:at], whole[at:]))[1] == 0
        assert (await ways.talk(whole, whole[:at], whole[at:], whole))[1] == 2 + is_held


async def test_cut_into_three_pieces(ways):
    whole = rank(BODY)
    head = len(whole) - len(BODY)
    for first in (1, head - 1, head, head + 1, head + 20):
        for second in range(first + 1, len(whole)):
            pieces = whole[:first], whole[first:second], whole[second:]
            assert (await ways.talk(*pieces))[1] == 0
            assert (await ways.talk(*pieces, whole))[1] == 1
            assert (await ways.talk(*pieces[:2]))[1] == 0


async def test_a_piece_within_a_request_that_looks_like_one(ways):
    whole = rank(BODY)
    usual = b"host: 127.0.0.1\r\ncontent-type: application/json\r\n"
    size = b"content-length: %d\r\n\r\n" % (len(whole) + 5)
    for begun in (
        *(b"P", b"\r\n", b"POST /rank HTTP/1.1\r\n", b"POST /rank HTTP/1.1\r\nx: ", b"GET /livez"),
        b"POST /rank HTTP/1.1\r\n" + usual + size,
        b"POST /rank HTTP/1.1\r\n" + usual + size + b"12345"[:4],
        b"POST /rank HTTP/1.1\r\n" + usual.replace(b"json", b"x") + size,  # refused at once
        b"POST /rank HTTP/1.1\r\n" + usual + b"transfer-encoding: chunked\r\n\r\n",
        b"POST /rank HTTP/1.1\r\n" + usual + b"transfer-encoding: chunked\r\n\r\nc8\r\n",
        b"GET /livez HTTP/1.1\r\n" + usual + size,
        b"POST /learn HTTP/1.1\r\nupgrade: x\r\nconnection: upgrade\r\n" + usual + size,
    ):
        for pieces in ((begun, whole), (begun, whole, b"12345"), (begun, b"x", whole)):
            assert (await ways.talk(*pieces))[1] == 0


async def test_a_held_piece_and_the_piece_behind_it(ways):
    whole = rank(BODY)
    head, body = whole[: -len(BODY)], BODY
    for second in (
        *(body + whole, body + b"\r\n", body + b"x", body[:-1] + b"x", b"x" * len(body)),
        *(b"", b"\r\n", head, whole, body[:-1], b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"),
    ):
        if second:
            assert (await ways.talk(head, second))[1] == 0
            assert (await ways.talk(head + body[:5], second))[1] == 0
    for request, stays_open in (
        (rank(b'{"features":["a"],"k":2.0}'), 1),
        (rank(BODY, b"expect: 100-continue"), 1),
        (rank(BODY, b"transfer-encoding: chunked"), 0),
    ):
        cut = request.index(b"\r\n\r\n") + 4
        assert (await ways.talk(request[:cut], request[cut:], whole))[1] == stays_open


async def test_several_requests_in_one_piece(ways):
    whole, other = rank(BODY), b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    for pieces in (
        [whole * 2],
        [whole * 20],
        [whole + other],
        [other + whole],
        [whole + b"\r\n"],
        [whole + b"\r", b"\n" + whole],
        [whole + b"garbage\r\n\r\n"],
        [whole + b"x"],
        [whole + whole[:20], whole[20:] + whole],
    ):
        answered = (await ways.talk(*pieces))[1]
        assert answered == 0
    # The last piece is behind a request that ended in the piece before it.
    assert (await ways.talk(whole + whole[:20], whole[20:], whole))[1] == 1


async def test_two_requests_that_come_before_the_answer_to_the_first(ways):
    slow = rank(b'{"features":["a"],"k":2.0}')
    for way in (ways.native, ways.python):
        protocol, line = way.connect()
        protocol.data_received(slow)
        protocol.data_received(rank(b'{"features":["b"],"k":1}'))
        await way.settle(protocol)
        await way.settle(protocol)
        heads = line.written.split(b"HTTP/1.1 ")[1:]
        assert [len(body_of(each)["ranked"]) for each in heads] == [2, 1]
        protocol.connection_lost(None)


SMUGGLED = [
    [b"content-length: 40", b"content-length: 40"],
    [b"content-length: 40", b"content-length: 5"],
    [b"content-length: 5", b"content-length: 40"],
    [b"content-length: 40", b"transfer-encoding: chunked"],
    [b"transfer-encoding: chunked", b"content-length: 40"],
    [b"content-length: 40", b"transfer-encoding : chunked"],
    [b"content-length: 40", b"transfer-encoding: x"],
    [b"content-length: 40", b"transfer\x00-encoding: chunked"],
    [b"content-length:\r\n 40"],
    [b"content-length: 40\r\n 0"],
    [b"content-length: 40;x"],
    [b"content-length: 40 40"],
    [b"content-length: 4_0"],
    [b"content-length: \xef\xbc\x94\xef\xbc\x90"],
    [b"content-length: 99999999999999999999999999"],
    [b"content-length: 18446744073709551656"],
    [b"content-length: 0"],
    [b"content-length : 40"],
    [b"content-length\t: 40"],
    [b" content-length: 40"],
    [b"x: y\ncontent-length: 40"],
    [b"x: y\rcontent-length: 40"],
    [b"x: y\0content-length: 40", b"content-length: 40"],
]


@pytest.mark.parametrize("lines", SMUGGLED)
async def test_framing_that_may_be_read_in_two_ways(ways, lines):
    assert len(BODY) == 40
    head = [b"host: 127.0.0.1", b"content-type: application/json", *lines]
    for body in (BODY, BODY + b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n", b"0\r\n\r\n" + BODY):
        assert (await ways.talk(rank(body, head=head)))[1] == 0


async def test_a_length_that_is_not_that_of_the_rest(ways):
    for length in (1, 39, 41, 400, 4_000_000, 40_000_000):
        head = [b"host: 127.0.0.1", b"content-type: application/json"]
        assert (await ways.talk(rank(BODY, b"content-length: %d" % length, head=head)))[1] == 0


# --- bodies ---------------------------------------------------------------------------------------

BODIES = [
    *(b"", b" ", b"{}", b"[]", b"null", b"5", b'"x"', b"{", b"}", b"{,}", b'{"k":1}', b"\xff"),
    *(b'{"features"}', b'{"features":}', b'{"features":[}', b'{"features":["a"],}', b"{:1}"),
    *(b'{"features":["a"]}x', b'{"features":["a"]}{}', b'{"features":["a"]}\0', b'{"features":{]}'),
    *(b'\xef\xbb\xbf{"features":["a"]}', b'{"features":["a"]}\x0c', b'\x0b{"features":["a"]}'),
    *(b'{"features":[]}', b'{"features":{}}', b'{"features":{"a":0}}', b'{"features":{"a":-0}}'),
    *(b'{"features":[1,2]}', b'{"features":[1.0]}', b'{"features":[1.5]}', b'{"features":[true]}'),
    *(b'{"features":{"a":"1"}}', b'{"features":{"a":true}}', b'{"features":{"a":null}}'),
    *(b'{"features":{"a":1e31}}', b'{"features":{"a":1e400}}', b'{"features":{"a":NaN}}'),
    *(b'{"features":{"a":01}}', b'{"features":{"a":.5}}', b'{"features":{"a":1.}}'),
    *(b'{"features":{"a":+1}}', b'{"features":{"a":1e}}', b'{"features":{"a":1e-400}}'),
    *(b'{"features":{"a":1,"a":2}}', b'{"features":{"":1}}', b'{"features":{"a":[1]}}'),
    *(b'{"features":["\\u0061"]}', b'{"features":["\xff"]}', b'{"features":["a\nb"]}'),
    *(b'{"features":["a\x00b"]}', b'{"features":["\xed\xa0\x80"]}', b'{"features":"a"}'),
    b'{"features":{"' + b"n" * 4097 + b'":1}}',
    b'{"features":' + b"[" * 2000 + b"]" * 2000 + b"}",
    b'{"features":["a"],"x":' + b"[" * 2000 + b"]" * 2000 + b"}",
    *(b'{"features":["a"],"features":["b"]}', b'{"features":["a"],"k":1,"k":2}'),
    *(b'{"id":"a","id":"b",%s}' % REST, b'{"threshold":1,"threshold":2,%s}' % REST),
    *(b'{"fe\\u0061tures":["a"]}', b'{"Features":["a"]}', b'{"k\\u0000":1,%s}' % REST),
    *(b'{"unknown":1,%s}' % REST, b'{"":1,%s}' % REST, b'{"text":"a",%s}' % REST),
    *(b'{"text":"a","text":"b"}', b'{%s,"text":"a"}' % REST, b'{"text":"a\tb"}', b'{"text":"a'),
    *(b'{"text":"\xff"}', b'{"text":"\xed\xa0\x80"}', b'{"text":"\\x"}', b'{"text":"\\u12"}'),
    *(b'{"text":{"a":"b"}', b'{"text":{"a":"b","a":"c"}}', b'{"text":{"a":"b",}}', b'{"text":{,}}'),
    *(json.dumps({"text": text}).encode() for text in OTHER_TEXTS),
    *(b'{"min_seq":9999999,%s}' % REST, b'{"min_seq":1.0,%s}' % REST, b'{"min_seq":-1,%s}' % REST),
    *(b'{"vector":[1,2],"vector":[1,2],%s}' % REST, b'{"vector":null,%s}' % REST),
    *(b'{"vector":[1],%s}' % REST, b'{"vector":[1,2', b'{"vector":[1,2],%s' % REST),
    *(b'{"vector":[1,,2]}', b'{"vector":[1,2,]}', b'{"vector":[01,2]}', b'{"vector":[1,NaN]}'),
    *(b'{"vector":[0.5,-.5]}', b'{"vector":[0.,1]}', b'{"vector":[0.5e,1]}', b'{"vector":[1 2]}'),
    *(b'{"vector":"AA\xff="}', b'{"vector":{"int8":"AQI=",}}', b'{"vector":' + b"[" * 2000),
    *(b'{"source":null,%s}' % REST, b'{"text":null,%s}' % REST, b'{"instances":null,%s}' % REST),
    *(b'{"features":null,"text":"a"}', b'{"features":null}'),
    *(b'{"min_seq":null,%s}' % REST, b'{"min_seq":1,"min_seq":1,%s}' % REST),
    *(b'{"min_seq":999999999999999,%s}' % REST, b'{"min_seq":9999999999999999,%s}' % REST),
    *(b'{"probabilities":1,%s}' % REST, b'{"probabilities":true,"probabilities":true,%s}' % REST),
    *(b'{"probabilities":tru,%s}' % REST, b'{"min_accuracy":0.5,"min_precision":0.5,%s}' % REST),
    *(b'{"keep":false,%s}' % REST, b'{"keep":1,%s}' % REST, b'{"keep":true,"keep":true,%s}' % REST),
    *(b'{"explain":true,%s}' % REST, b'{"explain":null,%s}' % REST, b'{"explain":fal,%s}' % REST),
    *(b'{"explain":fals', b'{"explain":false', b'{"explain":"false",%s}' % REST),
    *(b'{"decode":"taxo",%s}' % REST, b'{"decode":nul,%s}' % REST, b'{"decode":null0,%s}' % REST),
    *(b'{"among":["x"],%s}' % REST, b'{"among":[],%s}' % REST, b'{"threshold":null1,%s}' % REST),
    *(b'{"instances":[{%s}]}' % REST, b'{"instances":[],%s}' % REST),
]
BODIES += [
    b'{"k":%s,%s}' % (value, REST)
    for value in (
        *(b"0", b"1001", b"-1", b"-0", b"1.0", b"5.0", b"5.5", b"1e0", b"1e2", b"05", b"true"),
        *(b'"5"', b"null", b"99999999999999999999", b"1000000000000000", b"5 5", b"[5]", b"+5"),
    )
]
BODIES += [
    b'{"%s":%s,%s}' % (key, value, REST)
    for key in (
        *(b"threshold", b"min_confidence", b"min_accuracy", b"min_probability", b"min_precision"),
    )
    for value in (
        *(b"true", b'"1"', b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"--1"),
        *(b"1e31", b"-1e31", b"1.5e308", b"01", b"1.", b".1", b"1e", b"[]", b"1_0", b"0x1"),
        b"1234567890123456789012345678901",
    )
]
BODIES += [
    b'{"%s":%s,%s}' % (key, value, REST)
    for key in (b"min_confidence", b"min_accuracy", b"min_probability", b"min_precision")
    for value in (b"1.0000000000000002", b"2", b"-0.1", b"-1e-300")
]
BODIES += [
    b'{"id":%s,%s}' % (value, REST)
    for value in (
        *(b'""', b"null", b"5", b"[]", b'"\\n"', b'"\\u0061"', b'"\\""', b'"\xff"', b'"a\tb"'),
        *(b'"a', b'"' + b"x" * 201 + b'"', b'"\xed\xa0\x80"', b'"' + "ä".encode() * 200 + b'"'),
    )
]


async def test_bodies_that_are_not_plain(ways):
    assert [body for body in BODIES if (await ways.talk(rank(body)))[1]] == []


@pytest.mark.parametrize(
    "value",
    [
        b"-0.0",
        b"-0",
        b"0",
        b"1e-400",
        b"1E+2",
        b"0.30000000000000004",
        b"5e-324",
        b"-1e30",
        b"1" * 30,
    ],
)
async def test_thresholds(ways, value):
    assert (await ways.talk(rank(b'{"threshold":%s,%s}' % (value, REST))))[1] == 1


async def test_a_score_has_to_be_above_the_threshold(ways):
    answer, _ = await ways.talk(rank(b"{%s}" % REST))
    scores = [each["score"] for each in body_of(answer)["ranked"]]
    assert len(scores) == 5
    for at, score in enumerate(scores):
        answer, answered = await ways.talk(rank(b'{"threshold":%r,%s}' % (score, REST)))
        assert (len(body_of(answer)["ranked"]), answered) == (at, 1)


async def test_numbers_of_features(ways):
    for count, plain in ((1_000, 1), (10_000, 0), (10_001, 0), (100_001, 0)):
        names = json.dumps([f"f{each}" for each in range(count)], separators=(",", ":")).encode()
        assert (await ways.talk(rank(b'{"features":%s}' % names)))[1] == plain
    most = json.dumps({f"{each:x}": 1 for each in range(6_000)}, separators=(",", ":")).encode()
    for size, plain in ((65_536, 1), (65_537, 0)):
        body = b'{"features":%s' % most
        assert (await ways.talk(rank(body + b" " * (size - len(body) - 1) + b"}")))[1] == plain


async def test_gzipped_bodies(ways):
    body = gzip.compress(BODY, mtime=0)
    assert (await ways.talk(rank(body, b"content-encoding: gzip")))[1] == 0
    assert (await ways.talk(rank(body)))[1] == 0


# --- random changes -------------------------------------------------------------------------------

MUTATED = [*PLAIN[:9], PLAIN[12], PLAIN[18], PLAIN[19], PLAIN[22], PLAIN[23], *PLAIN[32:35]]
MUTATED += map(rank, VECTORS)
TOKENS = [
    *(b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b",", b'"', b"{", b"}", b"[", b"]", b"0", b"1e5"),
    *(b"a", b"z", b"1", b"7", b"00", b"x: y\r\n", b"bc", b"\xc3\xa9", b"  ", b"\n", b"_", b"."),
    *(b"\0", b"\\", b"\xff", b"\xc3\xa4", b"-", b".", b"transfer-encoding: chunked\r\n", b"40"),
    *(b"content-length: 40\r\n", b'"k":2,', b'"id":"z",', b"null", b"true", b'"threshold":-1,'),
    *(b'"explain":false,', b'"min_seq":3,', b'"among":null,', b"false"),
    *(b"\\u00e9", b"\\ud83d", b"\\n", b'"text":"a b",', b'{"title":"a"}'),
]


def mutated(drawn, data):
    """Return the bytes with a few random changes."""
    if drawn.random() < 0.3:  # of one letter or digit, so that many requests stay plain
        at = drawn.choice([at for at, sign in enumerate(data) if chr(sign).isalnum()])
        return data[:at] + drawn.choice(b"abcxyz0123456789").to_bytes() + data[at + 1 :]
    for _ in range(drawn.choice((1, 1, 1, 2, 3))):
        at = drawn.randrange(len(data) + 1)
        end = min(len(data), at + drawn.choice((0, 1, 1, 2, 5)))
        new = drawn.choice((b"", drawn.randbytes(1), drawn.choice(TOKENS), data[at : at + 9]))
        data = data[:at] + new + data[end:]
    return data


def with_length(data):
    """Return a request whose length is right, if it has one."""
    head, empty, body = data.partition(b"\r\n\r\n")
    before, name, rest = head.partition(b"content-length: ")
    length, _, after = rest.partition(b"\r\n")
    if not (empty and name and after and length.isdigit()):
        return data
    return b"".join((before, name, b"%d\r\n" % len(body), after, empty, body))


@pytest.mark.parametrize("seed", range(4))
async def test_random_changes_of_plain_requests(ways, seed):
    drawn = random.Random(seed)
    plain = 0
    for _ in range(500):
        request = mutated(drawn, drawn.choice(MUTATED))
        if drawn.random() < 0.6:
            request = with_length(request)
        plain += (await ways.talk(request))[1] if request else 0
    assert 10 < plain < 480


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ONE_OF_EACH)
async def test_answers_are_those_of_the_model(learner):
    drawn = random.Random(learner)
    async with two_ways(learner=learner) as both:
        parents = dict(zip(CLASSES, "ppqqrrr", strict=True))
        for way in (both.native, both.python):
            answer = await way.call("POST", "/classes", {"parents": parents})
            assert answer.status_code == 200, answer.text
        await both.learn(list(events(150, 3)))
        for number in range(30):
            features = {
                drawn.choice("abcdefghijklmnopqr"): drawn.choice((1, 0.5, 3.25, 1e-5, 7e9))
                for _ in range(drawn.randrange(1, 8))
            }
            asked = {"features": features, "k": drawn.choice((1, 2, 5, 1000))}
            if drawn.random() < 0.3:
                asked["threshold"] = drawn.uniform(-1, 1)
            gives = drawn.random() < 0.5
            asked |= {"probabilities": True} if gives else {}
            answer, answered = await both.talk(rank(json.dumps(asked).encode()))
            assert answered == 1
            for way in (both.native, both.python):  # both, for the counts
                model = way.app.engine.model
                ranked, confidence, probabilities = model.answer(
                    Instance(features), asked["k"], asked.get("threshold"), probabilities=gives
                )
            assert body_of(answer) == {
                "id": f"{PREFIX}{number + 1}",
                "seq": model.seq,
                "ranked": [
                    {"class": name, "score": score} | ({"probability": each} if gives else {})
                    for (name, score), each in zip(ranked, probabilities or ranked, strict=True)
                ],
                "confidence": confidence,
            }
        both.assert_equal_counts()
