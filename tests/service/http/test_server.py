"""The real server over sockets, also with misbehaving clients."""

import asyncio
import contextlib
import gzip
import json
import os
import select
import signal
import socket
import subprocess
import sys
from unittest import mock

import httpx
import pytest
import uvicorn

from manyclass.service.config.settings import Settings
from manyclass.service.http import bounded_protocol, server
from manyclass.service.http.server import AddressUnavailable, StartFailed, run
from manyclass.service.http.wire import MOST_HEAD_BYTES
from tests.service.faulty import PATIENCE
from tests.service.serving import (
    NDJSON,
    answer_on,
    assert_problem,
    chunk,
    head,
    post,
    serving,
    statuses,
    until,
)

EVENT = b'{"features":["a"],"classes":["x"]}'


@pytest.fixture(scope="module")
def served():
    with serving(max_body_bytes=4 * 2**20) as server:
        yield server


def seq(served):
    return httpx.get(served.url + "/readyz").json()["seq"]


def assert_refused(answer, status):
    """Assert that the answer is a problem and the connection closes after it."""
    assert answer[0] == status
    assert answer[1]["content-type"] == "application/problem+json"
    assert answer[1]["connection"] == "close"
    assert json.loads(answer[2])["status"] == status


def test_serves(served):
    with httpx.Client(base_url=served.url) as client:
        learn = client.post("/learn", json={"features": ["a"], "classes": ["x"]})
        assert learn.status_code == 200
        ranked = client.post("/rank", json={"features": ["a"]}).json()["ranked"]
        assert ranked[0]["class"] == "x"
        assert "server" not in learn.headers
        assert client.get("/nowhere").headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /rank HTTP/1.1\r\ncontent-length: x\r\n\r\n",
    ],
)
def test_bytes_that_are_not_http_get_a_problem_too(served, request_bytes):
    assert_refused(served.talk(request_bytes), 400)


def test_a_head_that_is_too_large_gets_a_problem_too(served):
    assert_refused(served.talk(head("/classes?after=" + "x" * 70_000, method="GET")), 431)
    assert_refused(served.talk(head("/stats", "x: " + "x" * 70_000, method="GET")), 431)
    many = [f"x-{number}: {'x' * 100}" for number in range(700)]
    assert_refused(served.talk(head("/stats", *many, method="GET")), 431)


def test_a_head_may_be_large(served):
    for step in (60_000, 7_000):
        data = head("/stats", "x: " + "x" * 60_000, method="GET")
        pieces = (data[at : at + step] for at in range(0, len(data), step))
        assert served.talk(*pieces)[0] == 200


