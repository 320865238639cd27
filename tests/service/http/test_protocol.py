"""The limits of one connection, on a real server: framing, pipelines, memory.

These tests also hold what the protocol relies on in uvicorn and uvloop.
"""

import contextlib
import gzip
import logging
import select
import socket

import httpx
import pytest

from manyclass.service.http import bounded_protocol, fault_log
from manyclass.service.http.bounded_protocol import MOST_PIPELINED
from manyclass.service.http.wire import MOST_HEADERS
from tests.service.faulty import PATIENCE, FaultyStore
from tests.service.serving import (
    GET,
    RANKING,
    answer_on,
    chunk,
    everything,
    head,
    post,
    serving,
    statuses,
    until,
)


@pytest.fixture(scope="module")
def served():
    with serving(max_body_bytes=4 * 2**20) as server:
        httpx.post(server.url + "/learn", json={"features": ["a"], "classes": ["x"]})
        httpx.post(server.url + "/snapshots")
        yield server


# --- framing --------------------------------------------------------------------------------------

BROKEN_BODIES = {
    "trailer": b"2\r\n{}\r\n0\r\nbad trailer\r\n\r\n",
    "size": b"2\r\n{}\r\nx\r\n",
    "no line end": b"2\r\n{}0\r\n\r\n",
}


@pytest.mark.parametrize("broken", BROKEN_BODIES.values(), ids=BROKEN_BODIES.keys())
@pytest.mark.parametrize("cut", [False, True], ids=["at once", "in two pieces"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/learners/svm/promote"),
        ("POST", "/snapshots"),
        ("POST", "/snapshots/1/restore"),
        ("DELETE", "/classes/x"),
        ("DELETE", "/features/a"),
        ("POST", "/learn"),
    ],
)
def test_a_request_whose_body_is_broken_changes_nothing(served, method, path, broken, cut):
    def state():
        return served.app.engine.model.digest(), served.talk(GET % b"/snapshots")[2]

    before = state()
    request = head(path, "transfer-encoding: chunked", method=method)
    with served.connect() as connection:
        if cut:
            connection.sendall(request + broken[:7])
            connection.sendall(broken[7:])
        else:
            connection.sendall(request + broken)
        assert statuses(connection) == [400]
    assert state() == before


def test_a_call_that_changes_something_reads_a_body_it_does_not_need(served):
    """A small body is read to its end; the connection stays open."""
    for body, status in ((b"", 200), (b"{}", 200), (b"x" * 60_000, 200)):
        assert served.talk(
            head("/features/none", f"content-length: {len(body)}", method="DELETE"), body
        )[0] in (status, 404)
    too_large = b"x" * 70_000
    request = head("/features/a", f"content-length: {len(too_large)}", method="DELETE") + too_large
    assert served.talk(request)[0] == 413
    assert httpx.get(served.url + "/features/a").status_code == 200


# --- clients that close their half of the connection ----------------------------------------------

EVENT = b'{"features":["a"],"classes":["x"]}'
LINES = (EVENT + b"\n") * 3
STREAM = "application/x-ndjson"
MANY_LATER = b'{"features":["a"],"min_seq":1000000}'
WAITING = post("/rank", MANY_LATER)  # until its time limit
# what is sent before the end, the statuses of the answers, and the number of events learned
HALF_CLOSED = {
    "plain event": (post("/learn", EVENT), [200], 1),
    "event that is not plain": (post("/learn", b'{"text":"a","classes":["x"]}'), [200], 1),
    "many events": (post("/learn", b'{"events":[' + EVENT + b"]}"), [200], 1),
    "stream": (head("/learn", f"content-length: {len(LINES)}", kind=STREAM) + LINES, [200], 3),
    "stream in chunks": (
        head("/learn", "transfer-encoding: chunked", kind=STREAM) + chunk(LINES) + b"0\r\n\r\n",
        [200],
        3,
    ),
    "plain ranking": (post("/rank", RANKING), [200], 0),
    "ranking that waits": (WAITING, [503], 0),
    "small page": (GET % b"/classes", [200], 0),
    "large document": (GET % b"/openapi.json", [200], 0),
    "state": (GET % b"/state", [200], 0),
    "change": (head("/classes/x", method="DELETE"), [200], 1),
    "bad request": (post("/rank", b"{"), [400], 0),
    "pipeline": (post("/learn", EVENT) + GET % b"/livez" + post("/learn", EVENT), [200] * 3, 2),
    "pipeline behind one that waits": (WAITING + GET % b"/livez", [503, 200], 0),
    "part of a head behind": (GET % b"/classes" + b"GET /livez HTT", [200], 0),
    "part of a body behind": (WAITING + post("/learn", EVENT)[:-1], [503], 0),
    "part of a plain body behind": (post("/learn", EVENT) + post("/learn", EVENT)[:-1], [200], 1),
    "part of a body": (post("/learn", EVENT)[:-1], [], 0),
    "part of a head": (post("/learn", EVENT)[:20], [], 0),
    "nothing": (b"", [], 0),
}


