import json
from itertools import product

import pytest

from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.problems import Problem
from tests.service.http.every_call import EVENT, SCOPES, call_of
from tests.service.serving import KEYS, assert_problem, calling, serving


def passes(method, listening, headers, open_to_all=True):
    """Return true if a service that listens there accepts such a request."""
    raw = {name.encode(): value.encode() for name, value in headers.items()}
    try:
        CsrfGuard(listening, open_to_all).require(method, raw)
    except Problem:
        return False
    return True


@pytest.mark.parametrize(
    ("headers", "passing"),
    [
        ({}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin", "origin": "http://localhost:8000"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"origin": "http://localhost:8000"}, True),
        ({"origin": "https://LocalHost:8000"}, True),
        ({"origin": "http://localhost:3000"}, False),
        ({"origin": "http://localhost"}, False),
        ({"origin": "http://elsewhere.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
    ],
)
def test_only_its_own_pages_change_an_open_service(headers, passing):
    headers = {"host": "localhost:8000"} | headers
    for listening in ("127.0.0.1", "0.0.0.0", "::1"):
        for method in ("POST", "DELETE", "PUT", "OPTIONS"):
            assert passes(method, listening, headers) == passing
            assert passes(method, listening, headers, open_to_all=False)
        for method in ("GET", "HEAD"):
            assert passes(method, listening, headers) == passing
            assert passes(method, listening, headers, open_to_all=False)


@pytest.mark.parametrize(
    ("method", "site", "mode", "dest", "passing"),
    [
        ("GET", "cross-site", "navigate", "document", True),  # a link
        ("HEAD", "same-site", "navigate", "document", True),
        ("POST", "cross-site", "navigate", "document", False),  # a form
        ("GET", "cross-site", "navigate", "iframe", False),
        ("GET", "cross-site", "no-cors", "image", False),
        ("GET", "cross-site", "cors", "empty", False),
        ("GET", "none", "navigate", "document", True),  # typed by the reader
        ("GET", "same-origin", "cors", "empty", True),  # a script of /docs
    ],
)
def test_a_link_to_an_open_service_may_be_followed(method, site, mode, dest, passing):
    headers = {
        "host": "localhost:8000",
        "sec-fetch-site": site,
        "sec-fetch-mode": mode,
        "sec-fetch-dest": dest,
    }
    assert passes(method, "127.0.0.1", headers) == passing


@pytest.mark.parametrize(
    ("listening", "host", "passing"),
    [
        ("127.0.0.1", "127.0.0.1:8000", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "LOCALHOST:80", True),
        ("127.0.0.1", "[::1]:8000", True),
        ("::1", "[::1]", True),
        ("localhost", "127.0.0.1", True),
        ("127.0.0.5", "127.0.0.5:8000", True),
        ("127.0.0.1", "127.0.0.5:8000", False),
        ("127.0.0.1", "elsewhere.example:8000", False),
        ("127.0.0.1", "localhost.elsewhere.example", False),
        ("127.0.0.1", "[::1", False),
        ("127.0.0.1", "", False),
        ("0.0.0.0", "service.example", True),
        ("service.example", "other.example", True),
    ],
)
def test_a_service_of_one_machine_answers_to_its_own_names(listening, host, passing):
    for method in ("GET", "POST"):
        assert passes(method, listening, {"host": host}) == passing
        assert passes(method, listening, {"host": host}, open_to_all=False)


def test_a_request_without_a_host_passes():
    assert passes("POST", "127.0.0.1", {})
    for host in ({}, {"host": ""}):
        for origin in ("http://localhost", "null"):
            assert not passes("POST", "0.0.0.0", {"origin": origin} | host)


HOSTS = ("app.example", "[::2]")


@pytest.mark.parametrize(
    ("host", "passing"),
    [
        ("app.example", True),
        ("App.Example:8443", True),
        ("[::2]:8000", True),
        ("localhost:8000", True),  # health checks inside a container
        ("127.0.0.1", True),
        ("[::1]:1", True),
        ("elsewhere.example:8000", False),
        ("app.example.elsewhere.example", False),
        ("elsewhere.example:app.example", False),
        ("10.0.0.7:8000", False),
        ("app.example.", False),
        ("", False),
    ],
)
def test_with_allowed_hosts_no_other_name_is_answered(host, passing):
    methods = ("GET", "HEAD", "POST", "OPTIONS")
    for listening, open_to_all, method in product(
        ("0.0.0.0", "::", "127.0.0.1"), (True, False), methods
    ):
        guard = CsrfGuard(listening, open_to_all, hosts=HOSTS)
        guard.require("GET", {})  # of HTTP/1.0; every browser sends it
        if passing:
            guard.require(method, {b"host": host.encode()})
            continue
        with pytest.raises(Problem, match="MANYCLASS_ALLOWED_HOSTS") as refused:
            guard.require(method, {b"host": host.encode()})
        assert refused.value.status == 403


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["open", "keys"])
async def test_every_call_checks_the_name(keys):
    pages = ("GET /docs", "GET /console", "GET /openapi.json", "GET /", "GET /nowhere")
    async with calling(host="0.0.0.0", insecure_open=True, allowed_hosts=HOSTS, **keys) as call:
        key = {"authorization": "Bearer a"} if keys else {}
        await call("POST", "/learn", EVENT, headers=key)
        for name in (*SCOPES, *pages):
            answer = await call_of(call, name, key | {"host": "page.example:8000"})
            assert answer.status_code == 403, name
            assert "'page.example'" in assert_problem(answer, 403)["detail"]
            answer = await call_of(call, name, key | {"host": "app.example:8000"})
            assert answer.status_code != 403, name


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("keys", [{}, KEYS], ids=["open", "keys"])
def test_both_ways_of_plain_requests_check_the_name(keys, workers, native):
    """Send them on one connection, as a browser would, from native code or not."""
    settings = {"allowed_hosts": HOSTS, "native": native, "workers": workers, **keys}
    with serving(host="127.0.0.1", **settings) as served:
        statuses = [
            served.talk(plain(path, host))[0]
            for host in ("page.example:8000", "app.example:8000", "localhost", "page.example")
            for path in ("/learn", "/rank")
        ]
        assert statuses == [403, 403, 200, 200, 200, 200, 403, 403]
        assert served.app.engine.model.seq == 2


def plain(path, host):
    body = json.dumps(EVENT if path == "/learn" else {"features": ["svm"]})
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", "Authorization: Bearer a"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", body]
    return "\r\n".join(lines).encode()
