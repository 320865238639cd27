"""A process that may open fewer files than it may have connections."""

import contextlib
import json
import resource
import socket

import httpx
import pytest

from tests.service.serving import answer_on, head, post
from tests.system.process import PATIENCE, Service

FILES = 128
MOST = 64  # connections: the rest is for other files
EVENT = b'{"features":["a"],"classes":["x"]}'


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


@pytest.fixture(params=[0, 2], ids=["event loop", "workers"])
def service(tmp_path, request):
    with Service(tmp_path, workers=request.param) as service:
        yield service.start(preexec=few_files)


def connect(service):
    url = httpx.URL(service.url)
    return socket.create_connection((url.host, url.port), timeout=PATIENCE)


def metric(service, name):
    lines = httpx.get(f"{service.url}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"manyclass_{name} "))


def test_silent_connections_keep_no_request_out(service):
    assert f"at most {MOST} connections" in service.log.read_text()
    assert metric(service, "connections_limit") == MOST
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(connect(service)) for _ in range(3 * FILES)]
        for number in range(1, 21):
            with connect(service) as connection:
                connection.sendall(post("/learn", EVENT))
                status, _, answer = answer_on(connection)
            assert status == 200
            assert json.loads(answer)["seq"] == number
        assert metric(service, "seq") == number
        assert metric(service, "connections") <= MOST
        assert all(each.fileno() >= 0 for each in silent)
    service.stop()


def test_connections_above_the_limit_are_refused_at_once(service):
    begun = head("/learn", f"content-length: {len(EVENT)}", "expect: 100-continue")
    with contextlib.ExitStack() as stack:
        busy = [stack.enter_context(connect(service)) for _ in range(MOST)]
        for each in busy:
            each.sendall(begun)
        for each in busy:
            assert each.recv(1000).startswith(b"HTTP/1.1 100 ")
        for _ in range(2 * FILES):
            with connect(service) as connection:
                assert answer_on(connection)[0] == 503
        for each in busy:
            each.sendall(EVENT)
        assert [answer_on(each)[0] for each in busy] == [200] * MOST
    assert metric(service, "seq") == MOST
    service.stop()
