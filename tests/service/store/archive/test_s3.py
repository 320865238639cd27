"""The archive in S3: servers that are away or refuse, and messages for an operator."""

import socket
import sys
from contextlib import AbstractContextManager, suppress
from threading import Thread

import pytest

from manyclass.service.store.archive import open_archive, s3
from manyclass.service.store.errors import StoreError, StoreUnavailable
from tests.s3_server import S3Server

NAME = "4f1c/1.segment"
SECRET = "aSecretThatNobodyMaySee"
CALLS = {
    "put": lambda archive: archive.put(NAME, b"x"),
    "get": lambda archive: archive.get(NAME),
    "delete": lambda archive: archive.delete(NAME),
    "names": lambda archive: archive.names(),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


@pytest.fixture
def own_server(tmp_path, of_aws):
    """Yield a server for one test, that checks no keys."""
    with S3Server(tmp_path, checks=False) as server:
        yield of_aws(server)


def failure(call, archive, kind=StoreUnavailable):
    """Return the error of a call, whose texts have no secret and no text of the library."""
    with pytest.raises(kind) as caught:
        call(archive)
    error = caught.value
    assert archive.shown in str(error)
    assert error.hint
    # The library's text is in no traceback.
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert SECRET not in f"{error} {error.hint}"
    return error


def test_a_wrong_secret_is_named(s3_url, of_aws, s3_server, call):
    of_aws(s3_server, AWS_SECRET_ACCESS_KEY=SECRET)
    error = failure(call, open_archive(s3_url))
    assert "SignatureDoesNotMatch" in str(error)
    assert "AWS_SECRET_ACCESS_KEY" in error.hint


def test_an_unknown_key_is_named(s3_url, of_aws, s3_server, call):
    of_aws(s3_server, AWS_ACCESS_KEY_ID="AKIAUNKNOWN", AWS_SECRET_ACCESS_KEY=SECRET)
    error = failure(call, open_archive(s3_url))
    assert "InvalidAccessKeyId" in str(error)
    assert "AWS_ACCESS_KEY_ID" in error.hint


def test_a_missing_bucket_is_no_empty_archive(s3_url, call):
    error = failure(call, open_archive("s3://missing/prefix"))
    assert "NoSuchBucket" in str(error)
    assert "make the bucket" in error.hint


def test_without_credentials_the_hint_names_them(s3_url, monkeypatch, call):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    error = failure(call, open_archive(s3_url))
    assert "no credentials" in str(error)
    assert "AWS_ACCESS_KEY_ID" in error.hint


def test_a_killed_server_is_away_until_it_is_back(own_server):
    archive = open_archive(f"s3://{own_server.bucket}")
    archive.put(NAME, b"before")
    own_server.kill()
    for call in CALLS.values():
        error = failure(call, archive)
        assert "does not answer" in str(error)
        assert "continues by itself" in error.hint
    own_server.start()
    assert archive.names() == []  # the server forgot it
    archive.put(NAME, b"after")
    assert archive.get(NAME) == b"after"


def test_a_paused_server_is_away(own_server, monkeypatch):
    monkeypatch.setitem(s3._OPTIONS, "timeout", "300ms")
    monkeypatch.setattr(s3, "_RETRY_SECONDS", 0)
    archive = open_archive(f"s3://{own_server.bucket}")
    own_server.pause()
    for call in CALLS.values():
        assert "does not answer" in str(failure(call, archive))
    own_server.resume()
    for call in CALLS.values():
        call(archive)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"404 Not Found\r\nContent-Length: 4\r\n\r\nhuh?", "404 Not Found"),
        (b"503 Slow Down\r\nContent-Length: 0\r\n\r\n", "503 Service Unavailable"),
        (b"301 Moved Permanently\r\nContent-Length: 0\r\n\r\n", "the bucket is elsewhere"),
    ],
)
def test_answers_of_other_servers_are_errors(s3_url, monkeypatch, call, answer, said):
    with Answering(answer) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        assert said in str(failure(call, open_archive(s3_url)))


class Answering(AbstractContextManager):
    """A port where each request has the same answer."""

    def __init__(self, answer):
        self._answer = b"HTTP/1.1 " + answer
        self._listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self):
        Thread(target=self._serve, daemon=True).start()
        return self._listener.getsockname()[1]

    def _serve(self):
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(self._answer)

    def __exit__(self, *error):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AWS_ENDPOINT_URL", "nonsense", "AWS_ENDPOINT_URL is not an address"),
        ("AWS_ENDPOINT_URL", "", "AWS_ENDPOINT_URL is not an address"),
        ("AWS_ENDPOINT_URL", "https://host:port", "AWS_ENDPOINT_URL is not an address"),
        ("AWS_ENDPOINT_URL_S3", f"https://me:{SECRET}@host", "AWS_ENDPOINT_URL_S3 is not"),
        ("AWS_ALLOW_HTTP", "no", "without TLS"),
        ("AWS_ALLOW_HTTP", f"{SECRET}!", "without TLS"),
        ("AWS_CHECKSUM_ALGORITHM", SECRET, "not a valid checksum algorithm"),
    ],
)
def test_unusable_settings_are_refused_at_once(s3_url, monkeypatch, name, value, said):
    monkeypatch.setenv(name, value)
    with pytest.raises(StoreError) as caught:
        open_archive(s3_url)
    assert said in str(caught.value)
    assert caught.value.hint
    assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_without_obstore_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "manyclass.service.store.archive.s3")
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(StoreError) as caught:
        open_archive("s3://bucket/prefix")
    assert caught.value.hint == 'pip install "manyclass[s3]"'


def test_opening_connects_to_nothing(s3_url, own_server):
    own_server.kill()
    assert open_archive("s3://bucket/prefix/").shown == "s3://bucket/prefix"
