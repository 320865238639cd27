"""Limits on connections and on rankings in progress, on a real server."""

import contextlib
import gzip
import json
import threading

import pytest

from manyclass.service.http import shedding
from tests.service.faulty import PATIENCE
from tests.service.serving import GET, RANKING, answer_on, head, post, serving, until

EVENT = b'{"features":["a"],"classes":["x"]}'


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
    """Yield a server that ranks two requests at a time, and in a burst no more."""
    with serving(max_concurrent=2, max_burst=0) as server:
        yield server


def test_a_burst_may_go_above_the_concurrency():
    with serving(max_concurrent=2, max_burst=3) as server:
        admission = server.app.limits.admission
        with sent_at_once(server, [post("/rank", RANKING)] * 10) as connections:
            statuses = sorted(answer_on(connection)[0] for connection in connections)
            assert statuses == [200] * 5 + [503] * 5
        assert admission.shed == 5
        until(lambda: admission.short.taken == 0)  # at the end of the turn of the loop


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
        assert admission.shed == 8
        until(lambda: admission.short.taken == 0)
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


def test_pipelined_rankings_that_are_shed_pause_their_connection_once(narrow, monkeypatch):
    pauses = []
    pause = shedding.pause_after_shedding
    monkeypatch.setattr(
        shedding, "pause_after_shedding", lambda count: pauses.append(count) or pause(count)
    )
    narrow.app.limits.admission.short.most = 0
    with narrow.connect() as connection:
        connection.sendall(post("/rank", RANKING) * 5)
        received = b""
        while received.count(b"HTTP/1.1 503") < 5:
            data = connection.recv(65536)
            assert data
            received += data
    assert len(pauses) == 1


def test_a_connection_of_a_proxy_is_read_on_after_a_shed_ranking(narrow):
    """The next ranking on the connection is of another client."""
    by_proxy = post("/rank", RANKING).replace(b"\r\n", b"\r\nVia: 1.1 proxy\r\n", 1)
    with sent_at_once(narrow, [by_proxy] * 3) as connections:
        shed = [each for each in connections if answer_on(each)[0] == 503]
        assert len(shed) == 1
        shed[0].sendall(by_proxy)
        assert answer_on(shed[0])[0] == 200
        assert narrow.app.limits.admission.shed == 1


def test_a_shed_client_that_has_not_sent_its_body_yet_is_closed(narrow):
    narrow.app.limits.admission.short.most = 0
    request = head("/rank", "expect: 100-continue", f"content-length: {len(RANKING)}")
    with narrow.connect() as connection:
        connection.sendall(request)
        status, headers, _ = answer_on(connection)
        assert (status, headers["connection"]) == (503, "close")
        assert connection.recv(1) == b""


def test_long_rankings_and_short_ones_take_the_places_of_their_own_kind(narrow):
    """Long ones are of many instances, explained, or gzipped."""
    packed = gzip.compress(RANKING)
    long_ones = (
        post("/rank", b'{"instances":[{"features":["a"]}]}'),
        post("/rank", b'{"features":["a"],"explain":true}'),
        head("/rank", "content-encoding: gzip", f"content-length: {len(packed)}") + packed,
    )
    admission = narrow.app.limits.admission
    for full, short_status, long_status in (
        (admission.long, 200, 503),
        (admission.short, 503, 200),
        (None, 200, 200),
    ):
        if full is not None:
            full.taken = full.most
        assert narrow.talk(post("/rank", RANKING))[0] == short_status
        gzipped = long_ones[2]
        assert narrow.talk(gzipped)[0] == long_status
        if full is not admission.short:  # they are known as long ones after their heads
            assert {narrow.talk(each)[0] for each in long_ones} == {long_status}
        if full is not None:
            full.taken = 0
    until(lambda: (admission.short.taken, admission.long.taken) == (0, 0))


def test_long_rankings_leave_their_places_and_those_of_short_ones(narrow):
    admission = narrow.app.limits.admission
    for body, status in (
        (b'{"instances":[{"features":["a"]},{"features":["b"]}]}', 200),
        (b'{"instances":[{"features":["a"]},{"features":1}]}', 422),
        (b'{"features":["a"],"explain":true,"min_seq":1000000}', 503),
    ):
        assert [narrow.talk(post("/rank", body))[0] for _ in range(3)] == [status] * 3
        until(lambda: (admission.short.taken, admission.long.taken) == (0, 0))
    assert not admission.shed


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
        until(lambda: narrow.app.limits.admission.short.taken == 0)


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
    until(lambda: admission.short.taken == 0)
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
    until(lambda: narrow.app.limits.admission.short.taken == 0)
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
        until(lambda: (admission.large_bytes, admission.short.taken) == (0, 0))
        assert served.talk(post("/rank", body))[0] == 200
