"""Learning on connections of workers: the answers, states and counts of the event loop's."""

import contextlib
import json
import random
import re
import socket
import struct
import threading
from pathlib import Path

import pytest

from manyclass.client.client import Client
from manyclass.service.engine import Engine
from manyclass.service.http import protocol
from manyclass.service.log import group_commit
from manyclass.service.store.errors import CommitOutcomeUnknown, StoreUnavailable
from tests.service.faulty import FaultyStore
from tests.service.http.test_plain_learning import OTHERS, PLAIN
from tests.service.http.test_workers import rank, ranked_by_workers
from tests.service.serving import GET, KEYS, answer_on, post, serving, statuses, until

EVENT = b'{"features":["a","b"],"classes":["x"]}'
MOST_QUEUED = 16 * 2**20  # bytes, in native/learn_queue.hpp
NO_LINGER = struct.pack("ii", 1, 0)  # closing resets the connection


@pytest.fixture
def store():
    return FaultyStore()


@pytest.fixture
def served(store):
    with serving(workers=2, native=True, opened=store) as server:
        yield server


def learned_by_workers(served):
    return sum(sum(each.learn_request_durations) for each in served.app.native.workers.counts())


def learn(connection, body=EVENT):
    connection.sendall(post("/learn", body))
    return answer_on(connection)


def event(number):
    return b'{"features":["f%d"],"classes":["c%d"]}' % (number, number)


def test_a_worker_answers_as_the_event_loop_does():
    ways = []
    for workers in (0, 2):
        with serving(workers=workers, native=True) as served, served.connect() as connection:
            answers = []
            for body in PLAIN * 2:  # again: a retry if the event has an id
                status, headers, content = learn(connection, body)
                assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \S+ gmt", headers.pop("date"))
                answers.append((body, status, list(headers.items()), content))
            assert learned_by_workers(served) == (len(answers) if workers else 0)
            ways.append((answers, served.app.engine.model.digest()))
    assert ways[0] == ways[1]


def test_events_that_are_not_plain_are_answered_by_the_event_loop():
    answers = []
    for workers in (0, 1):
        answers.append([])
        with serving(workers=workers, native=True) as served:
            for body in OTHERS:
                if body:
                    status, _, content = served.talk(post("/learn", body))
                    answers[-1].append((status, content))
            assert learned_by_workers(served) == 0
            answers[-1].append(served.app.engine.model.digest())
    assert answers[0] == answers[1]


def test_a_connection_learns_and_ranks_in_turns(served):
    with served.connect() as connection, served.connect() as other:
        for number in range(20):
            status, _, content = learn(connection, event(number))
            assert (status, json.loads(content)["seq"]) == (200, number + 1)
            for each in (connection, other):
                ranked = rank(each, b'{"features":["f%d"]}' % number)[1]
                assert ranked["seq"] == number + 1
                assert ranked["ranked"][0]["class"] == f"c{number}"
    assert (ranked_by_workers(served), learned_by_workers(served)) == (40, 20)


def test_a_connection_goes_back_to_a_worker_after_requests_to_learn(served):
    with served.connect() as connection:
        connection.sendall(GET % b"/livez")
        assert answer_on(connection)[0] == 200
        for number in range(protocol.PLAIN_IN_A_ROW):
            assert learn(connection, event(number))[0] == 200
        assert learned_by_workers(served) == 0
        until(
            lambda: (served.app.native.workers.connections, served.app.limits.connections) == (1, 1)
        )
        assert learn(connection)[0] == 200
    assert learned_by_workers(served) == 1


def test_every_event_of_many_clients_is_learned_once(served):
    failures, seqs = [], []

    def keep_learning(client):
        drawn = random.Random(client)
        try:
            with served.connect() as connection:
                for number in range(100):
                    if drawn.random() < 0.1:  # to the event loop and back
                        connection.sendall(GET % b"/livez")
                        assert answer_on(connection)[0] == 200
                    status, _, content = learn(connection, event(1000 * client + number))
                    assert status == 200
                    seqs.append(json.loads(content)["seq"])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=keep_learning, args=(client,)) for client in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(seqs) == list(range(1, 801))
    assert served.app.engine.model.learner.classes == 800
    assert 0 < learned_by_workers(served) < 800


