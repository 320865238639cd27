import socket
from contextlib import contextmanager
from itertools import repeat
from threading import Thread

import pytest

from benchmarks import load


def test_a_post_is_whole():
    head, body = load.post("/rank", b"{}").split(b"\r\n\r\n")

    assert head.startswith(b"POST /rank HTTP/1.1\r\n")
    assert b"Content-Length: 2" in head
    assert body == b"{}"


@pytest.fixture
def connection():
    """Yield a connection and the server's end of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = load.Connection(server.getsockname()[1])
        theirs, _ = server.accept()
        with ours.socket, theirs:
            yield ours, theirs


def test_an_answer_may_come_in_pieces(connection):
    ours, theirs = connection
    for piece in (b"HTTP/1.1 200 OK\r\nContent-", b"Length: 5\r\nx: y\r\n\r\n12"):
        theirs.sendall(piece)
        assert ours.receive() is None
    theirs.sendall(b"345")
    assert ours.receive() == ("200", 5)
    theirs.sendall(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")
    assert ours.receive() == ("503", 0)


def test_a_closed_connection_is_an_error(connection):
    ours, theirs = connection
    theirs.close()

    with pytest.raises(ConnectionError):
        ours.receive()


@contextmanager
def server_of(statuses):
    """Yield the port of a server that answers two clients with these statuses."""

    def answer(client):
        with client:
            while client.recv(1000):
                client.sendall(b"HTTP/1.1 %d x\r\ncontent-length: 0\r\n\r\n" % next(statuses))

    def serve(server):
        for _ in range(2):
            client, _ = server.accept()
            Thread(target=answer, args=(client,)).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = Thread(target=serve, args=(server,))
        accepting.start()
        yield server.getsockname()[1]
        accepting.join()


def test_load_counts_answers_and_failures():
    """Yield two connections to a server that refuses every other request."""
    with server_of(iter([200, 503] * 100_000)) as port:
        measured = load.run(port, [load.post("/rank", b"{}")], 2, 0.05)

    assert measured.count >= 2
    assert abs(measured.failed - measured.count / 2) <= 1
    assert len(measured.ended) == len(measured.took) == measured.statuses["200"]


def test_load_sends_no_more_than_it_was_asked_for():
    with server_of(repeat(200)) as port:
        measured = load.run(port, [load.post("/rank", b"{}")], 2, 0.2, rate=50)

    assert 2 <= measured.count <= 11
    assert measured.failed == 0
