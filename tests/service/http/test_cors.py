"""Pages of allowed origins may use the service from a browser, others may not."""

import json

import pytest

from manyclass.service.http import bounded_protocol
from manyclass.service.http.admission import Places
from manyclass.service.http.wire import MOST_HEAD_BYTES
from tests.service.http.every_call import SCOPES
from tests.service.serving import KEYS, NDJSON, answer_on, assert_problem, calling, serving

APP = "https://app.example"
FROM_APP = {"origin": APP, "sec-fetch-site": "cross-site"}
ALLOWED = {"allowed_origins": (APP, "http://localhost:3000")}
EVENT = {"text": "a puck", "classes": ["hockey"]}
INSTANCE = {"text": "a puck"}

CALLS = [  # method, path, body, further headers, status
    ("POST", "/learn", EVENT, {}, 200),
    ("POST", "/rank", INSTANCE, {}, 200),
    ("POST", "/rank", {"txt": ""}, {}, 422),
    ("POST", "/rank", b"", {"content-type": "text/plain"}, 415),
    ("POST", "/learn", json.dumps(EVENT).encode(), NDJSON, 200),
    ("GET", "/stats", None, {}, 200),
    ("GET", "/rank", None, {}, 405),
    ("GET", "/nowhere", None, {}, 404),
    ("GET", "/state", None, {}, 200),
    ("DELETE", "/classes/nobody", None, {}, 404),
    ("POST", "/snapshots", None, {}, 201),
    ("GET", "/openapi.json", None, {}, 200),
    ("GET", "/livez", None, {}, 200),
]


def cors_headers(response):
    return {name for name in response.headers if name.startswith("access-control-")}


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["open", "keys"])
async def test_an_allowed_origin_may_read_every_answer(keys):
    key = {"authorization": "Bearer a"} if keys else {}
    async with calling(**ALLOWED, **keys) as call:
        for method, path, body, more, status in CALLS:
            response = await call(method, path, body, headers=FROM_APP | key | more)
            assert response.status_code == status, path
            assert response.headers.get_list("access-control-allow-origin") == [APP], path
            assert response.headers["access-control-allow-credentials"] == "true", path
            assert "Retry-After" in response.headers["access-control-expose-headers"], path
            assert response.headers["vary"] == "Origin", path


@pytest.mark.parametrize("origin", [{}, {"origin": "https://else.example"}, {"origin": "null"}])
async def test_no_other_origin_may(origin):
    async with calling(**ALLOWED, **KEYS) as call:
        for method, path, body, more, status in CALLS:
            headers = {"authorization": "Bearer a"} | origin | more
            response = await call(method, path, body, headers=headers)
            assert response.status_code == status, path  # a key is enough, no page can read it
            assert cors_headers(response) == set(), path
            assert response.headers["vary"] == "Origin", path


async def test_without_the_setting_there_are_no_headers():
    async with calling(**KEYS) as call:
        for method, path, body, more, status in CALLS:
            headers = {"authorization": "Bearer a"} | FROM_APP | more
            response = await call(method, path, body, headers=headers)
            assert response.status_code == status
            assert cors_headers(response) == set()
            assert "vary" not in response.headers


def preflight(method, headers="authorization,content-type", origin=APP):
    return {
        "origin": origin,
        "access-control-request-method": method,
        "access-control-request-headers": headers,
        "sec-fetch-site": "cross-site",
    }


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["open", "keys"])
async def test_a_preflight_is_answered_without_a_key(keys):
    async with calling(ready=False, **ALLOWED, **keys) as call:
        for asked in (*SCOPES, "HEAD /livez", "GET /docs"):
            method, path = asked.split()
            answer = await call("OPTIONS", path, headers=preflight(method))
            assert (answer.status_code, answer.content) == (204, b""), asked
            assert answer.headers["access-control-allow-origin"] == APP, asked
            assert method in answer.headers["access-control-allow-methods"].split(", "), asked
            assert answer.headers["access-control-allow-headers"] == "authorization,content-type"
            assert int(answer.headers["access-control-max-age"]) > 0
            headers = preflight(method, origin="https://b.example")
            other = await call("OPTIONS", path, headers=headers)
            assert_problem(other, 405 if keys else 403)
            assert cors_headers(other) == set(), asked


