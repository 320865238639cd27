"""GETs take turns, are bounded in number, and leave health checks alone."""

import asyncio
import contextlib
import itertools
import json
import socket
import threading

import pytest

from manyclass.service.http import reads as reads_module
from manyclass.service.http.bounded_protocol import RESET
from manyclass.service.http.reads import READYZ_SECONDS, ReadingThreads, Reads, Turns
from manyclass.service.http.shedding import PAUSE_SECONDS
from tests.service.faulty import PATIENCE
from tests.service.http.every_call import SCOPES, call_of
from tests.service.http.test_admission import sent_at_once
from tests.service.serving import (
    GET,
    KEYS,
    RANKING,
    answer_on,
    assert_problem,
    calling,
    everything,
    head,
    post,
    serving,
    until,
)

EVENT = b'{"features":["a"],"classes":["x"]}'
PAGES = ("/", "/docs", "/docs/start.js", "/docs/files/swagger-ui.css", "/console", "/nothing")
DOCUMENTS = ("/openapi.json", "/docs/files/swagger-ui-bundle.js", "/console/app.js")
HEALTH = ("/livez", "/readyz", "/readyz?to=rank", "/readyz?to=learn")
GETS = [name.removeprefix("GET ") for name in SCOPES if name.startswith("GET ")]
LARGE = (
    "/classes",
    "/classes/x",
    "/features",
    "/features/a",
    "/events",
    "/events/seq:1",
    "/confusions",
    "/suspects",
    "/review",
)


def scope_of(path, method="GET"):
    path, _, query = path.partition("?")
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [],
    }


async def answer(application, path, method="GET"):
    """Return the messages of the answer of an ASGI application."""
    sent = []

    async def send(message):
        sent.append(message)

    await application(scope_of(path, method), None, send)
    return sent


