"""nginx with the very file that is deployed, in front of two upstreams."""

import json
import subprocess
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from deploy.ports import free_port
from deploy.tests.programs import EVENT, INSTANCE, Nginx, until
from deploy.tests.upstream import Upstream
from manyclass.service.http.routes.rank import NOT_READY_502
from tests.service.serving import NDJSON, answer_on

BY_ADDRESS = 256  # requests under way from one address, at most


@contextmanager
def in_front_of_two(folder, *changes):
    """nginx, and two upstreams that answer well until they are told otherwise."""
    with ExitStack() as stack:
        upstreams = [stack.enter_context(Upstream(name)) for name in "ab"]
        ports = [upstream.port for upstream in upstreams]
        nginx = stack.enter_context(Nginx(folder / "nginx", ports, *changes))
        for upstream in upstreams:
            upstream.forget()
        yield nginx, upstreams


@pytest.fixture
def pair(tmp_path):
    with in_front_of_two(tmp_path) as found:
        yield found


def asked(upstreams):
    """Return the requests that reached either upstream."""
    return [request for upstream in upstreams for request in upstream.asked]


def assert_problem_of_nginx(answer, status, title):
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "1"
    assert answer.json() == {"type": "about:blank", "title": title, "status": status}


def begun(nginx, length=100):
    """Open a connection and begin a ranking whose body never arrives."""
    connection = nginx.connect()
    lines = ("Content-Type: application/json", f"Content-Length: {length}")
    connection.sendall(nginx.head("/rank", *lines).encode() + b'{"features"')
    return connection


# --- what it passes on ---------------------------------------------------------------------------


def test_host_and_keys_reach_the_service_with_the_answer_nginx_understands(pair):
    nginx, upstreams = pair
    given = {"Authorization": "Bearer secret", "Prefer": "not-ready=503"}
    assert nginx.rank(headers=given).status_code == 200
    [(method, path, headers, _)] = asked(upstreams)
    assert (method, path) == ("POST", "/rank")
    assert headers["Host"] == f"127.0.0.1:{nginx.port}"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Prefer"] == NOT_READY_502.decode()


def test_connections_to_the_service_are_used_again(pair):
    nginx, upstreams = pair
    with httpx.Client() as client:
        for _ in range(40):
            assert client.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 200
    assert sum(len(upstream.asked) for upstream in upstreams) == 40
    assert all(upstream.asked for upstream in upstreams)
    assert sum(upstream.connections for upstream in upstreams) < 20


@pytest.mark.parametrize(
    "path", ["/metrics", "//metrics", "/%6Detrics", "/x/../metrics", "/metrics?x=1"]
)
def test_metrics_are_not_public(pair, path):
    nginx, upstreams = pair
    with nginx.connect() as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        status, headers, _ = answer_on(connection)
    assert status == 404
    assert headers["content-type"] == "application/problem+json"
    assert not asked(upstreams)


def test_internal_locations_are_not_part_of_the_interface(pair):
    nginx, upstreams = pair
    for path in ("/learn/stream", "/learn/whole", "/problem"):
        assert httpx.post(f"{nginx.url}{path}", json=EVENT).status_code == 404
    assert not asked(upstreams)


def test_only_a_stream_is_answered_at_its_end(pair):
    nginx, upstreams = pair
    for kind in ("application/json", "application/x-ndjson", "Application/X-NDJSON; charset=utf-8"):
        answer = httpx.post(f"{nginx.url}/learn", content=b"{}", headers={"content-type": kind})
        assert answer.status_code == 200
    requests = asked(upstreams)
    assert [path for _, path, _, _ in requests] == ["/learn"] * 3
    told = {headers["content-type"]: headers.get("Prefer") for _, _, headers, _ in requests}
    assert told.pop("application/json") is None
    assert {*told.values()} == {"return=minimal"}


# --- who is asked again, and who is not ----------------------------------------------------------


@pytest.mark.parametrize("status", [None, 502], ids=["one fails", "one restores its state"])
def test_a_ranking_is_asked_of_the_other_process(pair, status):
    nginx, upstreams = pair
    upstreams[0].status = status
    for _ in range(10):
        assert nginx.rank().text == "b"
    assert upstreams[0].asked
    assert len(upstreams[0].asked) < 5  # left out after the first failure