@pytest.fixture(scope="module", params=[0, 1], ids=["loop", "worker"])
def waiting_shortly(request):
    """Yield a service whose rankings wait a moment for an event."""
    with serving(workers=request.param, rank_wait_seconds=0.1) as server:
        yield server


@pytest.mark.parametrize(
    ("sent", "answers", "events"), HALF_CLOSED.values(), ids=HALF_CLOSED.keys()
)
def test_a_client_that_closes_its_half_gets_its_answers(waiting_shortly, sent, answers, events):
    """As `nc` does at the end of its input. A request that came in part has no effect."""
    assert waiting_shortly.talk(post("/learn", EVENT))[0] == 200
    before = waiting_shortly.app.engine.model.seq
    with waiting_shortly.connect() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert statuses(connection) == answers
    assert waiting_shortly.app.engine.model.seq == before + events


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("body", [EVENT, b'{"events":[' + EVENT + b"]}"], ids=["plain", "many"])
def test_the_end_may_come_while_an_event_is_on_its_way(workers, body):
    store = FaultyStore()
    with serving(workers=workers, opened=store) as served, served.connect() as connection:
        with store.before_append.shut():
            connection.sendall(post("/learn", body))
            assert store.begun.acquire(timeout=PATIENCE)
            connection.shutdown(socket.SHUT_WR)
            assert served.talk(GET % b"/livez")[0] == 200  # the end is read meanwhile
        assert statuses(connection) == [200]
        until(lambda: served.app.limits.connections == 0)


# --- pipelines and malformed HTTP -----------------------------------------------------------------


@pytest.mark.parametrize("path", [b"/livez", b"/classes", b"/stats?digest=yes", b"/state"])
def test_garbage_behind_requests_is_answered_after_them(served, path, caplog):
    with served.connect() as connection:
        connection.sendall(GET % path * 2 + b"garbage\r\n\r\n")
        assert statuses(connection) == [200, 200, 400]
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("path", [b"/livez", b"/classes", b"/state"])
def test_a_client_that_leaves_amid_its_requests_leaves_no_traceback(served, path, caplog):
    for _ in range(20):
        connection = served.connect()
        linger = b"\1\0\0\0\0\0\0\0"  # close() resets the connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        connection.sendall(GET % path * 5)
        connection.close()
    until(lambda: served.app.limits.connections == 0)
    assert httpx.get(served.url + "/livez").status_code == 200
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_broken_body_behind_a_request_is_refused_after_its_answer(served):
    event = post("/rank", RANKING)
    broken = head("/learn", "transfer-encoding: chunked") + BROKEN_BODIES["trailer"]
    with served.connect() as connection:
        connection.sendall(event + broken)
        assert statuses(connection) == [200, 400]


def test_pipelines_have_a_length(served):
    with served.connect() as connection:
        connection.sendall((GET % b"/classes") * (MOST_PIPELINED + 1))
        data = b""
        while data.count(b"HTTP/1.1 200") < MOST_PIPELINED + 1:
            data += connection.recv(65_536)
    with served.connect() as connection:
        connection.sendall((GET % b"/classes") * 5000)
        answers = statuses(connection)
    assert answers == [200] * (MOST_PIPELINED + 1) + [400]


def test_many_headers_are_refused(served):
    lines = [f"a: {number}" for number in range(MOST_HEADERS - 10)]
    assert served.talk(head("/livez", *lines, method="GET"))[0] == 200
    assert served.talk(head("/livez", *(lines * 2), method="GET"))[0] == 431
    with served.connect() as connection:  # its head does not end
        connection.sendall(head("/livez", *(lines * 2), method="GET")[:-2])
        assert statuses(connection) == [431]


