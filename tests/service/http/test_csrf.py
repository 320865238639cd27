import pytest

from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.problems import Problem


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
