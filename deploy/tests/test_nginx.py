"""nginx with the very file that is deployed, in front of two upstreams."""

import json
import socket
import subprocess
import threading
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from deploy.ports import free_port
from deploy.tests.programs import PATIENCE, Nginx, until
from deploy.tests.replicas import ports_of, two_on_one_redis
from deploy.tests.upstream import Upstream
from manyclass.service.http.routes.rank import NOT_READY_502
from tests.service.serving import NDJSON, answer_on

INSTANCE = {"features": ["a", "b"]}
EVENT = {"features": ["a", "b"], "classes": ["x"]}
CALLERS_EACH = 2
CUT_SHORT = 0  # in the place of a status
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


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    """Yield nginx, the two processes of the service behind it, and their Redis."""
    folder = tmp_path_factory.mktemp("nginx")
    with (
        two_on_one_redis(folder, store_seconds=1) as (redis, processes),
        Nginx(folder / "nginx", ports_of(processes)) as nginx,
    ):
        yield nginx, processes, redis


def connect(nginx):
    return socket.create_connection(("127.0.0.1", nginx.port), timeout=PATIENCE)


def head(nginx, path, *lines):
    return "\r\n".join([f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{nginx.port}", *lines, "", ""])


def begun(nginx, length=100):
    """Open a connection and begin a ranking whose body never arrives."""
    connection = connect(nginx)
    lines = ("Content-Type: application/json", f"Content-Length: {length}")
    connection.sendall(head(nginx, "/rank", *lines).encode() + b'{"features"')
    return connection


# --- what it passes on ---------------------------------------------------------------------------


def test_host_and_keys_reach_the_service(pair):
    nginx, upstreams = pair
    key = {"Authorization": "Bearer secret"}
    assert httpx.post(f"{nginx.url}/rank", json=INSTANCE, headers=key).status_code == 200
    [(method, path, headers, _)] = upstreams[0].asked + upstreams[1].asked
    assert (method, path) == ("POST", "/rank")
    assert headers["Host"] == f"127.0.0.1:{nginx.port}"
    assert headers["Authorization"] == "Bearer secret"


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
def test_metrics_are_not_for_everybody(pair, path):
    nginx, upstreams = pair
    with connect(nginx) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        status, headers, _ = answer_on(connection)
    assert status == 404
    assert headers["content-type"] == "application/problem+json"
    assert not upstreams[0].asked + upstreams[1].asked


def test_what_nginx_calls_places_is_none_of_the_interface(pair):
    nginx, upstreams = pair
    for path in ("/learn/stream", "/learn/whole", "/problem"):
        assert httpx.post(f"{nginx.url}{path}", json=EVENT).status_code == 404
    assert not upstreams[0].asked + upstreams[1].asked


def test_only_a_stream_is_told_to_be_answered_at_the_end(pair):
    nginx, upstreams = pair
    for kind in ("application/json", "application/x-ndjson", "Application/X-NDJSON; charset=utf-8"):
        answer = httpx.post(f"{nginx.url}/learn", content=b"{}", headers={"content-type": kind})
        assert answer.status_code == 200
    asked = upstreams[0].asked + upstreams[1].asked
    assert [path for _, path, _, _ in asked] == ["/learn"] * 3
    told = {headers["content-type"]: headers.get("Prefer") for _, _, headers, _ in asked}
    assert told.pop("application/json") is None
    assert {*told.values()} == {"return=minimal"}


# --- who is asked again, and who is not ----------------------------------------------------------


@pytest.mark.parametrize("status", [None, 502], ids=["one fails", "one restores its state"])
def test_a_ranking_is_asked_of_the_other_process(pair, status):
    nginx, upstreams = pair
    upstreams[0].status = status
    for _ in range(10):
        assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).text == "b"
    assert upstreams[0].asked
    assert len(upstreams[0].asked) < 5  # left out after the first failure


def test_a_process_that_sheds_a_ranking_stays_in_rotation(pair):
    nginx, upstreams = pair
    upstreams[0].status = 503
    answers = [httpx.post(f"{nginx.url}/rank", json=INSTANCE) for _ in range(40)]
    assert [len(upstream.asked) for upstream in upstreams] == [20, 20]  # each is asked once
    shed = [answer for answer in answers if answer.status_code == 503]
    assert len(shed) == 20
    assert {answer.text for answer in shed} == {"a"}  # as the process says it
    upstreams[0].status = 200
    after = [httpx.post(f"{nginx.url}/rank", json=INSTANCE).text for _ in range(10)]
    assert after.count("a") == 5


def test_a_ranking_asks_a_process_without_its_state_for_a_502(pair):
    nginx, upstreams = pair
    header = {"Prefer": "not-ready=503"}
    assert httpx.post(f"{nginx.url}/rank", json=INSTANCE, headers=header).status_code == 200
    [(_, _, headers, _)] = upstreams[0].asked + upstreams[1].asked
    assert headers["Prefer"] == NOT_READY_502.decode()


@pytest.mark.parametrize("path", ["/learn", "/snapshots/1/restore"])
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
@pytest.mark.parametrize("status", [None, 503])
def test_what_may_have_been_done_is_not_asked_twice(pair, path, kind, status):
    nginx, upstreams = pair
    for upstream in upstreams:
        upstream.status = status
    body = json.dumps(EVENT)
    answer = httpx.post(f"{nginx.url}{path}", content=body, headers={"content-type": kind})
    assert answer.status_code == (status or 502)
    assert len(upstreams[0].asked + upstreams[1].asked) == 1


def test_what_no_process_took_is_asked_of_the_other_one(tmp_path):
    with Upstream("b") as upstream, Nginx(tmp_path / "n", [free_port(), upstream.port]) as nginx:
        for _ in range(10):
            assert httpx.post(f"{nginx.url}/learn", json=EVENT).text == "b"
            assert httpx.post(f"{nginx.url}/learn", content=b"{}\n", headers=NDJSON).text == "b"


@pytest.mark.parametrize("status", [502, 503])
def test_a_refusal_by_all_does_not_shut_the_door(pair, status):
    """Else one client with a `min_seq` in the far future would stop the rankings of all."""
    nginx, upstreams = pair
    for upstream in upstreams:
        upstream.status = status
    for _ in range(5):
        answer = httpx.post(f"{nginx.url}/rank", json=INSTANCE)
        assert answer.status_code == status
        assert answer.text in ("a", "b")  # not nginx says so
    for upstream in upstreams:
        upstream.status = 200
    for _ in range(5):
        assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 200


def test_without_any_process_it_says_so_as_the_service_would(tmp_path):
    with Nginx(tmp_path / "nginx", [free_port(), free_port()]) as nginx:
        for path, body in (("/rank", INSTANCE), ("/learn", EVENT)):
            answer = httpx.post(f"{nginx.url}{path}", json=body)
            assert answer.status_code == 502
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["retry-after"] == "1"
            expected = {"type": "about:blank", "title": "Bad Gateway", "status": 502}
            assert answer.json() == expected


# --- slow and many clients -----------------------------------------------------------------------


def test_a_slow_client_keeps_no_process_waiting(pair):
    nginx, upstreams = pair
    with begun(nginx, length=22) as slow:
        for _ in range(10):
            assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 200
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
            return httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 429

        until(refused, nginx.log.read_text)  # it may not have read what was sent last
        answer = httpx.post(f"{nginx.url}/rank", json=INSTANCE)
        assert_problem_of_nginx(answer, 429)
    assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code in (200, 429)
    until(lambda: not refused(), nginx.log.read_text)


def assert_problem_of_nginx(answer, status):
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.headers["retry-after"] == "1"


# --- in front of the service itself --------------------------------------------------------------


def test_ranks_learns_and_tells(replicas):
    nginx, _, _ = replicas
    learned = httpx.post(f"{nginx.url}/learn", json=EVENT)
    assert learned.json()["accepted"] == 1
    assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 200
    for path in ("/stats", "/readyz", "/livez", "/classes?prefix=x&limit=1", "/openapi.json"):
        assert httpx.get(f"{nginx.url}{path}").status_code == 200, path
    assert httpx.post(f"{nginx.url}/snapshots").status_code == 201
    assert httpx.post(f"{nginx.url}/rank", json={"k": -1}).status_code == 422


def test_ranks_on_while_the_store_is_away(replicas):
    nginx, _, redis = replicas
    redis.pause()
    try:
        refused = httpx.post(f"{nginx.url}/learn", json=EVENT, timeout=PATIENCE)
        assert refused.status_code == 503
        assert "detail" in refused.json()  # it is the service that says so
        assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 200
    finally:
        redis.resume()
    until(
        lambda: httpx.post(f"{nginx.url}/learn", json=EVENT).status_code == 200,
        nginx.log.read_text,
    )


def test_a_shed_ranking_refuses_none_that_comes_after_the_burst(tmp_path):
    """nginx sends the next ranking, of another client, over the same connection."""

    def rank_often(statuses):
        with httpx.Client(timeout=PATIENCE) as client:
            for _ in range(5):
                statuses.append(client.post(f"{nginx.url}/rank", json=INSTANCE).status_code)

    def burst():
        statuses = []
        callers = [threading.Thread(target=rank_often, args=(statuses,)) for _ in range(16)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(PATIENCE)
        assert {*statuses} <= {200, 503}
        return 503 in statuses

    with (
        two_on_one_redis(tmp_path, max_concurrent=1) as (_, processes),
        Nginx(tmp_path / "nginx", ports_of(processes)) as nginx,
    ):
        until(burst, nginx.log.read_text)
        after = []
        rank_often(after)
        rank_often(after)
        assert after == [200] * 10


def test_an_open_service_takes_what_comes_from_its_own_page_only(replicas):
    nginx, _, _ = replicas
    for origin, status in ((nginx.url, 200), ("http://elsewhere.example", 403)):
        answer = httpx.post(f"{nginx.url}/rank", json=INSTANCE, headers={"Origin": origin})
        assert answer.status_code == status
    answer = httpx.get(f"{nginx.url}/stats", headers={"Host": "elsewhere.example"})
    assert answer.status_code == 403


def test_bodies_that_are_too_large_are_told_so(replicas):
    nginx, _, _ = replicas
    for path, mebibytes, told_by_the_service in (
        ("/rank", 9, True),
        ("/rank", 17, False),
        ("/learn", 9, True),
        ("/learn", 17, False),
    ):
        body = b'{"text": "' + b"a" * (mebibytes << 20) + b'"}'
        headers = {"content-type": "application/json"}
        answer = httpx.post(f"{nginx.url}{path}", content=body, headers=headers)
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert ("detail" in answer.json()) == told_by_the_service


def test_a_stream_may_be_of_any_size_and_faster_than_it_is_learned(replicas):
    """Suspend the processes for a while, so that all buffers on the way are full."""
    nginx, running, _ = replicas
    lines, faulty = 20_000, b'{"faulty": 1}\n'
    names = ", ".join(f'"feature-{n}"' for n in range(100))
    line = f'{{"features": [{names}], "classes": ["x"]}}\n'.encode()
    body = faulty + line * lines
    assert len(body) > 25 << 20
    begins = [last_seq(process) for process in running]
    answered = []
    with connect(nginx) as connection:
        listening = threading.Thread(target=lambda: answered.append(answer_on(connection)))
        kind = "Content-Type: application/x-ndjson"
        length = f"Content-Length: {len(body)}"
        connection.sendall(head(nginx, "/learn", kind, length).encode() + body[: 1 << 20])
        listening.start()
        until(lambda: [last_seq(process) for process in running] != begins, nginx.log.read_text)
        for process in running:
            process.freeze()
        sending = threading.Thread(target=connection.sendall, args=(body[1 << 20 :],))
        sending.start()
        sending.join(0.5)
        assert sending.is_alive()  # it does not all fit in between
        for process in running:
            process.thaw()
        sending.join(PATIENCE)
        listening.join(PATIENCE)
        assert not sending.is_alive()
        assert not listening.is_alive()
    [(status, headers, text)] = answered
    assert status == 200
    assert headers["content-type"] == "application/x-ndjson"
    told = [json.loads(part) for part in text.split(b"\n") if part.startswith(b"{")]
    assert told[-1]["kind"] == "summary"
    assert (told[-1]["accepted"], told[-1]["rejected"]) == (lines, 1)


def last_seq(process):
    return httpx.get(f"{process.url}/stats").json()["seq"]


def test_requests_go_on_when_a_process_is_killed_and_when_it_is_back(replicas):
    nginx, [killed, _], _ = replicas
    answers = {"/rank": [], "/learn": []}
    done = threading.Event()

    def call(path, body):
        with httpx.Client(timeout=PATIENCE) as client:
            while not done.is_set():
                try:
                    status = client.post(f"{nginx.url}{path}", json=body).status_code
                except httpx.RemoteProtocolError:  # it was killed amid its answer
                    status = CUT_SHORT
                answers[path].append(status)

    callers = [
        threading.Thread(target=call, args=(path, body))
        for path, body in (("/rank", INSTANCE), ("/learn", EVENT)) * CALLERS_EACH
    ]

    def more():
        """Wait until each kind of request was answered some more times."""
        before = {path: len(got) for path, got in answers.items()}
        until(lambda: all(len(got) > before[p] + 50 for p, got in answers.items()), answers.copy)

    for caller in callers:
        caller.start()
    try:
        more()
        killed.kill()
        more()
        mark = len(answers["/learn"])
        more()
        killed.start()
        began = httpx.get(f"{killed.url}/metrics").text.count('endpoint="/rank"')
        until(
            lambda: httpx.get(f"{killed.url}/metrics").text.count('endpoint="/rank"') > began,
            nginx.log.read_text,
        )
        more()
    finally:
        done.set()
        for caller in callers:
            caller.join(PATIENCE)
    assert set(answers["/rank"]) <= {200, CUT_SHORT}
    assert answers["/rank"].count(CUT_SHORT) <= CALLERS_EACH
    while_down, when_back = answers["/learn"][:mark], answers["/learn"][mark:]
    assert set(while_down) <= {200, 502, CUT_SHORT}
    assert len(while_down) - while_down.count(200) <= CALLERS_EACH  # perhaps learned
    assert set(when_back) <= {200, 503}  # not learned: it had to restore its state first
    assert when_back[-10:] == [200] * 10


def test_the_file_is_without_faults(pair):
    nginx, _ = pair
    checked = subprocess.run([*nginx.command, "-t"], capture_output=True, text=True, check=True)
    assert "warn" not in checked.stderr
