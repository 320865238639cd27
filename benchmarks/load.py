"""A load generator: connections that each send the next request after the last response.

One thread, blocking sockets and epoll, requests made beforehand: it has to be faster than the
servers it measures, or it would measure itself.
"""

import socket
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from select import EPOLLIN, epoll
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20
ANSWERED_WITHIN = 60.0  # seconds until a server that answers nothing is given up
CLOSED = "closed"  # instead of a status: the server closed the connection


def post(path: str, body: bytes) -> bytes:
    """Return the bytes of a POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@dataclass
class Measured:
    """The responses of a run; times are those of responses with status 200."""

    seconds: float = 0.0
    ended: list[float] = field(default_factory=list)  # perf_counter
    took: list[float] = field(default_factory=list)  # seconds
    statuses: Counter[str] = field(default_factory=Counter)  # of all responses, and CLOSED
    answer_bytes: int = 0  # of the last body

    @property
    def count(self) -> int:
        return self.statuses.total()

    @property
    def failed(self) -> int:
        return self.count - self.statuses["200"]

    @property
    def rate(self) -> float:
        """Return the responses with status 200 in a second."""
        return self.statuses["200"] / self.seconds

    def milliseconds(self, percentile: float) -> float:
        return milliseconds(np.array(self.took), percentile)


def milliseconds(took: NDArray[np.float64], percentile: float) -> float:
    return float(np.percentile(took, percentile)) * 1e3 if len(took) else float("nan")


class Connection:
    """A keep-alive connection with at most one outstanding request."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0.0
        self.is_accepted = False  # the server has answered on it
        self._received = bytearray()

    def send(self, request: bytes) -> None:
        self.sent = perf_counter()
        with suppress(ConnectionError):  # `receive` raises it
            self.socket.sendall(request)

    def receive(self) -> tuple[str, int] | None:
        """Return the status and the body's size of a complete response; ConnectionError."""
        data = self.socket.recv(BLOCK)
        if not data:
            raise ConnectionError("the server closed a connection")
        received = self._received
        received += data
        head_end = received.find(b"\r\n\r\n")
        if head_end < 0:
            return None
        # Servers may write names of headers as they like.
        head = bytes(received[:head_end]).lower()
        at = head.index(b"\r\ncontent-length:") + 17
        end = head.find(b"\r\n", at)
        size = int(head[at : end if end >= 0 else None])
        if len(received) < head_end + 4 + size:
            return None
        received.clear()
        return head[9:12].decode(), size


def accepted(connections: Iterable[Connection]) -> None:
    """Return once the server has accepted all connections, of which it takes a few at a time."""
    for connection in connections:
        connection.send(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    for connection in connections:
        while connection.receive() is None:
            pass
        connection.is_accepted = True


def run(
    port: int,
    requests: Sequence[bytes],
    connections: int,
    seconds: float,
    rate: float | None = None,
) -> Measured:
    """Send the requests over and over for so long, as fast as they are answered or, evenly, so
    many a second: less when all connections wait for their answers.

    A connection that the server closes is opened again; its first response is not timed.
    """
    measured = Measured()
    upcoming = cycle(requests)
    opened = dict[int, Connection]()
    with epoll() as waiting:

        def connect() -> Connection:
            connection = Connection(port)
            opened[connection.socket.fileno()] = connection
            waiting.register(connection.socket, EPOLLIN)
            return connection

        idle = [connect() for _ in range(connections)]
        accepted(idle)
        began = now = perf_counter()
        deadline = began + seconds
        due = began  # the next request
        while now < deadline or len(idle) < connections:
            while idle and now < deadline and due <= now:
                idle.pop().send(next(upcoming))
                due = due + 1 / rate if rate else now
            is_over = not idle or now >= deadline
            events = waiting.poll(ANSWERED_WITHIN if is_over else max(0, min(due, deadline) - now))
            if is_over and not events:
                raise TimeoutError(f"the server answered nothing for {ANSWERED_WITHIN:g} s")
            for number, _ in events:
                connection = opened[number]
                try:
                    answer = connection.receive()
                except ConnectionError:
                    del opened[number]
                    connection.socket.close()
                    if connection in idle:  # closed between two requests
                        idle[idle.index(connection)] = connect()
                        continue
                    connection, answer = connect(), (CLOSED, 0)
                if answer is None:
                    continue
                now = perf_counter()
                status, measured.answer_bytes = answer
                measured.statuses[status] += 1
                if status == "200" and connection.is_accepted:
                    measured.ended.append(now)
                    measured.took.append(now - connection.sent)
                connection.is_accepted |= status != CLOSED
                if rate or now >= deadline:
                    idle.append(connection)
                else:
                    connection.send(next(upcoming))
            now = perf_counter()
        measured.seconds = now - began
    for connection in opened.values():
        connection.socket.close()
    return measured
