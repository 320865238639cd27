"""HEAD answers as GET does, without the body."""

import pytest

from manyclass.service.http.head import as_get
from tests.service.http.every_call import EVENT, FIRST_EVENT, SCOPES
from tests.service.serving import KEYS, calling, serving

GETS = [name.removeprefix("GET ") for name in SCOPES if name.startswith("GET ")]
PAGES = ["/", "/docs", "/docs/start.js", "/docs/files/swagger-ui.css", "/openapi.json"]
PAGES += ["/console", "/console/app.js", "/console/none", "/nowhere"]
REFUSED = ["/stats?limt=5", "/classes?limit=none", "/events/none", "/rank", "/classes/%ff"]
VARYING = ("/metrics",)  # its length is that of the figures at the time
ADMIN = {"authorization": "Bearer a"}


def named(path):
    return path.format(name=FIRST_EVENT if path.startswith("/events") else "svm")


async def test_it_has_the_status_and_the_headers_of_get():
    async with calling(**KEYS) as call:
        await call("POST", "/learn", EVENT, headers=ADMIN)
        for path in (*GETS, *PAGES, *REFUSED):
            got, head = [await call(how, named(path), headers=ADMIN) for how in ("GET", "HEAD")]
            assert (head.status_code, head.content) == (got.status_code, b""), path
            for headers in (got.headers, head.headers):
                headers.pop("content-length" if path in VARYING else "date", None)
            assert head.headers == got.headers, path


async def test_no_piece_of_a_body_is_sent_to_any_server():
    """Ask the function itself: uvicorn and httpx drop the body of an answer to HEAD too."""
    sent = []

    async def send(message):
        sent.append(message)

    scope, send_head = as_get({"type": "http", "method": "HEAD"}, send)
    assert scope["method"] == "GET"
    start = {"type": "http.response.start", "status": 200, "headers": []}
    for message in (start, {"body": b"a", "more_body": True}, {"body": b"b"}):
        await send_head({"type": "http.response.body", **message})
    assert sent == [start, {"type": "http.response.body", "body": b""}]


@pytest.mark.parametrize("status", [401, 403])
async def test_it_needs_the_key_of_get(status):
    async with calling(**KEYS) as call:
        key = {} if status == 401 else {"authorization": "Bearer r"}
        head = await call("HEAD", "/settings", headers=key)
        assert (head.status_code, head.content) == (status, b"")


async def test_before_there_is_a_state_it_says_whether_the_process_is_ready():
    async with calling(ready=False) as call:
        assert (await call("HEAD", "/livez")).status_code == 200
        assert (await call("HEAD", "/readyz")).status_code == 503


async def test_it_counts_as_a_call_of_the_path():
    async with calling() as call:
        await call("HEAD", "/livez")
        seen = await call.metrics()
        assert seen['request_duration_seconds_count{endpoint="/livez",status="200"}'] == 1


async def test_the_document_lists_get_only(call):
    paths = (await call("GET", "/openapi.json")).json()["paths"]
    assert "head" not in {method for operations in paths.values() for method in operations}


@pytest.fixture(scope="module", params=[0, 1], ids=["loop", "worker"])
def served(request):
    with serving(workers=request.param) as server:
        yield server


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/stats", "/state", "/openapi.json", "/no"])
def test_a_connection_goes_on_behind_it(path, served):
    """Send HEAD, GET and HEAD at once: each answer begins where the one before ends."""
    lines = f"Host: 127.0.0.1:{served.port}\r\n"
    asked = "".join(
        f"{method} {path} HTTP/1.1\r\n{lines}{end}\r\n"
        for method, end in (("HEAD", ""), ("GET", ""), ("HEAD", "Connection: close\r\n"))
    )
    with served.connect() as connection:
        connection.sendall(asked.encode())
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    first, got, last = received.split(b"HTTP/1.1 ")[1:]
    head, _, body = got.partition(b"\r\n\r\n")
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
    assert int(length.split()[1]) == len(body) > 0
    assert first == head + b"\r\n\r\n"
    assert last.endswith(b"\r\n\r\n")
