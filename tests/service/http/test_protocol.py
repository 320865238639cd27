"""The limits of one connection, on a real server: framing, pipelines, memory, admission.

These tests also hold what the protocol relies on in uvicorn and uvloop.
"""

import contextlib
import gzip
import json
import logging
import select
import socket
import threading

import httpx
import pytest

from manyclass.service.http import fault_log, protocol, shedding
from manyclass.service.http.protocol import MOST_PIPELINED
from manyclass.service.http.wire import MOST_HEADERS
from tests.service.faulty import PATIENCE
from tests.service.serving import answer_on, everything, head, post, serving, statuses, until

EVENT = b'{"features":["a"],"classes":["x"]}'
RANKING = b'{"features":["a"]}'
GET = b"GET %s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


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
        return served.app.engine.model.digest(), httpx.get(served.url + "/snapshots").json()

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
        serving(max_body_bytes=2**20, max_buffered_bytes=2**21) as served,
        contextlib.ExitStack() as s,
    ):
        refused = 0
        for _ in range(5):
            connection = s.enter_context(served.connect())
            connection.sendall(head("/learn", "content-length: 1000000") + b" " * 900_000)
        until(lambda: served.app.limits.budget.refused >= 3)
        refused = served.app.limits.budget.refused
        assert served.app.limits.budget.used <= 2**21
        assert served.talk(post("/rank", RANKING))[0] == 200
        assert served.talk(post("/learn", b" " * 300_000))[0] == 503
        assert served.app.limits.budget.refused > refused


def test_an_answer_that_is_not_read_is_closed(caplog, monkeypatch):
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 1)
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
    monkeypatch.setattr(protocol, "LINGER_SECONDS", 1)
    with serving() as served, served.connect() as connection:
        connection.sendall(head("/nowhere", "transfer-encoding: chunked", method="GET"))
        assert answer_on(connection)[0] == 404
        with contextlib.suppress(ConnectionError):
            while not select.select([connection], [], [], 0.01)[0]:
                connection.sendall(b"1\r\nx\r\n")
            assert connection.recv(1) == b""


def test_a_body_that_comes_too_slowly_is_given_up(monkeypatch):
    """A small body has to be complete in time, even if single bytes keep coming."""
    monkeypatch.setattr(protocol, "QUIET_SECONDS", 1)
    with serving() as served, served.connect() as connection:
        connection.sendall(head("/rank", "content-length: 100000"))
        while not select.select([connection], [], [], 0.01)[0]:
            connection.sendall(b" ")
        assert answer_on(connection)[0] == 408


@pytest.mark.parametrize("path", ["/nope", "/snapshots", "/learners/x/promote"])
def test_only_streams_to_learn_may_be_quiet(path, monkeypatch):
    """Other routes time out: else clients without a key could hold connections."""
    monkeypatch.setattr(protocol, "QUIET_SECONDS", 1)
    with serving() as served, served.connect() as connection:
        connection.sendall(head(path, "content-length: 1000", kind="application/x-ndjson"))
        assert answer_on(connection)[0] == 408


# --- connections and admission --------------------------------------------------------------------


def test_connections_are_bounded():
    with serving(max_connections=3) as served:
        with contextlib.ExitStack() as stack:
            kept = [stack.enter_context(served.connect()) for _ in range(3)]
            for connection in kept:
                connection.sendall(head("/rank", "content-length: 100"))
            until(lambda: not served.app.limits.idle)
            with served.connect() as fourth:
                status, headers, _ = answer_on(fourth)
                assert (status, headers["connection"]) == (503, "close")
                assert int(headers["retry-after"]) >= 1
        until(lambda: served.app.limits.connections == 0)
        assert served.talk(GET % b"/livez")[0] == 200
        assert served.app.limits.rejected_connections == 1
        assert served.app.limits.closed_idle == 0