def test_an_offer_to_upgrade_is_ignored(served, caplog):
    request = head("/livez", "connection: Upgrade", "upgrade: websocket", method="GET")
    assert served.talk(request)[0] == 200
    assert not caplog.records


@pytest.mark.parametrize("cut", [None, "head", "body"])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_request_that_offers_to_upgrade_keeps_its_body(served, cut, chunked):
    """Java's HttpClient sends this offer; only the bytes after the body are a new request."""
    body = b'{"text": "GET /livez HTTP/1.1", "classes": ["c"]}'
    framing = "transfer-encoding: chunked" if chunked else f"content-length: {len(body)}"
    offer = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABk")
    request = head("/learn", framing, *offer)
    sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    following = head("/livez", "connection: close", method="GET")
    at = {None: None, "head": len(request), "body": len(request) + 9}[cut]
    whole = request + sent + following
    with served.connect() as connection:
        connection.sendall(whole[:at])
        if at is not None:
            served.talk(head("/livez", method="GET"))  # meanwhile the first piece is read
            connection.sendall(whole[at:])
        assert statuses(connection) == [200, 200]


def test_requests_after_an_offer_to_upgrade_are_answered(served):
    offer = head("/livez", "connection: Upgrade", "upgrade: h2c", method="GET")
    with served.connect() as connection:
        connection.sendall(offer + offer + head("/livez", "connection: close", method="GET"))
        assert statuses(connection) == [200, 200, 200]


def test_bad_requests_write_little_to_the_log(served, caplog):
    limits = served.app.limits
    before = limits.bad_requests
    for number in range(50):
        with served.connect() as connection:
            connection.sendall(b"garbage" * number + b"\xff\r\n\r\n")
            assert statuses(connection) == [400]
    assert limits.bad_requests == before + 50
    assert sum(len(record.getMessage()) for record in caplog.records) <= 50 * 200
    assert not [record for record in caplog.records if record.exc_info]


def test_the_log_of_faults_is_short_and_rate_limited(caplog):
    now = 0.0
    faults = fault_log.FaultLog(lambda: now)
    for _ in range(1000):
        faults.add("é" * 500)
    now = 2.0
    faults.add("short")
    first, second = (record.getMessage() for record in caplog.records)
    assert len(first.encode()) <= fault_log.LONGEST_LINE
    assert second == "short; 999 more before"


def test_after_an_early_answer_the_rest_is_http_again(served):
    """After the end of an unneeded body, the next bytes are parsed as a request."""
    early = head("/rank", "content-length: 5", kind="text/plain")
    assert served.talk(early)[0] == 415
    with served.connect() as connection:
        connection.sendall(early)
        assert answer_on(connection)[0] == 415
        connection.sendall(b"12345" + GET % b"/livez" + b"garbage\r\n\r\n")
        assert statuses(connection) == [200, 400]
    with served.connect() as connection:
        connection.sendall(early)
        assert answer_on(connection)[0] == 415
        connection.sendall(b"12345garbage\r\n\r\n")
        assert statuses(connection) == [400]


def test_members_of_nothing_are_refused_by_the_server_too(served):
    packed = gzip.compress(b"") * 10_000
    request = post("/rank", packed, "content-encoding: gzip")
    assert served.talk(request)[0] == 400


# --- memory ---------------------------------------------------------------------------------------


def test_bytes_that_wait_are_counted_and_given_back(served):
    budget = served.app.limits.budget
    until(lambda: budget.used == 0)
    with contextlib.ExitStack() as stack:
        body, line, started = (stack.enter_context(served.connect()) for _ in range(3))
        body.sendall(head("/learn", "content-length: 200000") + b" " * 150_000)
        until(lambda: 150_000 <= budget.used < 250_000)
        chunked = head("/learn", "transfer-encoding: chunked", kind="application/x-ndjson")
        line.sendall(chunked + b"186a0\r\n" + b" " * 100_000)
        until(lambda: 250_000 <= budget.used < 350_000)
        started.sendall(b"GET /" + b"x" * 50_000)
        until(lambda: 300_000 <= budget.used < 350_000)
    until(lambda: budget.used == 0)


