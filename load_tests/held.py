"""Memory that clients make a service hold: whole requests at once, and requests without an end.

python -m load_tests.held [--only KIND ...] [--seconds 6] [--workers 1] [--source DIR] [--json FILE]

For each kind a service of its own, and so many connections that send the same bytes and read no
answer. Prints the resident memory before and at most, what the budget of requests and answers and
the queue of events counted at most, and the answers. The run fails if the memory grows by more than
docs/operations.md says (*Size*). `--source` runs the service of another checkout, to compare.
"""

import json
import os
import selectors
import socket
import time
from collections import Counter
from random import Random

from benchmarks.process import service_on_sqlite
from benchmarks.report import Report
from load_tests.own_service import parser_of

MEBIBYTE = 2**20
BUFFERED_MEBIBYTES, QUEUE_MEBIBYTES = 128, 64  # the defaults of the settings
JSON, STREAM = "application/json", "application/x-ndjson"


def request(path, body, kind=JSON, length=None):
    """Return a request; `length` is announced instead of that of the body."""
    size = len(body) if length is None else length
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\n"
        f"content-length: {size}\r\n\r\n".encode()
        + body
    )


def named(count, size, start=0):
    """Return so many names of this size."""
    return [f"{number:06}".ljust(size, "x") for number in range(start, start + count)]


def event(features=("a",), classes=("x",)):
    return {"features": list(features), "classes": list(classes)}


def encoded(value):
    return json.dumps(value, separators=(",", ":")).encode()