def test_requests_behind_one_that_is_learned_are_answered_in_order(served, store):
    with served.connect() as connection:
        with store.before_append.shut():
            connection.sendall(post("/learn", event(1)))
            until(lambda: served.app.engine._pipeline.group_commit.events == 1)
            for request in (post("/rank", b'{"features":["f1"]}'), post("/learn", event(2)) * 2):
                connection.sendall(request)
            connection.sendall(GET % b"/livez")
        received = b""
        while received.count(b"HTTP/1.1 200 OK") < 5:
            piece = connection.recv(65_536)
            assert piece
            received += piece
    assert re.findall(rb'"seq":(\d)', received) == [b"1", b"1", b"2", b"3"]
    assert received.rindex(b'"seq"') < received.rindex(b"HTTP/1.1")  # of the other request


@pytest.mark.parametrize("resets", [False, True])
def test_a_client_that_leaves_has_its_event_learned(served, store, resets):
    with store.before_append.shut(), served.connect() as connection:
        connection.sendall(post("/learn", EVENT))
        until(lambda: served.app.engine._pipeline.group_commit.events == 1)
        if resets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    until(lambda: served.app.limits.connections == 0)
    assert served.app.engine.model.seq == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreUnavailable("away", "wait"), 503),
        (CommitOutcomeUnknown("lost", "look"), 503),
        (RuntimeError("broken"), 503),
    ],
    ids=repr,
)
def test_events_that_the_store_refuses(served, store, error, status):
    by_loop = served.connect()
    by_loop.sendall(GET % b"/livez")
    assert answer_on(by_loop)[0] == 200
    with by_loop, served.connect() as by_worker:
        answers = []
        for connection in (by_loop, by_worker):
            store.append_errors = [error]
            refused, headers, content = learn(connection)
            headers.pop("date")
            answers.append((refused, headers, content))
            assert learn(connection)[0] == 200
        assert answers[0] == answers[1]
        assert answers[0][0] == status
        counted = served.talk(GET % b"/metrics")[2].decode()
    assert f'request_duration_seconds_count{{endpoint="/learn",status="{status}"}} 2.0' in counted
    assert 'request_duration_seconds_count{endpoint="/learn",status="200"} 2.0' in counted
    assert 'learn_events_total{result="learned"} 2.0' in counted


@pytest.mark.parametrize("workers", [0, 1])
def test_a_full_queue_takes_as_many_events_as_it_has_room_for(store, workers):
    with serving(workers=workers, native=True, opened=store, max_queue_events=3) as served:
        group_commit = served.app.engine._pipeline.group_commit
        connections = [served.connect() for _ in range(6)]
        with store.before_append.shut():
            connections[0].sendall(post("/learn", EVENT))
            until(lambda: group_commit.events == 1)
            stopped = threading.Event()
            served.loop.call_soon_threadsafe(stopped.wait)  # so that the rest comes together
            for connection in connections[1:]:
                connection.sendall(post("/learn", EVENT))
            stopped.wait(0.1)
            stopped.set()
            until(lambda: served.app.engine._queue_full == 3)
            assert group_commit.events == 3
        answered = [answer_on(connection)[0] for connection in connections]
        assert sorted(answered) == [200] * 3 + [503] * 3
        assert learn(connections[-1])[0] == 200
        assert served.app.engine.model.seq == 4
        for connection in connections:
            connection.close()


