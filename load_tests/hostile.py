"""A thousand hostile connections on a service of its own, while others rank.

python -m load_tests.hostile [--connections 1000] [--seconds 90] [--source DIR] [--json FILE]

A fifth of the connections each: streams of gzip with one line that does not end; bodies that never
come to their end; readers of /state that do not read; bodies of many small gzip members, again and
again; garbage behind pipelined requests, again and again. Prints the memory of the service before
and at its most, what became of the connections, how ranking went on meanwhile, and how much was
logged. `--source` runs the service of another checkout instead, for a comparison.
"""

import contextlib
import gzip
import os
import random
import selectors
import socket
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from benchmarks import load
from benchmarks.report import Report
from benchmarks.serving import teach
from load_tests.own_service import own_service, parser_of

LINE_BYTES = 8 * 2**20 - 1024  # of a line that does not end
SLOW_BODY_BYTES = 8 * 2**20 - 1024
GZIP_MEMBERS = 3000
STATE_FEATURES = 20_000  # make a state that does not fit into the buffers of a socket
PAUSE_SECONDS = 0.02  # between two turns of the clients
ADMITTED_WITHIN = 30.0  # seconds
MEBIBYTE = 2**20


def main():
    parser = parser_of("Attack a service of its own.")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=90.0)
    chosen = parser.parse_args()
    report = Report(chosen)
    with own_service(chosen.source) as server:
        teach(
            server,
            [
                {"features": [f"{'x' * 300} {number}"], "classes": [f"class {number % 100}"]}
                for number in range(STATE_FEATURES)
            ],
        )
        server.request("GET", "/state")  # once, so that the base includes a copy
        attack(server, chosen, report)
    report.close()


def attack(server, chosen, report):
    """Run one attack and print its figures."""
    base = server.memory()[0]
    log_before = os.fstat(server.log.fileno()).st_size
    each = chosen.connections // len(KINDS)
    clients = [kind(server.port) for kind in KINDS for _ in range(each)]
    cpu = server.cpu_seconds()
    with ThreadPoolExecutor(1) as ranking:
        requests = [load.post("/rank", b'{"features":["a"]}')]
        rankings = ranking.submit(
            load.run, server.port, requests, 1, chosen.seconds, 1 / PAUSE_SECONDS
        )
        peak = drive(server, clients, time.monotonic() + chosen.seconds)
        ranked = rankings.result()
    peak = max(peak, server.memory()[0])
    rounds = sum(client.rounds for client in clients if isinstance(client, Garbage))
    logged = os.fstat(server.log.fileno()).st_size - log_before
    report.table(
        f"{len(clients)} hostile connections",
        [
            {
                "memory before MiB": base / MEBIBYTE,
                "at most": peak / MEBIBYTE,
                "so more": (peak - base) / MEBIBYTE,
                "CPU s": server.cpu_seconds() - cpu,
                "rounds of garbage": rounds,
                "bytes logged": logged,
                "a round": logged / max(rounds, 1),
            }
        ],
    )
    fates = {
        kind.__name__: Counter(client.fate for client in clients if isinstance(client, kind))
        for kind in KINDS
    }
    report.table("Ends", [{"kind": kind, "ends": listed(each)} for kind, each in fates.items()])
    answers = {"answers": listed(ranked.statuses)}
    times = {"p50": 50, "p99": 99, "longest": 100}
    milliseconds = {f"{name} ms": ranked.milliseconds(share) for name, share in times.items()}
    report.table("Rankings meanwhile", [answers | milliseconds])
    for client in clients:
        client.close()
    wait_until_admitted(server)
    shed = Counter({labels["reason"]: int(count) for labels, count in server.metric("shed_total")})
    report.table("Refusals that limit the load", [{"shed": listed(+shed)}])


def wait_until_admitted(server):
    """Wait until the service has noticed that the clients are gone, and admits a request."""
    deadline = time.monotonic() + ADMITTED_WITHIN
    while True:
        try:
            server.request("GET", "/metrics")
        except RuntimeError:  # 503
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


def listed(counts):
    return ", ".join(f"{what}: {count:,}" for what, count in counts.most_common())


def drive(server, clients, end):
    """Let every client do its next step, in turns; the most memory the service had."""
    peak = 0
    with selectors.DefaultSelector() as selector:
        while (now := time.monotonic()) < end:
            for client in clients:
                client.step(now, selector)
            for key, _ in selector.select(0):
                key.data.receive(selector)
            peak = max(peak, server.memory()[0])
            time.sleep(PAUSE_SECONDS)
    return peak