async def empty(send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_the_loop_has_other_turns_between_two_gets():
    turns, at = 0, []

    async def application(scope, receive, send):
        at.append(turns)
        await empty(send)

    reads = Reads(application, ReadingThreads())
    gets = [asyncio.ensure_future(answer(reads, "/stats")) for _ in range(5)]
    while not all(each.done() for each in gets):
        turns += 1
        await asyncio.sleep(0)
    assert all(later > earlier for earlier, later in itertools.pairwise(at)), at


async def test_a_get_that_waits_for_something_gives_its_turn_to_the_next():
    begun, goes_on = [], asyncio.Event()

    async def application(scope, receive, send):
        begun.append(scope["path"])
        if scope["path"] == "/slow":
            await goes_on.wait()
            begun.append("/slow again")
        await empty(send)

    reads = Reads(application, ReadingThreads())
    slow = asyncio.ensure_future(answer(reads, "/slow"))
    assert len(await asyncio.wait_for(answer(reads, "/quick"), PATIENCE)) == 2
    assert begun == ["/slow", "/quick"]
    goes_on.set()
    assert len(await asyncio.wait_for(slow, PATIENCE)) == 2
    assert begun[-1] == "/slow again"


async def test_a_get_that_fails_or_is_cancelled_gives_its_turn_to_the_next():
    forever = asyncio.Event()

    async def application(scope, receive, send):
        if scope["path"] == "/bad":
            raise RuntimeError("bad")
        if scope["path"] == "/forever":
            await forever.wait()
        await empty(send)

    reads = Reads(application, ReadingThreads())
    with pytest.raises(RuntimeError, match="bad"):
        await answer(reads, "/bad")
    waiting = asyncio.ensure_future(answer(reads, "/forever"))
    await asyncio.sleep(0)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    assert waiting.cancelled()
    assert len(await asyncio.wait_for(answer(reads, "/good"), PATIENCE)) == 2


async def test_a_pause_follows_a_turn_only_while_others_wait(monkeypatch):
    paused = []
    loop = asyncio.get_running_loop()
    turns = Turns(1, pauses=3)

    def call_later(seconds, release):
        paused.append(seconds)
        return loop.call_soon(release)

    monkeypatch.setattr(reads_module.asyncio, "get_running_loop", lambda: _Loop(call_later))
    await turns.begin()
    turns.end(0.01)
    for each in [asyncio.ensure_future(turns.begin()) for _ in range(2)]:
        await each
        turns.end(0.02)
    assert paused == [0.0, pytest.approx(0.06), 0.0]
    await turns.begin()
    second = asyncio.ensure_future(turns.begin())
    await asyncio.sleep(0)
    turns.end(100)
    await second
    assert paused[-1] == reads_module.LONGEST_PAUSE_SECONDS


async def test_waiting_and_working_of_others_are_no_part_of_a_turn():
    threads, seconds = ReadingThreads(), []
    threads._turns.end = seconds.append
    assert await threads.run(lambda: threading.Event().wait(0.1)) is False
    assert await threads.run(lambda: sum(range(10**6))) > 0
    slept, worked = seconds
    assert slept < worked


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_an_event_is_sought_in_the_turns_of_reads(monkeypatch, method):
    sought, run = [], ReadingThreads.run

    async def counted(self, work, *args):
        sought.append(work)
        return await run(self, work, *args)

    monkeypatch.setattr(ReadingThreads, "run", counted)
    body = {"classes": ["x"]} if method == "PUT" else None
    async with calling() as call:
        await call("POST", "/learn", {"text": "a", "classes": ["x"]})
        assert_problem(await call(method, "/events/unknown", body), 404)
        assert len(sought) == 2  # by its key, and by the id of an instance


class _Loop:
    def __init__(self, call_later):
        self.call_later = call_later


async def test_health_checks_do_not_wait_for_gets():
    forever = asyncio.Event()

    async def application(scope, receive, send):
        if scope["path"] == "/stats":
            await forever.wait()
        await empty(send)

    reads = Reads(application, ReadingThreads())
    await reads._turns.begin()  # a GET runs
    for path in HEALTH:
        messages = await asyncio.wait_for(answer(reads, path), PATIENCE)
        assert messages[0]["status"] == 200, path
    others = [
        asyncio.ensure_future(answer(reads, path)) for path in ("/readyz?x=1", "/livez?x=1", "/x")
    ]
    done, _ = await asyncio.wait(others, timeout=0.05)
    assert not done
    reads._turns.end(0)
    await asyncio.wait_for(asyncio.gather(*others), PATIENCE)


async def test_one_call_answers_all_that_ask_meanwhile_whether_the_process_is_ready():
    asked, goes_on = [], asyncio.Event()

    async def application(scope, receive, send):
        asked.append(scope["query_string"])
        await goes_on.wait()
        await empty(send)

    reads = Reads(application, ReadingThreads())
    waiting = [asyncio.ensure_future(answer(reads, "/readyz")) for _ in range(9)]
    other = asyncio.ensure_future(answer(reads, "/readyz?to=rank"))
    while len(asked) < 2:
        await asyncio.sleep(0)
    waiting.pop().cancel()  # one of the clients goes away
    goes_on.set()
    answers = await asyncio.gather(*waiting, other)
    assert all(len(each) == 2 for each in answers)
    assert sorted(asked) == [b"", b"to=rank"]
    await answer(reads, "/readyz")  # later it is asked anew
    assert len(asked) == 3


async def test_calls_to_readyz_begin_at_intervals():
    begun = []

    async def application(scope, receive, send):
        begun.append(asyncio.get_running_loop().time())
        await empty(send)

    reads = Reads(application, ReadingThreads())
    for _ in range(4):
        await answer(reads, "/readyz")
    intervals = [after - before for before, after in itertools.pairwise(begun)]
    assert min(intervals) > 0.99 * READYZ_SECONDS


async def test_readiness_is_a_problem_when_the_service_fails(caplog, monkeypatch):
    async with calling() as call:

        async def fail():
            raise RuntimeError("no")

        monkeypatch.setattr(call.app.engine, "snapshots", fail)
        assert_problem(await call("GET", "/readyz"), 500)
    assert "GET /readyz failed" in caplog.text


async def test_health_checks_are_counted_under_their_paths():
    async with calling() as call:
        for path in ("/livez", "/readyz", "/readyz?to=rank"):
            assert (await call("GET", path)).status_code == 200
        counted = await call.metrics()
    of = 'request_duration_seconds_count{endpoint="%s",status="200"}'
    assert (counted[of % "/livez"], counted[of % "/readyz"]) == (1, 2)


def test_gets_above_the_places_are_refused_with_the_time_to_wait():
    with serving() as served:
        admission = served.app.limits.admission
        admission.reads.most = 2
        with sent_at_once(served, [GET % b"/stats"] * 5) as connections:
            answers = [answer_on(each) for each in connections]
            assert sorted(status for status, _, _ in answers) == [200] * 2 + [503] * 3
            for status, headers, body in answers:
                if status == 503:
                    assert headers["content-type"] == "application/problem+json"
                    assert int(headers["retry-after"]) >= 1
                    assert json.loads(body)["detail"] == "Too many GETs are in progress at once."
        until(lambda: admission.reads.taken == 0)
        assert (admission.shed_reads, admission.shed) == (3, 0)
        assert served.talk(GET % b"/stats")[0] == 200
        metrics = served.talk(GET % b"/metrics")[2].decode()
        assert 'manyclass_shed_total{reason="reads"} 3.0' in metrics
        assert 'manyclass_shed_total{reason="concurrency"} 0.0' in metrics


@pytest.mark.parametrize("keys", [{}, KEYS])
def test_every_get_has_a_place_but_the_health_checks(keys):
    key = ("authorization: Bearer a",) if keys else ()
    with serving(**keys) as served:
        assert served.talk(post("/learn", EVENT, *key))[0] == 200
        served.app.limits.admission.reads.most = 0
        paths = [each.format(name="x") for each in GETS] + [*PAGES, *DOCUMENTS]
        for path in paths:
            for lines in ((), key):
                status, headers, _ = served.talk(head(path, *lines, method="GET"))
                assert status == (200 if path in HEALTH else 503), path
                assert "retry-after" in headers or path in HEALTH
        for path in HEALTH:
            assert served.talk(GET % path.encode())[0] == 200, path
        for path in ("/livez?x=1", "/readyz?x=1"):  # these cost as much as others
            assert served.talk(GET % path.encode())[0] == 503, path
        for path, body in (("/rank", RANKING), ("/learn", EVENT)):
            assert served.talk(post(path, body, *key))[0] == 200, path


def test_a_refusal_of_head_has_no_body():
    with serving() as served:
        served.app.limits.admission.reads.most = 0
        request = head("/docs", "connection: close", method="HEAD")
        with served.connect() as connection:
            connection.sendall(request)
            received = everything(connection)
        first, _, rest = received.partition(b"\r\n\r\n")
        assert first.startswith(b"HTTP/1.1 503")
        assert b"content-length: " in first
        assert rest == b""


def test_a_get_repeated_at_once_is_refused_again():
    with serving() as served, served.connect() as connection:
        places = served.app.limits.admission.reads
        most, places.most = places.most, 0
        connection.sendall(GET % b"/stats")
        assert answer_on(connection)[0] == 503
        places.most = most
        connection.sendall(GET % b"/stats")
        assert answer_on(connection)[0] == 503  # read after the pause
        threading.Event().wait(3 * PAUSE_SECONDS)
        connection.sendall(GET % b"/stats")
        assert answer_on(connection)[0] == 200


def test_clients_that_leave_keep_their_places_until_their_gets_end():
    """Or clients that leave at once could make any number of GETs wait."""
    with serving() as served:
        reads, places = served.app.api.state.reads, served.app.limits.admission.reads
        asyncio.run_coroutine_threadsafe(reads._turns.begin(), served.loop).result(PATIENCE)
        for _ in range(3):
            with served.connect() as connection:
                connection.sendall(GET % b"/stats")
                until(lambda: served.app.limits.connections == 1 and not served.app.limits.idle)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            until(lambda: served.app.limits.connections == 0)
        assert places.taken == 3
        served.loop.call_soon_threadsafe(reads._turns.end, 0)
        until(lambda: places.taken == 0)


def test_clients_that_do_not_read_keep_no_place_and_no_turn():
    with serving() as served, contextlib.ExitStack() as stack:
        served.app.limits.admission.reads.most = 2
        bundle = GET % b"/docs/files/swagger-ui-bundle.js"
        for _ in range(4):
            connection = stack.enter_context(served.connect())
            connection.sendall(bundle * 4)
        until(lambda: served.talk(GET % b"/stats")[0] == 200)


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_a_document_is_sent_in_pieces_and_not_again_to_those_who_have_it(path):
    async with calling() as call:
        whole = await call("GET", path)
        assert whole.status_code == 200
        sizes = []

        async def send(message):
            sizes.append(len(message.get("body", b"")))

        await call.app(scope_of(path) | {"raw_path": path.encode()}, None, send)
        assert max(sizes) <= 65_536
        assert sum(sizes) == len(whole.content) == int(whole.headers["content-length"])
        tag = {"if-none-match": whole.headers["etag"]}
        again = await call("GET", path, headers=tag)
        assert (again.status_code, again.content) == (304, b"")


async def test_the_document_of_the_interface_is_made_once(monkeypatch):
    made = []
    async with calling() as call:
        openapi = call.app.api.openapi
        monkeypatch.setattr(call.app.api, "openapi", lambda: made.append(1) or openapi())
        for _ in range(3):
            assert (await call("GET", "/openapi.json")).json()["openapi"].startswith("3.1")
    assert made == [1]


@pytest.mark.parametrize("path", LARGE)
async def test_a_large_page_is_read_and_written_in_a_thread(path, monkeypatch):
    async with calling() as call:
        await call.learn(("a", "x"), ("b", "y"))
        await call.ranked_id("a")
        pages = []
        reads = call.app.api.state.reads
        page = reads.page

        async def watched(work):
            answer = await page(work)
            pages.append(answer.body)
            return answer

        monkeypatch.setattr(reads, "page", watched)
        answer = await call("GET", path)
        assert answer.status_code == 200
        assert pages == [answer.content]


async def test_the_answer_of_every_get_has_the_fields_of_its_schema():
    async with calling() as call:
        await call.learn(("svm", "svm"))
        await call.ranked_id("svm", source="s")
        document = (await call("GET", "/openapi.json")).json()
        checked = 0
        for path in GETS:
            answer = await call_of(call, f"GET {path}", {})
            assert answer.status_code == 200, path
            content = document["paths"][path]["get"]["responses"]["200"]["content"]
            schema = content.get("application/json", {}).get("schema")
            if schema is not None and answer.headers["content-type"] == "application/json":
                assert_fields(answer.json(), schema, document["components"]["schemas"])
                checked += 1
        assert checked > len(GETS) / 2


def assert_fields(value, schema, components):
    """Assert that every object in the value has exactly the properties that its schema names."""
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    if value is not None and "anyOf" in schema:
        [schema] = [each for each in schema["anyOf"] if each.get("type") != "null"]
        assert_fields(value, schema, components)
    elif isinstance(value, list):
        for each in value:
            assert_fields(each, schema.get("items", {}), components)
    elif isinstance(value, dict) and "properties" in schema:
        assert value.keys() == schema["properties"].keys()
        for key, each in value.items():
            assert_fields(each, schema["properties"][key], components)