def test_when_memory_is_short_large_requests_are_refused_and_small_ones_served():
    with (
        serving(max_body_bytes=2**20, max_buffered_bytes=3 * 2**20) as served,
        contextlib.ExitStack() as s,
    ):
        for _ in range(5):
            connection = s.enter_context(served.connect())
            connection.sendall(head("/learn", "content-length: 1000000") + b" " * 900_000)
        until(lambda: served.app.limits.budget.refused >= 2)
        refused = served.app.limits.budget.refused
        assert served.app.limits.budget.used <= 3 * 2**20
        assert served.talk(post("/rank", RANKING))[0] == 200
        assert served.talk(post("/learn", b" " * 1_000_000))[0] == 503
        assert served.app.limits.budget.refused > refused


def test_heads_count_until_their_requests_are_answered():
    large = [f"x-{number}: {'x' * 600}" for number in range(90)]
    with serving(rank_wait_seconds=30) as served, served.connect() as connection:
        budget = served.app.limits.budget
        stream = head("/learn", "transfer-encoding: chunked", *large, kind=STREAM)
        connection.sendall(stream)
        until(lambda: budget.used > 50_000)
        connection.sendall(b"0\r\n\r\n")
        assert answer_on(connection)[0] == 200
        until(lambda: budget.used == 0)
        later = b'{"features":["a"],"min_seq":1}'
        waiting = head("/rank", f"content-length: {len(later)}", *large) + later
        connection.sendall(waiting + head("/livez", *large, method="GET") * 10)
        until(lambda: budget.used > 2 * 50_000)  # reading may pause behind the first that waits
        assert served.talk(post("/learn", EVENT))[0] == 200  # that event ends the wait
        assert answer_on(connection)[0] == 200
    until(lambda: budget.used == 0)


def test_an_answer_that_is_not_read_is_closed(caplog, monkeypatch):
    monkeypatch.setattr(bounded_protocol, "UNREAD_SECONDS", 1)
    with serving() as served:
        budget = served.app.limits.budget
        size = 30_000_000

        async def large_state():
            return 0, [memoryview(bytes(size))]

        served.app.engine.state = large_state
        with served.connect() as reader, served.connect() as other:
            reader.sendall(GET % b"/state")
            until(lambda: budget.used > 0)
            until(lambda: served.app.limits.slow_readers == 1)
            until(lambda: budget.used == 0)
            assert len(everything(reader)) < size
            other.sendall(GET % b"/state")  # once more: the first released its memory
            assert bytes_of(other) > size
        assert not [record for record in caplog.records if record.exc_info]


def bytes_of(connection):
    """Return the number of bytes that come until the server is quiet."""
    size = 0
    while select.select([connection], [], [], 0.5)[0]:
        received = len(connection.recv(2**20))
        assert received, "closed"
        size += received
    return size


def test_the_rest_of_a_body_after_its_answer_has_bounded_time(monkeypatch):
    monkeypatch.setattr(bounded_protocol, "LINGER_SECONDS", 1)
    with serving() as served, served.connect() as connection:
        connection.sendall(head("/nowhere", "transfer-encoding: chunked", method="GET"))
        assert answer_on(connection)[0] == 404
        with contextlib.suppress(ConnectionError):
            while not select.select([connection], [], [], 0.01)[0]:
                connection.sendall(b"1\r\nx\r\n")
            assert connection.recv(1) == b""


def test_a_body_that_comes_too_slowly_is_given_up(monkeypatch):
    """A small body has to be complete in time, even if single bytes keep coming."""
    monkeypatch.setattr(bounded_protocol, "QUIET_SECONDS", 1)
    with serving() as served, served.connect() as connection:
        connection.sendall(head("/rank", "content-length: 100000"))
        while not select.select([connection], [], [], 0.01)[0]:
            connection.sendall(b" ")
        assert answer_on(connection)[0] == 408


def test_only_streams_to_learn_may_be_quiet(monkeypatch):
    """Other routes time out: else clients without a key could hold connections."""
    monkeypatch.setattr(bounded_protocol, "QUIET_SECONDS", 1)
    with serving() as served, contextlib.ExitStack() as stack:
        connections = [stack.enter_context(served.connect()) for _ in range(3)]
        for path, connection in zip(
            ("/nope", "/snapshots", "/learners/x/promote"), connections, strict=True
        ):
            connection.sendall(head(path, "content-length: 1000", kind="application/x-ndjson"))
        assert [answer_on(connection)[0] for connection in connections] == [408] * 3