class Hostile:
    """One connection: sends what fits, and notes how it ended."""

    reads = True
    buffer_bytes = None  # of the socket; the default of the system without

    def __init__(self, port):
        self.port = port
        self.socket = None
        self.unsent = b""
        self.received = b""
        self.fate = "open"
        self.rounds = 0
        self.more = iter(())

    def connect(self, selector):
        self.socket = socket.socket()
        if self.buffer_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.buffer_bytes)
        self.socket.settimeout(30)
        self.socket.connect(("127.0.0.1", self.port))
        self.socket.setblocking(False)
        self.unsent = b""
        self.received = b""
        self.more = self.pieces()
        if self.reads:
            selector.register(self.socket, selectors.EVENT_READ, self)

    def step(self, now, selector):
        """Send the next piece, as far as it fits."""
        if self.socket is None:
            if self.fate == "open":
                self.connect(selector)
            return
        self.unsent = self.unsent or next(self.more, b"")
        try:
            if self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
            elif not self.reads:
                self.look()
        except BlockingIOError:
            pass
        except OSError:
            self.end(selector)

    def look(self):
        """Find out whether the server has closed, without reading."""
        if self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise ConnectionError("reset")
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        if info[0] != 1:  # TCP_ESTABLISHED
            raise ConnectionError("closed")

    def receive(self, selector):
        try:
            data = self.socket.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.received = (self.received + data)[-4096:]
        if not data:
            self.end(selector)

    def end(self, selector):
        """Record that the server has closed the connection."""
        statuses = [part[:3].decode() for part in self.received.split(b"HTTP/1.1 ")[1:]]
        told = b'"kind":"failure"' in self.received
        self.fate = " ".join(["closed", *statuses[-1:], *(["failure told"] if told else [])])
        if self.reads:
            selector.unregister(self.socket)
        self.close()
        self.again()

    def again(self):
        """Begin again after the end; by default do nothing."""

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def head(path, *lines, method="POST"):
    more = "".join(line + "\r\n" for line in lines)
    return f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{more}\r\n".encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


PACKER = zlib.compressobj(9, wbits=31)
ENDLESS_LINE = PACKER.compress(b" " * LINE_BYTES) + PACKER.flush(zlib.Z_SYNC_FLUSH)
MANY_MEMBERS = gzip.compress(b"") * GZIP_MEMBERS
NOISE = random.Random(0).randbytes(65_536)


class EndlessLine(Hostile):
    """A gzipped stream of 8 kB that unpacks to one line of 8 MiB without an end."""

    def pieces(self):
        lines = ("content-type: application/x-ndjson", "content-encoding: gzip")
        yield head("/learn", *lines, "transfer-encoding: chunked") + chunk(ENDLESS_LINE)


class SlowBody(Hostile):
    """A body of 8 MiB, all of it but its last bytes at once, then one byte now and then."""

    def pieces(self):
        lines = ("content-type: application/json", f"content-length: {SLOW_BODY_BYTES}")
        yield head("/learn", *lines)
        for _ in range((SLOW_BODY_BYTES - 100_000) // len(NOISE)):
            yield NOISE
        for _ in range(50_000):
            yield b" "


class StateReader(Hostile):
    """A reader of /state that reads nothing."""

    reads = False
    buffer_bytes = 4096

    def pieces(self):
        yield head("/state", method="GET")

    def end(self, selector):
        with contextlib.suppress(OSError):
            self.received = self.socket.recv(4096)
        super().end(selector)


class ManyMembers(Hostile):
    """A body of thousands of gzip members of nothing, again and again."""

    def pieces(self):
        lines = ("content-type: application/json", "content-encoding: gzip")
        while True:
            yield head("/rank", *lines, f"content-length: {len(MANY_MEMBERS)}") + MANY_MEMBERS
            self.rounds += 1

    def again(self):
        self.fate = f"{self.fate}, again" if self.rounds > 1 else self.fate


class Garbage(Hostile):
    """Garbage behind two requests, on one connection after the other."""

    def pieces(self):
        yield head("/classes", method="GET") * 2 + b"garbage\r\n\r\n"

    def again(self):
        self.rounds += 1
        self.fate = "open"


KINDS = (EndlessLine, SlowBody, StateReader, ManyMembers, Garbage)


if __name__ == "__main__":
    main()
