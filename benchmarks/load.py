"""A load generator: connections that each send the next request after the last response.

One thread, blocking sockets and epoll, requests made beforehand: it has to be faster than the
servers it measures, or it would measure itself.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from select import EPOLLIN, epoll
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20


def post(path: str, body: bytes) -> bytes:
    """Return the bytes of a POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@dataclass
class Measured:
    """The time of each response, and its latency."""

    seconds: float = 0.0
    ended: list[float] = field(default_factory=list)  # perf_counter
    took: list[float] = field(default_factory=list)  # seconds
    failed: int = 0
    answer_bytes: int = 0  # of the last body

    @property
    def count(self) -> int:
        return len(self.took)

    @property
    def rate(self) -> float:
        return self.count / self.seconds

    def milliseconds(self, percentile: float) -> float:
        return milliseconds(np.array(self.took), percentile)


def milliseconds(took: NDArray[np.float64], percentile: float) -> float:
    return float(np.percentile(took, percentile)) * 1e3


class Connection:
    """A keep-alive connection with at most one outstanding request."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0.0
        self._received = bytearray()

    def send(self, request: bytes) -> None:
        self.sent = perf_counter()
        self.socket.sendall(request)

    def receive(self) -> tuple[bytes, int] | None:
        """Return the status and the body's size of a complete response."""
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
        return head[9:12], size


def run(
    port: int,
    requests: Sequence[bytes],
    connections: int,
    seconds: float,
    rate: float | None = None,
) -> Measured:
    """Send the requests over and over for so long, as fast as they are answered or, evenly, so
    many a second: less when all connections wait for their answers.
    """
    measured = Measured()
    upcoming = cycle(requests)
    opened = {}
    with epoll() as waiting:
        for _ in range(connections):
            connection = Connection(port)
            opened[connection.socket.fileno()] = connection
            waiting.register(connection.socket, EPOLLIN)
        idle = list(opened.values())
        began = now = perf_counter()
        deadline = began + seconds
        due = began  # the next request
        while now < deadline or len(idle) < connections:
            while idle and now < deadline and due <= now:
                idle.pop().send(next(upcoming))
                due = due + 1 / rate if rate else now
            pause = None if not idle or now >= deadline else max(0.0, min(due, deadline) - now)
            for number, _ in waiting.poll(pause):
                connection = opened[number]
                answer = connection.receive()
                if answer is None:
                    continue
                now = perf_counter()
                measured.ended.append(now)
                measured.took.append(now - connection.sent)
                status, measured.answer_bytes = answer
                if status != b"200":
                    measured.failed += 1
                if rate or now >= deadline:
                    idle.append(connection)
                else:
                    connection.send(next(upcoming))
            now = perf_counter()
        measured.seconds = now - began
    for connection in opened.values():
        connection.socket.close()
    return measured