@pytest.mark.parametrize(
    "begin",
    [
        b"GET /",
        b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ",
        b"GET / HTTP/1.1\r\n" + b"x",
        head("/learn", "transfer-encoding: chunked") + b"2\r\n{}\r\n0\r\nx: ",
        head("/learn", "transfer-encoding: chunked") + b"1;x=",
    ],
    ids=["url", "value", "name", "trailer", "extension of a chunk"],
)
def test_endless_bytes_are_not_kept(served, begin):
    """The data may be cut anywhere; a server that kept it would keep the connection open."""
    for size in (1000, 300_000):
        with served.connect() as connection, contextlib.suppress(ConnectionError):
            connection.sendall(begin)
            for _ in range(600_000 // size):
                connection.sendall(b"x" * size)
            while connection.recv(65_536):
                pass


def test_an_endless_head_is_refused(served):
    with served.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")
        sent = 0
        while not select.select([connection], [], [], 0.001)[0]:
            connection.sendall(b"x" * 1000)
            sent += 1000
            assert sent < 10 * MOST_HEAD_BYTES
        assert sent > MOST_HEAD_BYTES
        assert_refused(answer_on(connection), 431)


def test_half_a_body_teaches_nothing(served, caplog):
    before = seq(served)
    digest = served.app.engine.model.digest()
    for path in ("/learn", "/rank"):
        with served.connect() as connection:
            connection.sendall(head(path, f"content-length: {len(EVENT)}") + EVENT[:-1])
        with served.connect() as connection:
            connection.sendall(head(path, "transfer-encoding: chunked") + chunk(EVENT))
    assert served.talk(head("/rank", "content-length: 12"), b'{"text":"a"}')[0] == 200
    assert seq(served) == before
    assert served.app.engine.model.digest() == digest
    assert not [record for record in caplog.records if record.exc_info]


def test_a_body_may_come_slowly(served):
    before = seq(served)
    with served.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head("/learn", f"content-length: {len(EVENT)}") + EVENT:
            connection.sendall(bytes([byte]))
        assert answer_on(connection)[0] == 200
    assert seq(served) == before + 1


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(served):
    """The answer arrives although the server does not read the body."""
    announced = head("/rank", f"content-length: {64 * 2**20}")
    assert served.talk(announced)[0] == 413
    assert served.talk(announced + b" " * 2**20)[0] == 413
    chunks = [chunk(b" " * 2**20)] * 8
    assert served.talk(head("/learn", "transfer-encoding: chunked"), *chunks)[0] == 413


def test_after_a_refusal_the_connection_serves_on(served):
    with served.connect() as connection:
        for body, status in ((b"{", 400), (b"{}", 422), (b'{"text":"a"}', 200)):
            connection.sendall(post("/rank", body))
            assert answer_on(connection)[0] == status


@pytest.mark.parametrize("padding", [0, 400_000])
def test_pipelined_requests_are_answered_in_order(served, padding):
    """The bytes of bodies before a head do not count as its bytes."""
    bodies = (b'{"text":"a"}', b"{}", b"{", b'{"text":"a"}')
    requests = b"".join(post("/rank", body + b" " * padding) for body in bodies)
    with served.connect() as connection:
        connection.sendall(requests + head("/livez", "connection: close", method="GET"))
        assert statuses(connection) == [200, 422, 400, 200, 200]


# --- streams --------------------------------------------------------------------------------------


STREAM = head("/learn", "transfer-encoding: chunked", kind="application/x-ndjson")


def test_half_a_stream_teaches_whole_lines(served, caplog):
    before = seq(served)
    with served.connect() as connection:
        connection.sendall(STREAM + chunk((EVENT + b"\n") * 3 + EVENT))
        until(lambda: seq(served) == before + 3)
    assert served.talk(head("/rank", "content-length: 12"), b'{"text":"a"}')[0] == 200
    assert seq(served) == before + 3
    assert not [record for record in caplog.records if record.exc_info]


def test_a_client_that_reads_only_at_the_end_is_not_waited_for(served):
    before = seq(served)
    lines = (EVENT + b"\n") * 1000 + b"not json\n" * 1000
    with served.connect() as connection:
        connection.sendall(STREAM)
        for _ in range(20):
            connection.sendall(chunk(lines))
        connection.sendall(b"0\r\n\r\n")
        status, _, body = answer_on(connection)
    assert status == 200
    assert b'"kind":"summary","lines":40000,"accepted":20000' in body
    assert seq(served) == before + 20_000


def test_a_gzipped_stream_from_a_usual_client(served):
    packed = gzip.compress((EVENT + b"\n") * 1000)
    pieces = (packed[at : at + 100] for at in range(0, len(packed), 100))
    headers = NDJSON | {"content-encoding": "gzip"}
    response = httpx.post(served.url + "/learn", content=pieces, headers=headers)
    assert json.loads(response.text.splitlines()[-1])["accepted"] == 1000


# --- silent clients -----------------------------------------------------------------------------


def test_a_request_that_does_not_go_on_is_given_up(monkeypatch):
    """A stream is not limited: it may take its time."""
    monkeypatch.setattr(bounded_protocol, "QUIET_SECONDS", 1)
    body = head("/rank", "content-length: 5")
    with serving() as served, contextlib.ExitStack() as open_ones:
        stream, silent, *begun = (open_ones.enter_context(served.connect()) for _ in range(5))
        stream.sendall(STREAM + chunk(EVENT + b"\n"))
        for connection, beginning in zip(begun, (b"GET /sta", body, body + b"{"), strict=True):
            connection.sendall(beginning)
        for connection in begun:
            assert_refused(answer_on(connection), 408)
        assert silent.recv(1) == b""
        stream.sendall(chunk(EVENT + b"\n") + b"0\r\n\r\n")
        status, _, answer = answer_on(stream)
        assert status == 200
        assert b'"accepted":2' in answer


# --- start and stop -------------------------------------------------------------------------------


def test_as_many_files_may_be_open_as_connections(monkeypatch, caplog):
    limits = []
    monkeypatch.setattr(server, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(server, "setrlimit", lambda _, pair: limits.append(pair))
    for before, after in (
        ((1024, 4096), (2064, 4096)),
        ((4096, 4096), (4096, 4096)),
        ((1024, -1), (2064, -1)),
        ((-1, -1), (-1, -1)),
    ):
        limits.append(before)
        assert server.allow_connections(2000) == 2000
        assert limits[-1] == after
    assert not caplog.records
    for hard, connections in ((1500, 1436), (2063, 1999), (65, 1), (20, 1)):
        caplog.clear()
        limits.append((16, hard))
        assert server.allow_connections(2000) == connections
        assert limits[-1] == (hard, hard)
        assert f"at most {connections} connections" in caplog.text
        assert "MAX_CONNECTIONS=2000" in caplog.text


async def test_connections_wait_with_the_workers_until_the_ones_before_are_taken_over(monkeypatch):
    """Of those taken over, no budget counts the bytes before they are the loop's."""
    app, workers = mock.Mock(workers=None), mock.Mock()
    own = server.Server(uvicorn.Config(app), app, mock.Mock())
    own.lifespan = mock.Mock()
    gate = asyncio.Event()

    async def connect(made, sock):
        await gate.wait()
        sock.close()

    monkeypatch.setattr(asyncio.get_running_loop(), "connect_accepted_socket", connect)
    workers.handed_over.side_effect = lambda: [(socket.socket().detach(), b"GET", b"")]
    for _ in range(3):
        own._take_over_next(workers)
        await asyncio.sleep(0)
    assert workers.handed_over.call_count == 1
    gate.set()
    while own._taking_over:
        await asyncio.sleep(0)
    own._take_over_next(workers)
    assert workers.handed_over.call_count == 2
    await asyncio.gather(*own._taking_over)


def test_streams_end_politely_when_the_server_stops():
    with serving() as served, served.connect() as connection:
        connection.sendall(STREAM + chunk((EVENT + b"\n") * 3))
        until(lambda: seq(served) == 3)
        served.stop()
        status, _, body = answer_on(connection)
    assert status == 200
    assert b'"kind":"failure"' in body
    assert b'"learned_up_to_line":3' in body


def test_a_stop_closes_the_engine_and_what_was_learned_is_there_again(tmp_path):
    store = f"sqlite:{tmp_path / 'my.db'}"
    for count in (1, 2):
        with serving(store=store) as served:
            httpx.post(
                served.url + "/learn", content=EVENT, headers={"content-type": "application/json"}
            )
            assert seq(served) == count
        assert served.app.engine.status == "closed"
        assert served.app.engine.newest_snapshot.seq == count


def test_a_state_that_cannot_be_restored_ends_the_process(tmp_path):
    store = f"sqlite:{tmp_path / 'my.db'}"
    with serving(store=store):
        pass
    with pytest.raises(StartFailed, match="C_negative"):
        run(Settings(store=store, port=0, learner="svm(C_negative=0.5)"))


def test_a_port_in_use_is_reported_with_a_remedy(tmp_path):
    with serving() as served, pytest.raises(AddressUnavailable) as caught:
        run(Settings(store=f"sqlite:{tmp_path / 'my.db'}", port=served.port))
    assert f"127.0.0.1:{served.port}" in str(caught.value)
    assert "already in use" in str(caught.value)
    assert "MANYCLASS_PORT" in str(caught.value)
    with pytest.raises(AddressUnavailable, match="MANYCLASS_HOST"):
        run(Settings(store=f"sqlite:{tmp_path / 'my.db'}", host="192.0.2.1", rank_keys=("r",)))
    with serving(store=f"sqlite:{tmp_path / 'my.db'}"):
        pass  # both runs closed the store


def test_the_command_serves_until_a_signal_stops_it(tmp_path):
    environment = {name: it for name, it in os.environ.items() if not name.startswith("MANYCLASS_")}
    environment |= {"MANYCLASS_PORT": "0", "MANYCLASS_STORE": f"sqlite:{tmp_path / 'my.db'}"}
    command = [sys.executable, "-m", "manyclass", "serve"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = next(each for each in process.stderr if "running on http://" in each)
            url = "http://" + line.split("http://")[1].split()[0]
            while httpx.get(url + "/readyz").status_code == 503:
                pass
            body = {"features": ["a"], "classes": ["x"]}
            assert httpx.post(url + "/learn", json=body).status_code == 200
            assert_problem(httpx.get(url + "/nowhere"), 404)
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
            assert process.wait(PATIENCE) == 0
            assert "snapshot 1" in rest
            assert "Traceback" not in rest
        finally:
            process.kill()
