"""Workers: the same answers as the event loop's, on connections that move between the two."""

import contextlib
import errno
import json
import os
import random
import re
import select
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from manyclass.service.http import protocol
from tests.service.faulty import PATIENCE
from tests.service.serving import GET, answer_on, head, post, serving, statuses, until

BODY = b'{"features":["a","b"]}'
EVENTS = [{"features": [f"{each}", "a"], "classes": [f"c{each % 3}"]} for each in range(20)]


@pytest.fixture(params=[1, 3])
def served(request):
    with serving(workers=request.param, native=True) as server:
        server.talk(post("/learn", json.dumps({"events": EVENTS}).encode()))
        yield server


def ranked_by_workers(served):
    return sum(sum(each.rank_request_durations) for each in served.app.native.workers.counts())


def rank(connection, body=BODY):
    connection.sendall(post("/rank", body))
    status, headers, content = answer_on(connection)
    assert status == 200, content
    return headers, json.loads(content)


# --- answers --------------------------------------------------------------------------------------


def test_a_worker_answers_as_the_event_loop_does(served):
    with served.connect() as by_worker, served.connect() as by_loop:
        by_loop.sendall(GET % b"/livez")
        assert answer_on(by_loop)[0] == 200
        for body in (
            BODY,
            b'{"features":{"a":2,"1":0.5},"k":2,"id":"mine"}',
            b'{"features":["n"]}',
        ):
            (head_one, one), (head_two, two) = rank(by_worker, body), rank(by_loop, body)
            assert list(head_one) == list(head_two)
            assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d gmt", head_one["date"])
            assert one.pop("id") != two.pop("id") or "mine" in body.decode()
            assert one == two
    assert ranked_by_workers(served) == 3


def test_all_other_requests_are_answered_on_the_same_connection(served):
    with served.connect() as connection:
        for _ in range(3):
            rank(connection)
        for request in (
            GET % b"/livez",
            post("/rank", b'{"features":["a"],"explain":true}'),
            post("/rank", b"not JSON"),
            post("/learn", json.dumps(EVENTS[0]).encode()),
            post("/rank", BODY) * 2,
        ):
            connection.sendall(request)
            assert answer_on(connection)[0] in (200, 400)


@pytest.mark.parametrize("cut", [1, 10, 60, 90])
def test_a_request_may_come_in_pieces(served, cut):
    request = post("/rank", BODY)
    for pause in (0, 0.05):
        with served.connect() as connection:
            connection.sendall(request[:cut])
            time.sleep(pause)
            connection.sendall(request[cut:])
            assert answer_on(connection)[0] == 200


def test_a_body_that_does_not_come_waits_with_the_event_loop(served):
    request = post("/rank", BODY)
    with served.connect() as connection:
        connection.sendall(request[: -len(BODY)])
        until(lambda: len(served.app.limits._own) == 1)  # the worker holds it for a second
        connection.sendall(BODY)
        assert answer_on(connection)[0] == 200


def test_a_client_may_close_its_side_within_a_request(served):
    with served.connect() as connection:
        connection.sendall(post("/rank", BODY)[:-1])
        time.sleep(0.05)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(65_536) == b""
    until(lambda: served.app.limits.connections == 0)


def test_a_connection_goes_back_to_a_worker_once_it_only_ranks(served):
    with served.connect() as connection:
        connection.sendall(GET % b"/livez")
        assert answer_on(connection)[0] == 200
        for _ in range(protocol.PLAIN_IN_A_ROW):
            rank(connection)
        assert ranked_by_workers(served) == 0
        until(
            lambda: (served.app.native.workers.connections, served.app.limits.connections) == (1, 1)
        )
        for _ in range(5):
            rank(connection)
        assert ranked_by_workers(served) == 5
        connection.sendall(GET % b"/livez")
        assert answer_on(connection)[0] == 200


def test_an_answer_that_is_not_read_is_sent_by_the_event_loop():
    events = [{"features": ["a"], "classes": [f"{each:200}"]} for each in range(500)]
    with serving(workers=1, native=True) as served, socket.socket() as connection:
        served.talk(post("/learn", json.dumps({"events": events}).encode()))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", served.port))
        connection.settimeout(60)
        asked = 0
        while len(served.app.limits._own) == 0:
            connection.sendall(post("/rank", b'{"features":["a"],"k":1000}'))
            asked += 1
            time.sleep(0.02)
        for _ in range(asked):
            status, _, content = one_answer(connection)
            assert status == 200
            assert len(json.loads(content)["ranked"]) > 50


