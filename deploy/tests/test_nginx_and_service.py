"""nginx with the very file that is deployed, in front of processes of the service."""

import json
import threading

import httpx
import pytest

from deploy.tests.programs import EVENT, INSTANCE, PATIENCE, Nginx, until
from deploy.tests.replicas import ports_of, two_on_one_redis
from tests.service.serving import answer_on

CALLERS_EACH = 2
CUT_SHORT = 0  # instead of a status


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    """Yield nginx, the two processes of the service behind it, and their Redis."""
    folder = tmp_path_factory.mktemp("nginx")
    with (
        two_on_one_redis(folder, store_seconds=1) as (redis, processes),
        Nginx(folder / "nginx", ports_of(processes)) as nginx,
    ):
        yield nginx, processes, redis


def test_every_kind_of_request_is_answered(replicas):
    nginx, _, _ = replicas
    learned = nginx.learn()
    assert learned.json()["accepted"] == 1
    assert nginx.rank().status_code == 200
    for path in ("/stats", "/readyz", "/livez", "/classes?prefix=x&limit=1", "/openapi.json"):
        assert httpx.get(f"{nginx.url}{path}").status_code == 200, path
    assert httpx.post(f"{nginx.url}/snapshots").status_code == 201
    assert httpx.post(f"{nginx.url}/rank", json={"k": -1}).status_code == 422


def test_ranks_on_while_the_store_is_away(replicas):
    nginx, _, redis = replicas
    redis.pause()
    try:
        refused = nginx.learn(timeout=PATIENCE)
        assert refused.status_code == 503
        assert "detail" in refused.json()  # it is the service that says so
        assert nginx.rank().status_code == 200
    finally:
        redis.resume()
    until(lambda: nginx.learn().status_code == 200, nginx.log.read_text)


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
        two_on_one_redis(tmp_path, max_concurrent=1, max_burst=0, workers=0) as (_, processes),
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
        answer = nginx.rank(headers={"Origin": origin})
        assert answer.status_code == status
    answer = httpx.get(f"{nginx.url}/stats", headers={"Host": "elsewhere.example"})
    assert answer.status_code == 403


def test_bodies_that_are_too_large_are_refused(replicas):
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
    with nginx.connect() as connection:
        listening = threading.Thread(target=lambda: answered.append(answer_on(connection)))
        kind = "Content-Type: application/x-ndjson"
        length = f"Content-Length: {len(body)}"
        connection.sendall(nginx.head("/learn", kind, length).encode() + body[: 1 << 20])
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
