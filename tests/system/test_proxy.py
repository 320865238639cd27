"""The failing network fails exactly as set."""

import gc
import socket
import socketserver
import threading
import time
from contextlib import suppress

import pytest

from tests.system.proxy import PASS, Proxy, Settings, Way

PATIENCE = 30
SOON = 0.2  # seconds without an unexpected arrival; more would only make the tests slower


class Echo(socketserver.StreamRequestHandler):
    """Echoes every line, and notes the end of the stream."""

    def handle(self):
        try:
            for line in self.rfile:
                self.server.lines.append(line)
                self.wfile.write(line)
                self.server.heard.set()
            self.server.ended.set()
        except ConnectionError:
            self.server.reset.set()


@pytest.fixture
def server():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.lines = []
        server.heard, server.ended, server.reset = (threading.Event() for _ in range(3))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join(PATIENCE)


@pytest.fixture
def proxy(server):
    with Proxy(server.server_address[1]) as proxy:
        yield proxy


@pytest.fixture
def caller(proxy):
    with connected(proxy) as caller:
        yield caller


def connected(proxy):
    return socket.create_connection(("127.0.0.1", proxy.port), PATIENCE)


def ask(caller, line=b"hello\n"):
    caller.sendall(line)
    return caller.recv(100)


def nothing_comes(caller):
    caller.settimeout(SOON)
    with pytest.raises(TimeoutError):
        caller.recv(100)
    caller.settimeout(PATIENCE)
    return True


def test_passes_what_both_sides_send(proxy, caller):
    assert ask(caller) == b"hello\n"
    with connected(proxy) as other:
        assert ask(other, b"other\n") == b"other\n"
    assert ask(caller, b"again\n") == b"again\n"
    assert proxy.counts["connections"] == 2
    assert proxy.counts["requests"] == proxy.counts["replies"] == len("hello\nother\nagain\n")


def test_passes_more_than_a_piece(caller):
    sent = b"x" * 1_000_000 + b"\n"
    threading.Thread(target=caller.sendall, args=[sent]).start()
    received = b""
    while len(received) < len(sent):
        received += caller.recv(1_000_000)
    assert received == sent


def test_passes_the_end_of_what_was_sent(server, caller):
    caller.sendall(b"last\n")
    caller.shutdown(socket.SHUT_WR)
    assert caller.recv(100) == b"last\n"
    assert caller.recv(100) == b""
    assert server.ended.wait(PATIENCE)


def test_cut_ends_both_sides(server, proxy, caller):
    ask(caller)
    assert proxy.cut() == 1
    with pytest.raises(ConnectionResetError):
        caller.recv(100)
    assert server.reset.wait(PATIENCE)
    assert proxy.counts["cuts"] == 1
    with connected(proxy) as other:
        assert ask(other) == b"hello\n"


def test_new_connections_refused(proxy, caller):
    ask(caller)
    proxy.settings = Settings(accept=False)
    with pytest.raises(ConnectionRefusedError):
        connected(proxy)
    assert ask(caller) == b"hello\n"
    proxy.settings = PASS
    with connected(proxy) as other:
        assert ask(other) == b"hello\n"


@pytest.mark.parametrize("way", ["requests", "replies"])
def test_delay(proxy, caller, way):
    ask(caller)
    proxy.settings = Settings(**{way: Way(delay=300)})
    began = time.monotonic()
    assert ask(caller) == b"hello\n"
    assert time.monotonic() - began >= 0.3


@pytest.mark.parametrize(
    ("way", "arrived"), [("requests", [b"hello\n"]), ("replies", [b"hello\n", b"held\n"])]
)
def test_held_bytes_arrive_later(server, proxy, caller, way, arrived):
    ask(caller)
    proxy.settings = Settings(**{way: Way(hold=True)})
    caller.sendall(b"held\n")
    assert nothing_comes(caller)
    assert server.lines == arrived
    proxy.settings = PASS
    assert caller.recv(100) == b"held\n"


@pytest.mark.parametrize(
    ("way", "arrived"), [("requests", [b"hello\n"]), ("replies", [b"hello\n", b"gone\n"])]
)
def test_swallowed_bytes_never_arrive(server, proxy, caller, way, arrived):
    ask(caller)
    proxy.settings = Settings(**{way: Way(swallow=True)})
    caller.sendall(b"gone\n")
    assert nothing_comes(caller)
    assert proxy.counts[f"{way} swallowed"] == len(b"gone\n")
    proxy.settings = PASS  # a stream with a hole must end
    with pytest.raises(ConnectionResetError):
        caller.recv(100)
    assert server.lines == arrived


def test_a_new_connection_into_a_black_hole(server, proxy):
    proxy.settings = Settings(requests=Way(swallow=True), replies=Way(swallow=True))
    with connected(proxy) as caller:
        caller.sendall(b"gone\n")
        assert nothing_comes(caller)
    assert server.lines == []


def test_forgotten_connections(server, proxy, caller):
    ask(caller)
    assert proxy.forget() == 1
    caller.sendall(b"gone\n")
    assert nothing_comes(caller)
    with connected(proxy) as other:
        assert ask(other, b"new\n") == b"new\n"
    assert server.lines == [b"hello\n", b"new\n"]
    proxy.settings = PASS
    with pytest.raises(ConnectionResetError):
        caller.recv(100)


def test_half_closed_requests(server, proxy, caller):
    ask(caller)
    assert proxy.half_close("requests") == 1
    assert server.ended.wait(PATIENCE)
    assert caller.recv(100) == b""  # the server closes a connection without further requests
    assert proxy.counts["half-closed requests"] == 1


def test_half_closed_replies(server, proxy, caller):
    ask(caller)
    assert proxy.half_close("replies") == 1
    assert caller.recv(100) == b""
    for number in range(10):  # echoed lines are dropped, and end nothing
        server.heard.clear()
        caller.sendall(b"%d\n" % number)
        assert server.heard.wait(PATIENCE)
    caller.shutdown(socket.SHUT_WR)
    assert server.ended.wait(PATIENCE)


def test_a_target_that_is_not_there():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with Proxy(silent.getsockname()[1]) as proxy:
            # A reset may arrive while the caller still connects.
            with pytest.raises(ConnectionResetError), connected(proxy) as caller:
                caller.recv(100)
            assert proxy.counts["target refused"] == 1


@pytest.mark.parametrize("settings", [PASS, Settings(Way(hold=True), Way(hold=True))])
def test_close_ends_every_connection(server, settings):
    proxy = Proxy(server.server_address[1])
    with connected(proxy) as caller:
        ask(caller)
        proxy.settings = settings
        proxy.close()
        with pytest.raises(ConnectionResetError):
            caller.recv(1)
    proxy.close()
    with pytest.raises(ConnectionRefusedError):
        connected(proxy)
    assert proxy.connections() == 0


def test_close_while_callers_connect(server):
    def connect(proxy, first):
        for _ in range(50):
            with suppress(OSError), connected(proxy):  # refused or cut, as the proxy closes
                first.set()

    for _ in range(20):
        with Proxy(server.server_address[1]) as proxy:
            first = threading.Event()
            caller = threading.Thread(target=connect, args=(proxy, first))
            caller.start()
            assert first.wait(PATIENCE)
        caller.join(PATIENCE)
        assert not caller.is_alive()
        del proxy
        gc.collect()  # a socket left open fails the test