def one_answer(connection):
    """Return (status, head, body) of an answer behind which others may follow."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1)
    size = int(re.search(rb"content-length: (\d+)", data).group(1))
    body = b""
    while len(body) < size:
        body += connection.recv(size - len(body))
    return int(data[9:12]), data, body


# --- state ----------------------------------------------------------------------------------------


def test_every_connection_ranks_with_what_was_learned(served):
    with served.connect() as learning, contextlib.ExitStack() as stack:
        ranking = [stack.enter_context(served.connect()) for _ in range(4)]
        for number in range(50):
            learning.sendall(
                post("/learn", b'{"features":["new%d"],"classes":["c%d"]}' % (number, number))
            )
            seq = json.loads(answer_on(learning)[2])["seq"]
            for connection in ranking:
                answer = rank(connection, b'{"features":["new%d"]}' % number)[1]
                assert answer["ranked"][0]["class"] == f"c{number}"
                assert answer["seq"] == seq
    assert ranked_by_workers(served) == 200


def test_a_label_may_come_for_a_ranking_of_a_worker(served):
    with served.connect() as connection:
        ids = [rank(connection, b'{"features":["late"]}')[1]["id"] for _ in range(3)]
        given = rank(connection, b'{"features":["late"],"id":"given"}')[1]["id"]
    for each in (*ids, given):
        status, _, content = served.talk(
            post("/learn", json.dumps({"id": each, "classes": ["z"]}).encode())
        )
        assert (status, json.loads(content)["accepted"]) == (200, 1)
    assert json.loads(served.talk(GET % b"/stats")[2])["late_labels"]["waiting"] == 4


def test_learners_may_change_while_workers_rank():
    shadows = ("pa", "committee(members=ff+ema)", "oplt")
    with serving(workers=2, native=True, learner="ff", shadows=shadows) as served:
        served.talk(post("/learn", json.dumps({"events": EVENTS}).encode()))
        stop = threading.Event()
        seen, failures = set(), []

        def keep_ranking():
            try:
                with served.connect() as connection:
                    while not stop.is_set():
                        seen.add(str(rank(connection)[1]["ranked"]))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=keep_ranking) for _ in range(4)]
        for thread in threads:
            thread.start()
        for learner in (*shadows, "ff") * 5:
            answer = httpx.post(f"{served.url}/learners/{learner}/promote")
            assert answer.status_code == 200
            answer = httpx.post(served.url + "/learn", json=random.choice(EVENTS))
            assert answer.status_code == 200
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures
        assert len(seen) > 3


def test_metrics_count_the_rankings_of_workers(served):
    with served.connect() as connection:
        for _ in range(5):
            rank(connection)
        rank(connection, b'{"features":["a"],"min_confidence":1}')
        counted = served.talk(GET % b"/metrics")[2].decode()
    assert 'request_duration_seconds_count{endpoint="/rank",status="200"} 6.0' in counted
    assert "manyclass_rank_duration_seconds_count 6.0" in counted
    assert "manyclass_abstained_total 1.0" in counted
    assert "manyclass_connections 2.0" in counted


# --- limits ---------------------------------------------------------------------------------------


def test_keys_are_needed_at_workers_too():
    keys = {"rank_keys": ("r",), "learn_keys": ("l",), "admin_keys": ("a",)}
    with serving(workers=1, native=True, **keys) as served:
        for key, status in (("r", 200), ("a", 200), ("x", 401), (None, 401)):
            request = post("/rank", BODY)
            if key is not None:
                line = f"authorization: Bearer {key}\r\n".encode()
                request = request.replace(b"host:", line + b"host:", 1)
            assert served.talk(request)[0] == status


def test_hosts_are_checked_by_workers_too(served):
    for host, status in (("localhost:8000", 200), ("127.0.0.1", 200), ("evil.example", 403)):
        request = post("/rank", BODY).replace(b"127.0.0.1", host.encode(), 1)
        assert served.talk(request)[0] == status


def test_the_longest_idle_connection_of_a_worker_is_closed_for_a_new_one():
    with (
        serving(workers=2, native=True, max_connections=3) as served,
        contextlib.ExitStack() as stack,
    ):
        served.talk(post("/learn", json.dumps(EVENTS[0]).encode()))
        until(lambda: served.app.limits.connections == 0)
        kept = [stack.enter_context(served.connect()) for _ in range(3)]
        for connection in kept:
            rank(connection)
        for number in range(1, 10):
            connection = stack.enter_context(served.connect())
            rank(connection)
            until(lambda closed=number: served.app.limits.closed_idle == closed)
            assert served.app.limits.connections == 3
        assert served.app.limits.rejected_connections == 0


def test_too_many_connections_with_requests_are_refused():
    with (
        serving(workers=1, native=True, max_connections=2) as served,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(2):
            busy = stack.enter_context(served.connect())
            busy.sendall(head("/learn", "content-length: 100"))
        # A worker gives unfinished requests to the loop; until it reads them, the two are idle.
        until(lambda: len(served.app.limits._own) == 2 and not served.app.limits.idle)
        with served.connect() as third:
            assert answer_on(third)[0] == 503


def test_a_connection_that_moves_takes_no_place_of_another():
    with (
        serving(workers=1, native=True, max_connections=2) as served,
        served.connect() as idle,
        served.connect() as moving,
    ):
        rank(idle)
        moving.sendall(GET % b"/livez")
        answer_on(moving)
        for _ in range(protocol.PLAIN_IN_A_ROW):
            rank(moving)
        until(lambda: rank(idle) and served.app.native.workers.connections == 2)  # idle for no 5 s
        for connection in (idle, moving):
            rank(connection)
        assert served.app.limits.closed_idle == 0


def test_a_connection_that_moves_again_and_again_counts_once():
    with (
        serving(workers=2, native=True, max_connections=2) as served,
        served.connect() as idle,
        served.connect() as moving,
    ):
        for _ in range(200):
            rank(idle)
            moving.sendall(GET % b"/livez")
            answer_on(moving)
            for _ in range(protocol.PLAIN_IN_A_ROW):
                rank(moving)
        assert served.app.limits.closed_idle == 0


def test_a_connection_counts_on_its_way_to_the_event_loop():
    with serving(workers=1, native=True) as served, served.connect() as connection:
        until(lambda: served.app.limits.connections == 1)
        blocked, release = threading.Event(), threading.Event()

        def block():
            blocked.set()
            release.wait()

        served.loop.call_soon_threadsafe(block)
        try:
            blocked.wait()
            connection.sendall(GET % b"/livez")
            assert select.select([served.app.native.workers.fileno()], [], [], PATIENCE)[0]
            assert served.app.limits.connections == 1
        finally:
            release.set()
        assert answer_on(connection)[0] == 200
        assert served.app.limits.connections == 1


def test_an_idle_connection_of_a_worker_is_closed_for_one_of_the_event_loop(served):
    with served.connect() as idle, served.connect() as asking:
        rank(idle)
        rank(asking)
        served.app.limits.max_connections = 1  # workers accept up to the limit they started with
        asking.sendall(GET % b"/livez")
        assert answer_on(asking)[0] == 200
        assert idle.recv(1) == b""
    assert served.app.limits.closed_idle == 1


def test_a_connection_stays_with_the_event_loop_when_descriptors_are_short(served, monkeypatch):
    def dup(_descriptor):
        raise OSError(errno.EMFILE, "too many open files")

    with served.connect() as connection:
        connection.sendall(GET % b"/livez")
        answer_on(connection)
        with monkeypatch.context() as patched:
            patched.setattr(os, "dup", dup)
            for _ in range(2 * protocol.PLAIN_IN_A_ROW):
                rank(connection)
        assert ranked_by_workers(served) == 0
        for _ in range(protocol.PLAIN_IN_A_ROW):
            rank(connection)
        until(lambda: served.app.native.workers.connections == 1)


def test_a_silent_connection_is_closed(monkeypatch):
    monkeypatch.setattr("manyclass.service.http.server.QUIET_SECONDS", 1)
    with serving(workers=1, native=True) as served, served.connect() as silent:
        assert silent.recv(1) == b""
        until(lambda: served.app.limits.connections == 0)


# --- the end --------------------------------------------------------------------------------------


def test_a_stop_closes_idle_connections_and_answers_what_came(served):
    with served.connect() as idle, served.connect() as asking:
        rank(idle)
        rank(asking)
        asking.sendall(post("/rank", BODY))
        until(lambda: ranked_by_workers(served) == 3)
        served.stop()
        assert statuses(idle) == []
        assert statuses(asking) == [200]
    until(lambda: is_refused(served))


def is_refused(served):
    """Return whether the service listens no longer; one that stops amid the call resets it."""
    try:
        served.connect().close()
    except (ConnectionRefusedError, ConnectionResetError):
        return True
    return False


# --- descriptors ----------------------------------------------------------------------------------


def test_a_worker_forgets_a_connection_whose_descriptor_the_event_loop_has_still_open(served):
    client, connection = socket.socketpair()
    with connection:
        until(lambda: served.app.limits.connections == 0)
        served.loop.call_soon_threadsafe(served.app.native.workers.give, connection)
        until(lambda: served.app.native.workers.connections == 1)
        assert is_watched(connection)
        client.close()
        until(lambda: served.app.native.workers.connections == 0)
        until(lambda: not is_watched(connection))


def is_watched(connection):
    """Return whether an epoll of this process has the connection, by whichever descriptor."""
    inode = f"ino:{os.fstat(connection.fileno()).st_ino:x} "
    watched = ""
    for descriptor in Path("/proc/self/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            watched += descriptor.read_text()
    return inode in watched