def test_idle_connections_are_closed_for_new_ones_the_longest_idle_first():
    with serving(max_connections=4) as served, contextlib.ExitStack() as stack:

        def connect(*requests):
            connection = stack.enter_context(served.connect())
            for request in requests:
                connection.sendall(request)
                assert answer_on(connection)[0] == 200
            return connection

        busy = connect()
        busy.sendall(head("/learn", f"content-length: {len(EVENT)}"))
        until(lambda: served.app.limits.connections == 1 and not served.app.limits.idle)
        asked_late, *silent = connect(), connect(), connect()
        silent[0].sendall(b"GET /livez HTTP/1.1\r\n")  # an incomplete head
        until(lambda: len(served.app.limits.idle) == 3)
        asked_late.sendall(GET % b"/livez")
        assert answer_on(asked_late)[0] == 200
        for closed in (*silent, asked_late):
            kept = connect(GET % b"/livez")
            assert closed.recv(1) == b""
        busy.sendall(EVENT)
        kept.sendall(GET % b"/livez")
        assert [answer_on(connection)[0] for connection in (busy, kept)] == [200, 200]
        limits = served.app.limits
        assert (limits.closed_idle, limits.rejected_connections, limits.connections) == (3, 0, 4)


def test_silent_connections_keep_no_request_out():
    with serving(max_connections=20) as served, contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(served.connect())
        for _ in range(30):
            assert served.talk(GET % b"/livez")[0] == 200
        assert served.app.limits.rejected_connections == 0


@contextlib.contextmanager
def stalled(served):
    """Block the event loop in this context, so that all sent bytes arrive in one turn."""
    begun, end = threading.Event(), threading.Event()

    def stall():
        begun.set()
        end.wait(PATIENCE)

    served.loop.call_soon_threadsafe(stall)
    assert begun.wait(PATIENCE)
    try:
        yield
    finally:
        end.set()


@contextlib.contextmanager
def sent_at_once(server, requests):
    """Yield connections, each answered once, that sent these bytes while the loop was stalled."""
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in requests]
        for connection in connections:
            connection.sendall(GET % b"/livez")
            answer_on(connection)
        with stalled(server):
            for connection, request in zip(connections, requests, strict=True):
                connection.sendall(request)
        yield connections


@pytest.fixture
def narrow():
    """Yield a server that ranks two requests at a time."""
    with serving(max_concurrent=2) as server:
        yield server


def test_rankings_above_the_concurrency_are_shed(narrow):
    admission = narrow.app.limits.admission
    with sent_at_once(narrow, [post("/rank", RANKING)] * 10) as connections:
        answers = [answer_on(connection) for connection in connections]
        assert sorted(status for status, _, _ in answers) == [200] * 2 + [503] * 8
        for status, headers, body in answers:
            if status == 503:
                assert int(headers["retry-after"]) >= 1
                assert json.loads(body)["status"] == 503
                assert "vary" not in headers  # without MANYCLASS_ALLOWED_ORIGINS
        assert (admission.shed, admission.running) == (8, 0)
        for connection in connections:  # after the pause every connection is served again
            connection.setblocking(True)
        threading.Event().wait(3 * shedding.PAUSE_SECONDS)
        for connection in connections:
            connection.sendall(post("/rank", RANKING))
            assert answer_on(connection)[0] == 200


def test_a_ranking_repeated_at_once_is_shed_again(narrow):
    """The server pauses reading its connection; a ranking sent after the pause is answered."""
    admission = narrow.app.limits.admission
    with sent_at_once(narrow, [post("/rank", RANKING)] * 3) as connections:
        shed = [each for each in connections if answer_on(each)[0] == 503]
        assert len(shed) == 1
        for _ in range(3):
            shed[0].sendall(post("/rank", RANKING))
            assert answer_on(shed[0])[0] == 503
        assert admission.shed == 4
        threading.Event().wait(3 * shedding.PAUSE_SECONDS)
        shed[0].sendall(post("/rank", RANKING))
        assert answer_on(shed[0])[0] == 200