@pytest.mark.parametrize(
    "asked",
    [
        "authorization,content-encoding,content-type,prefer",
        "traceparent,tracestate,x-request-id",
        "baggage,x-datadog-trace-id",
        None,
    ],
)
async def test_a_page_may_add_every_header_it_asks_for(asked):
    async with calling(**ALLOWED) as call:
        headers = preflight("POST", asked)
        if asked is None:
            del headers["access-control-request-headers"]
        answer = await call("OPTIONS", "/learn", headers=headers)
        assert answer.status_code == 204
        assert answer.headers.get("access-control-allow-headers") == asked
        assert "Access-Control-Request-Headers" in answer.headers["vary"]


async def test_every_method_that_a_preflight_allows_is_taken():
    async with calling(**ALLOWED) as call:
        answer = await call("OPTIONS", "/stats", headers=preflight("GET"))
        methods = answer.headers["access-control-allow-methods"].split(", ")
        assert methods == ["DELETE", "GET", "HEAD", "POST", "PUT"]


async def test_a_key_is_still_needed_and_an_allowed_page_reads_that():
    async with calling(**ALLOWED, **KEYS) as call:
        response = await call("POST", "/rank", INSTANCE, headers=FROM_APP)
        assert_problem(response, 401)
        assert response.headers["access-control-allow-origin"] == APP


async def test_an_open_service_takes_from_allowed_pages_only():
    async with calling(**ALLOWED) as call:
        assert (await call("POST", "/learn", EVENT, headers=FROM_APP)).status_code == 200
        refused = await call("POST", "/learn", EVENT, headers=FROM_APP | {"origin": APP + ":1"})
        assert "MANYCLASS_ALLOWED_ORIGINS" in assert_problem(refused, 403)["detail"]
        assert cors_headers(refused) == set()
        # A foreign host name may resolve to this address (DNS rebinding).
        assert_problem(await call("GET", "/stats", headers=FROM_APP | {"host": "app.example"}), 403)
        assert call.app.engine.model.seq == 1


def test_a_real_server_answers_preflights_and_streams():
    with serving(**ALLOWED) as served:
        head = f"Host: 127.0.0.1:{served.port}\r\nOrigin: {APP}\r\n"
        asked = f"OPTIONS /learn HTTP/1.1\r\n{head}Access-Control-Request-Method: POST\r\n"
        with served.connect() as connection:
            connection.sendall(f"{asked}Connection: close\r\n\r\n".encode())
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        assert received.startswith(b"HTTP/1.1 204 ")
        assert f"access-control-allow-origin: {APP}\r\n".encode() in received
        line = json.dumps(EVENT)
        posted = f"POST /learn HTTP/1.1\r\n{head}Content-Type: application/x-ndjson\r\n"
        posted += f"Content-Length: {len(line)}\r\n\r\n{line}"
        status, headers, body = served.talk(posted.encode())
        assert (status, headers["access-control-allow-origin"]) == (200, APP)
        assert b'"accepted":1' in body


@pytest.mark.parametrize("origin", [APP, "https://else.example"])
def test_pages_read_refusals_of_the_protocol(origin, monkeypatch):
    """Send overload, a body that never comes, a body that is not HTTP, a head too large."""
    head = f"POST /rank HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: {origin}\r\n"
    head += "Authorization: Bearer a\r\nContent-Type: application/json\r\n"
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\nx"
    monkeypatch.setattr(bounded_protocol, "QUIET_SECONDS", 1)
    with serving(**ALLOWED, **KEYS) as served:
        with served.connect() as without_body, served.connect() as without_end:
            without_body.sendall(f"{head}Content-Length: 100\r\n\r\n".encode())
            without_end.sendall(head.encode())
            answers = [
                served.talk(f"{chunked}\r\n".encode()),
                served.talk(f"{head}X: {'x' * MOST_HEAD_BYTES}\r\n\r\n".encode()),
                answer_on(without_body),
                answer_on(without_end),
            ]
        served.app.limits.admission.short = Places(0)
        answers.append(served.talk(f"{head}Content-Length: 2\r\n\r\n{{}}".encode()))
    assert [status for status, _, _ in answers] == [400, 431, 408, 408, 503]
    for status, headers, body in answers:
        assert headers["vary"] == "origin"
        assert headers.get("access-control-allow-origin") == (APP if origin == APP else None)
        assert json.loads(body)["status"] == status