def unread_bytes(port):
    """Return the bytes sent to a port that the service has not received yet."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = [line.split()[1:5] for line in lines]  # from, to, state, bytes to send:received
    at = f":{port:04X}"
    unsent = sum(int(each[3][:8], 16) for each in fields if each[1].endswith(at))
    return unsent + sum(int(each[3][9:], 16) for each in fields if each[0].endswith(at))


def test_the_names_of_queued_events_count_in_the_queue(store):
    """And they go through the log in batches of a bounded size."""
    names = [f"{number:02}".ljust(650, "x") for number in range(90)]
    size = sum(map(len, names))
    with (
        serving(workers=1, native=True, opened=store) as served,
        contextlib.ExitStack() as stack,
    ):
        connections = [stack.enter_context(served.connect()) for _ in range(400)]
        until(lambda: served.app.native.workers.connections == len(connections))
        stalled = threading.Event()
        served.loop.call_soon_threadsafe(stalled.wait)
        for number, connection in enumerate(connections):
            body = json.dumps({"features": [f"f{number}"], "classes": names}).encode()
            connection.sendall(post("/learn", body))
        until(lambda: unread_bytes(served.port) == 0)
        stalled.set()
        for connection in connections:
            assert answer_on(connection)[0] == 200
        by_worker = learned_by_workers(served)
        assert 0.9 * MOST_QUEUED < by_worker * size <= MOST_QUEUED
    assert sum(store.appends) == len(connections)
    assert max(store.appends) * size <= group_commit.COMMIT_BYTES


@pytest.mark.parametrize("workers", [0, 1])
def test_events_with_vectors_are_submitted_together_and_one_is_refused_alone(
    store, workers, monkeypatch
):
    admit_batch, admitted = Engine.admit_batch, []

    def note(engine, batch):
        admitted.append(len(batch))
        return admit_batch(engine, batch)

    monkeypatch.setattr(Engine, "admit_batch", note)
    good, bad = (event(0)[:-1] + b',"vector":%s}' % each for each in (b"[1,2]", b"[1,2,3]"))
    with serving(workers=workers, native=True, opened=store) as served:
        with served.connect() as first:
            assert learn(first, good)[0] == 200
        assert admitted == []  # the first of all may be refused
        for bodies in ([good] * 4, [good, bad, good]):
            connections = [served.connect() for _ in bodies]
            for connection, body in zip(connections, bodies, strict=True):
                connection.sendall(post("/learn", body))
            answered = [answer_on(connection) for connection in connections]
            assert [status for status, _, _ in answered] == [
                422 if body is bad else 200 for body in bodies
            ]
            assert sum(admitted) >= 4
            for connection in connections:
                connection.close()
        assert b'"#/vector"' in answered[1][2]
        assert served.app.engine.model.evidence.sizes()["events"] == 7


def test_a_conflict_refuses_no_event_beside_it(served, store):
    bodies = [event(1), *(event(n)[:-1] + b',"event_id":"e"}' for n in (2, 3)), event(4)]
    with served.connect() as first:
        assert learn(first, event(0))[0] == 200
    connections = [served.connect() for _ in bodies]
    stopped = threading.Event()
    served.loop.call_soon_threadsafe(stopped.wait)  # so that all come together
    for connection, body in zip(connections, bodies, strict=True):
        connection.sendall(post("/learn", body))
    stopped.wait(0.1)
    stopped.set()
    answered = [answer_on(connection) for connection in connections]
    assert [status for status, _, _ in answered].count(409) == 1
    assert answered[1][0] != answered[2][0]
    assert (answered[0][0], answered[3][0]) == (200, 200)
    assert learned_by_workers(served) == 4
    assert served.app.engine.model.learner.learned == 4
    retried = bodies[1] if answered[1][0] == 200 else bodies[2]
    content = json.loads(learn(connections[0], retried)[2])
    assert (content["accepted"], content["duplicates"]) == (0, 1)
    counted = served.talk(GET % b"/metrics")[2].decode()
    assert 'plain_events_total{thread="worker"} 5.0' in counted
    for result, count in (("learned", 4), ("duplicate", 1), ("rejected", 1)):
        assert f'learn_events_total{{result="{result}"}} {count}.0' in counted
    for connection in connections:
        connection.close()


def test_a_stop_answers_what_is_learned(served, store):
    connections = [served.connect() for _ in range(5)]
    with store.before_append.shut():
        for number, connection in enumerate(connections):
            connection.sendall(post("/learn", event(number)))
        until(lambda: served.app.engine._pipeline.group_commit.events == 5)
        served.stop()
        until(lambda: served.app.stopping.is_set())
    assert [statuses(connection) for connection in connections] == [[200]] * 5
    for connection in connections:
        connection.close()
    assert len(store.appends) > 0


def test_idle_connections_are_closed_for_new_ones_but_none_that_learns(store):
    with (
        serving(workers=1, native=True, opened=store, max_connections=2) as served,
        served.connect() as learning,
        served.connect() as idle,
    ):
        with store.before_append.shut():
            learning.sendall(post("/learn", EVENT))
            until(lambda: served.app.engine._pipeline.group_commit.events == 1)
            with served.connect() as new:
                assert rank(new)
            assert idle.recv(100) == b""
        assert answer_on(learning)[0] == 200


def test_calls_of_the_client_are_plain(served):
    with Client(served.url) as client:
        for _ in range(3):
            seq = client.learn({"features": ["a"], "classes": ["é"]}).seq
            assert client.rank({"features": {"a": 2.5}}, min_seq=seq).ranked
    assert (ranked_by_workers(served), learned_by_workers(served)) == (3, 3)


def test_keys():
    with serving(workers=1, native=True, **KEYS) as served:
        for key, status in (("r", 403), ("l", 200), ("a", 200), ("x", 401)):
            line = f"authorization: Bearer {key}"
            assert served.talk(post("/learn", EVENT, line))[0] == status
        assert learned_by_workers(served) == 2