def test_a_process_that_sheds_a_ranking_stays_in_rotation(pair):
    nginx, upstreams = pair
    upstreams[0].status = 503
    answers = [nginx.rank() for _ in range(40)]
    assert [len(upstream.asked) for upstream in upstreams] == [20, 20]  # each is asked once
    shed = [answer for answer in answers if answer.status_code == 503]
    assert len(shed) == 20
    assert {answer.text for answer in shed} == {"a"}  # as the process says it
    upstreams[0].status = 200
    after = [nginx.rank().text for _ in range(10)]
    assert after.count("a") == 5


@pytest.mark.parametrize("path", ["/learn", "/snapshots/1/restore"])
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
@pytest.mark.parametrize("status", [None, 503])
def test_a_request_that_may_have_been_executed_is_not_retried(pair, path, kind, status):
    nginx, upstreams = pair
    for upstream in upstreams:
        upstream.status = status
    body = json.dumps(EVENT)
    answer = httpx.post(f"{nginx.url}{path}", content=body, headers={"content-type": kind})
    assert answer.status_code == (status or 502)
    assert len(asked(upstreams)) == 1


def test_a_request_that_no_process_accepted_is_retried(tmp_path):
    with Upstream("b") as upstream, Nginx(tmp_path / "n", [free_port(), upstream.port]) as nginx:
        for _ in range(10):
            assert nginx.learn().text == "b"
            assert httpx.post(f"{nginx.url}/learn", content=b"{}\n", headers=NDJSON).text == "b"


@pytest.mark.parametrize("status", [502, 503])
def test_a_refusal_by_all_does_not_shut_the_door(pair, status):
    """Else one client with a `min_seq` in the far future would stop the rankings of all."""
    nginx, upstreams = pair
    for upstream in upstreams:
        upstream.status = status
    for _ in range(5):
        answer = nginx.rank()
        assert answer.status_code == status
        assert answer.text in ("a", "b")  # not nginx says so
    for upstream in upstreams:
        upstream.status = 200
    for _ in range(5):
        assert nginx.rank().status_code == 200


def test_without_any_process_it_says_so_as_the_service_would(tmp_path):
    with Nginx(tmp_path / "nginx", [free_port(), free_port()]) as nginx:
        for path, body in (("/rank", INSTANCE), ("/learn", EVENT)):
            answer = httpx.post(f"{nginx.url}{path}", json=body)
            assert_problem_of_nginx(answer, 502, "Bad Gateway")


# --- slow and many clients -----------------------------------------------------------------------


def test_a_slow_client_keeps_no_process_waiting(pair):
    nginx, upstreams = pair
    with begun(nginx, length=22) as slow:
        for _ in range(10):
            assert nginx.rank().status_code == 200
        assert sum(upstream.begun for upstream in upstreams) == 10
        slow.sendall(b': ["a","b"]')
        assert answer_on(slow)[0] == 200


def test_a_client_that_stops_is_not_waited_for(tmp_path):
    faster = ("client_body_timeout 20s", "client_body_timeout 100ms", 1)
    with in_front_of_two(tmp_path, faster) as (nginx, _), begun(nginx) as slow:
        assert slow.recv(1) == b""  # closed


def test_clients_of_one_address_take_only_so_many_places(pair):
    nginx, _ = pair
    with ExitStack() as stack:
        for _ in range(BY_ADDRESS):
            stack.enter_context(begun(nginx))

        def refused():
            return nginx.rank().status_code == 429

        until(refused, nginx.log.read_text)  # it may not have read what was sent last
        assert_problem_of_nginx(nginx.rank(), 429, "Too Many Requests")
    assert nginx.rank().status_code in (200, 429)
    until(lambda: not refused(), nginx.log.read_text)


def test_the_file_is_without_faults(pair):
    nginx, _ = pair
    checked = subprocess.run([*nginx.command, "-t"], capture_output=True, text=True, check=True)
    assert "warn" not in checked.stderr