def text(size, seed):
    """Return a text of about so many bytes, of words that differ from those of other seeds."""
    return " ".join(f"{number:x}" for number in Random(seed).sample(range(16**7, 16**8), size // 9))


def texts(count, size):
    """Return a body of so many texts, each of about so many bytes."""
    return encoded({"instances": [{"text": text(size, seed)} for seed in range(count)]})


def texts_of_fields():
    """Return a body of texts of nearly 8 MiB, which take the most memory for their bytes."""
    words = " ".join(f"{number:x}" for number in range(2500))
    return encoded({"instances": [{"text": {"x" * 250: words}}] * 600})


def event_of_line():
    """Return the event that each line of a stream holds."""
    return event(classes=[f"{number:x}" for number in range(200)])


def many_lines(size):
    """Return lines of events with short names, this size together."""
    line = encoded(event_of_line()) + b"\n"
    return line * (size // len(line))


def unfinished(size, kind):
    """Return a request whose body, or line of a stream, of this size does not end."""
    return request("/learn", b'{"features":["' + b"x" * size, kind, length=8_000_000)


# by name: the number of connections, and what each sends
KINDS = {
    "plain events, 100 classes of 0.6 kB": lambda: (
        1900,
        request("/learn", encoded(event(classes=named(100, 630)))),
    ),
    "events, 100 classes of 1.15 kB": lambda: (
        1900,
        request("/learn", encoded(event(classes=named(100, 1150)))),
    ),
    "events with many short classes": lambda: (
        16,
        request("/learn", encoded({"events": [event(classes=named(500, 6))] * 1000})),
    ),
    "rankings of many features": lambda: (
        64,
        request("/rank", encoded({"instances": [{"features": named(1000, 6)}] * 800})),
    ),
    "rankings of texts": lambda: (16, request("/rank", texts(1000, 8000))),
    "rankings of fields with long names": lambda: (16, request("/rank", texts_of_fields())),
    "events of texts": lambda: (
        16,
        # one text, so that little is learned
        request("/learn", encoded({"events": [{"text": text(8000, 1), "classes": ["x"]}] * 200})),
    ),
    "rankings with long ids": lambda: (
        1900,
        request("/rank", encoded({"features": named(50, 1000), "id": "i" * 1000})),
    ),
    "streams of whole lines": lambda: (
        1900,
        request("/learn", many_lines(300_000), STREAM, length=8_000_000),
    ),
    "unfinished lines of 60 kB": lambda: (1900, unfinished(60_000, STREAM)),
    "unfinished lines of 1 MB": lambda: (300, unfinished(1_000_000, STREAM)),
    "unfinished lines of 7 MB": lambda: (60, unfinished(7_000_000, STREAM)),
    "unfinished bodies of 60 kB": lambda: (1900, unfinished(60_000, JSON)),
    "unfinished bodies of 1 MB": lambda: (300, unfinished(1_000_000, JSON)),
    "unfinished bodies of 7 MB": lambda: (60, unfinished(7_000_000, JSON)),
    "unfinished heads": lambda: (
        1900,
        b"POST /learn HTTP/1.1\r\nhost: a\r\n"
        + b"".join(b"x%d: %s\r\n" % (n, b"y" * 600) for n in range(90)),
    ),
    "pipelined rankings": lambda: (
        1900,
        request("/rank", encoded({"features": ["a"], "min_seq": 10**9}))
        + request("/rank", encoded({"features": named(10, 1000)})) * 10,
    ),
    "answers that are not read": lambda: (
        200,
        request("/rank", encoded({"instances": [{"features": ["a"]}] * 1000, "k": 100})) * 3,
    ),
}


def main():
    parser = parser_of("Make a service of its own hold memory.")
    parser.add_argument("--only", nargs="+", choices=KINDS, metavar="KIND")
    parser.add_argument("--seconds", type=float, default=6.0, help="after all is sent, or refused")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    report = Report(chosen)
    for kind in chosen.only or KINDS:
        row = measure(kind, chosen)
        report.table(kind, [row])
        report.limit("MiB more", row["more MiB"], limit_of(row["connections"]))
    report.close()


def limit_of(connections):
    """Return the MiB that docs/operations.md allows: buffers, queue, labels, and connections."""
    return BUFFERED_MEBIBYTES + QUEUE_MEBIBYTES + 40 / 1024 * connections


def measure(kind, chosen):
    """Return the figures of one kind, on a service of its own."""
    count, sent = KINDS[kind]()
    cores = set(os.sched_getaffinity(0))
    with service_on_sqlite(cores, source=chosen.source, workers=chosen.workers) as server:
        teach = encoded({"events": [event(classes=[name]) for name in named(200, 100)]})
        server.request("POST", "/learn", teach)
        lines = encoded({"events": [event_of_line()] * 1000})
        for _ in range(20):  # so that the base includes what is learned of the lines of a stream
            server.request("POST", "/learn", lines)
        for _ in range(20):  # once, so that the base includes what every service loads
            server.request("POST", "/rank", encoded({"instances": [{"features": ["a"]}] * 100}))
            server.request("GET", "/metrics")
        base = server.memory()[0]
        clients = [Client(server.port, sent) for _ in range(count)]
        peak = hold(server, clients, chosen.seconds)
        answers = Counter(client.outcome for client in clients)
        for client in clients:
            client.socket.close()
        server.request("GET", "/livez")
        settled = server.memory()[0]
    return {
        "connections": count,
        "before MiB": base / MEBIBYTE,
        "at most MiB": peak / MEBIBYTE,
        "more MiB": (peak - base) / MEBIBYTE,
        "after MiB": settled / MEBIBYTE,
        "answers": ", ".join(f"{what}: {number}" for what, number in answers.most_common()),
    }


def hold(server, clients, seconds):
    """Send all bytes, then wait; return the most memory the service had."""
    peak, end = 0, time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
        while time.monotonic() < end:
            for key, events in selector.select(0.02):
                client = key.data
                if events & selectors.EVENT_WRITE and client.send():
                    end = max(end, time.monotonic() + seconds)
                if events & selectors.EVENT_READ:
                    client.receive()
                if client.is_done:
                    selector.unregister(client.socket)
                elif not client.unsent:
                    selector.modify(client.socket, selectors.EVENT_READ, client)
            peak = max(peak, server.memory()[0])
    return peak


class Client:
    """One connection, which reads the first bytes of one answer and no more."""

    def __init__(self, port, sent):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setblocking(False)
        self.unsent = memoryview(sent)
        self.outcome = "open"
        self.is_done = False

    def send(self):
        """Send what fits; return whether it was something."""
        try:
            size = self.socket.send(self.unsent[:65_536])
        except BlockingIOError:
            return False
        except OSError:
            size, self.unsent = 0, memoryview(b"")
        self.unsent = self.unsent[size:]
        return size > 0

    def receive(self):
        """Note the status of the answer, or the end."""
        try:
            data = self.socket.recv(12)
        except OSError:
            data = b""
        self.outcome = data[9:12].decode() if data.startswith(b"HTTP") else "closed"
        self.is_done = True


if __name__ == "__main__":
    main()
