"""The proxies of the environment: a service on this machine is called without one."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from manyclass.client.client import Client
from manyclass.client.errors import ClientError, RequestRefused, ServiceUnreachable
from manyclass.client.proxies import by_proxy, is_loopback

VARIABLES = [
    f"{scheme}_proxy".upper() if upper else f"{scheme}_proxy"
    for scheme in ("http", "https", "all", "no")
    for upper in (True, False)
]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch.setenv


@pytest.fixture
def server():
    """Return the port of a server whose every answer is a page of a proxy; its requests' paths."""
    paths = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_response(503)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *given):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving.server_port, paths
        serving.shutdown()


def failure(url, **options):
    """Return the error of a request to a service that does not answer."""
    with pytest.raises(ClientError) as caught, Client(url, patience=0, **options) as client:
        client.check()
    return caught.value


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9",
        "https://127.0.0.1:9",
        "http://127.9.9.9:9",
        "http://localhost:9",
        "http://[::1]:9",
        "http://0.0.0.0:9",
    ],
)
@pytest.mark.parametrize("proxy", ["http://user:secret@127.0.0.1:1", "socks5://127.0.0.1:1", "bad"])
def test_a_service_on_this_machine_is_called_without_a_proxy(environment, url, proxy):
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        environment(variable, proxy)
    error = failure(url)
    assert isinstance(error, ServiceUnreachable)
    assert "proxy" not in str(error)


def test_certificates_are_read_for_tls_alone(monkeypatch):
    def read():
        raise PermissionError("the certificates")

    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):  # they would be read in place of certifi's
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("certifi.where", read)
    assert isinstance(failure("http://127.0.0.1:9"), ServiceUnreachable)
    for url in ("https://127.0.0.1:9", "HTTPS://127.0.0.1:9", "https://elsewhere.example"):
        with pytest.raises(PermissionError, match="the certificates"):
            Client(url)


def test_a_local_request_does_not_reach_the_proxy(environment, server):
    port, paths = server
    environment("HTTP_PROXY", "http://127.0.0.1:9")
    failure(f"http://127.0.0.1:{port}")
    assert paths == ["/livez"]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_that_fails_is_named_with_its_variable_and_without_its_password(
    environment, variable
):
    environment(variable, "http://user:secret@127.0.0.1:9")
    error = failure("http://service.example:8000")
    assert isinstance(error, ServiceUnreachable)
    assert str(error).endswith(
        f", by the proxy http://(hidden)@127.0.0.1:9 of the variable {variable};"
        " NO_PROXY=service.example leaves it out"
    )
    assert "secret" not in str(error)


def test_a_refusal_of_the_proxy_names_it(environment, server):
    port, paths = server
    environment("HTTP_PROXY", f"http://127.0.0.1:{port}")
    error = failure("http://service.example:8000")
    assert isinstance(error, RequestRefused)
    assert f"by the proxy http://127.0.0.1:{port} of the variable HTTP_PROXY" in str(error)
    assert paths == ["http://service.example:8000/livez"]


@pytest.mark.parametrize("proxy", ["socks5://user:secret@127.0.0.1:9", "ftp://user:secret@h:1"])
def test_a_proxy_that_cannot_be_used_is_no_traceback(environment, proxy):
    environment("ALL_PROXY", proxy)
    error = failure("http://service.example:8000")
    assert "of the variable ALL_PROXY; NO_PROXY=service.example" in str(error)
    assert "secret" not in str(error)


def test_a_host_of_no_proxy_has_none(environment):
    environment("HTTP_PROXY", "http://127.0.0.1:9")
    environment("NO_PROXY", "other.example,.service.example")
    assert not by_proxy("http://a.service.example")
    assert by_proxy("http://else.example")
    environment("NO_PROXY", "*")
    assert not by_proxy("http://else.example")


@pytest.mark.parametrize("url", ["http://service", "http://10.0.0.1", "nonsense", "http://["])
def test_other_hosts_are_not_this_machine(url):
    assert not is_loopback(url)
