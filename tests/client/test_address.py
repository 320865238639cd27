from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from manyclass.client.address import check_key, divided
from manyclass.client.client import Client
from manyclass.client.errors import ServiceUnreachable, Unusable


@pytest.fixture
def serving():
    """Yield the URL of a server that answers nothing of use, and the headers that it gets."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.headers)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"no JSON")

        def log_message(self, *about):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


@pytest.mark.parametrize(
    ("url", "address", "credentials"),
    [
        ("http://host:8000", "http://host:8000", None),
        ("HTTPS://host/prefix/", "HTTPS://host/prefix", None),
        ("http://[::1]:8000/", "http://[::1]:8000", None),
        ("https://anna:secret@host", "https://host", ("anna", "secret")),
        ("https://anna:sec:ret@host", "https://host", ("anna", "sec:ret")),
        ("https://:secret@host", "https://host", ("", "secret")),
        ("https://secret@host", "https://host", ("secret", "")),
        ("https://a%40b:s%2Fe%3Fc%23r%3At@host", "https://host", ("a@b", "s/e?c#r:t")),
    ],
)
def test_credentials_are_no_part_of_the_address(url, address, credentials):
    assert divided(url) == (address, credentials)


@pytest.mark.parametrize(
    "url",
    [
        "http://anna:se#cret@host",
        "http://anna:se?cret@host",
        "http://anna:se/cret@host",
        "http://anna:99/secret@host",
        "http://anna:99#secret@host",
        "http://anna:sec@ret@host",
        "ftp://anna:secret@host",
        "http:/anna:secret@host",
        "http://host:secret",
        "http://host?key=secret",
        "",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(url):
    with pytest.raises(Unusable, match="must be http://HOST:PORT") as error:
        Client(url)
    assert not any(part in str(error.value) for part in ("sec", "ret", "anna"))


@pytest.mark.parametrize(
    "key", ["abc\ndef", "abc\rdef", "abc def", "abcédef", "abc\udce9def", "abc\0def", "abc😀def"]
)
def test_a_key_that_a_header_cannot_carry_is_not_shown(key):
    with pytest.raises(Unusable, match="character 4 of the key") as error:
        Client(key=key)
    assert not any(part in str(error.value) for part in ("abc", "def", "é"))


@pytest.mark.parametrize("key", ["abc\n", "abc\r\n", "abc "])
def test_a_key_with_the_end_of_a_line_is_refused_by_that(key):
    with pytest.raises(Unusable, match="ends with a blank or a line end"):
        check_key(key)


def test_a_password_is_sent_and_shown_nowhere(caplog, serving):
    caplog.set_level("DEBUG")
    url, requests = serving
    with Client(url.replace("http://", "http://anna:s3cret@")) as client:
        assert client.url == url
        with pytest.raises(ServiceUnreachable) as error:
            client.stats()
    assert requests[0].get("Authorization") == "Basic YW5uYTpzM2NyZXQ="
    assert "s3cret" not in f"{error.value} {error.value.url} {caplog.text}"