def test_a_connection_of_a_proxy_is_read_on_after_a_shed_ranking(narrow):
    """The next ranking on the connection is of another client."""
    by_proxy = post("/rank", RANKING).replace(b"\r\n", b"\r\nVia: 1.1 proxy\r\n", 1)
    with sent_at_once(narrow, [by_proxy] * 3) as connections:
        shed = [each for each in connections if answer_on(each)[0] == 503]
        assert len(shed) == 1
        shed[0].sendall(by_proxy)
        assert answer_on(shed[0])[0] == 200
        assert narrow.app.limits.admission.shed == 1


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


def test_a_shed_client_that_has_not_sent_its_body_yet_is_closed(narrow):
    narrow.app.limits.admission.most = 0
    request = head("/rank", "expect: 100-continue", f"content-length: {len(RANKING)}")
    with narrow.connect() as connection:
        connection.sendall(request)
        status, headers, _ = answer_on(connection)
        assert (status, headers["connection"]) == (503, "close")
        assert connection.recv(1) == b""


def test_bodies_that_come_slowly_take_no_place(narrow):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(narrow.connect()) for _ in range(5)]
        request = post("/rank", RANKING)
        for connection in slow:
            connection.sendall(request[:-3])
        assert narrow.talk(request)[0] == 200
        with stalled(narrow):
            for connection in slow:
                connection.sendall(request[-3:])
        answers = sorted(answer_on(connection)[0] for connection in slow)
        assert answers == [200] * 2 + [503] * 3
        assert narrow.app.limits.admission.running == 0


def test_rankings_that_wait_for_an_event_take_no_place(narrow):
    admission = narrow.app.limits.admission
    waiting = post("/rank", b'{"features":["a"],"min_seq":1000000}')
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(narrow.connect()) for _ in range(5)]
        for connection in connections:
            connection.sendall(waiting)
        assert narrow.talk(post("/rank", RANKING))[0] == 200
        connections.pop().close()
        assert {answer_on(connection)[0] for connection in connections} == {503}
    until(lambda: admission.running == 0)
    assert narrow.talk(post("/rank", RANKING))[0] == 200


def test_other_calls_are_not_shed(narrow):
    with sent_at_once(narrow, [GET % b"/livez", post("/learn", EVENT)] * 5) as connections:
        assert [answer_on(connection)[0] for connection in connections] == [200] * 10


def test_clients_that_leave_give_their_places_back(narrow):
    for _ in range(5):
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                connection = stack.enter_context(narrow.connect())
                connection.sendall(post("/rank", RANKING) * 3)
    until(lambda: narrow.app.limits.connections == 0)
    assert narrow.app.limits.admission.running == 0
    assert narrow.app.limits.budget.used == 0
    assert narrow.talk(post("/rank", RANKING))[0] == 200


def test_large_rankings_are_bounded_by_bytes():
    """The first waits for an event, so that it is in progress while the others come."""
    instances = [{"features": ["a" * 100]}] * 1000
    body = json.dumps({"instances": instances, "k": 1, "min_seq": 1}).encode()
    assert len(body) > 100_000
    with serving(max_concurrent_bytes=150_000, rank_wait_seconds=PATIENCE) as served:
        admission = served.app.limits.admission
        with served.connect() as first:
            first.sendall(post("/rank", body))
            until(lambda: admission.large_bytes == len(body))
            assert [served.talk(post("/rank", body))[0] for _ in range(3)] == [503] * 3
            assert admission.shed == 3
            assert served.talk(post("/rank", RANKING))[0] == 200
            assert served.talk(post("/learn", EVENT))[0] == 200
            assert answer_on(first)[0] == 200
        assert (admission.large_bytes, admission.running) == (0, 0)
        assert served.talk(post("/rank", body))[0] == 200


def test_members_of_nothing_are_refused_by_the_server_too(served):
    packed = gzip.compress(b"") * 10_000
    request = post("/rank", packed, "content-encoding: gzip")
    assert served.talk(request)[0] == 400
