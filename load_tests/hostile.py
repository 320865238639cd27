"""A thousand hostile connections on a service of its own, while others rank.

python load_tests/hostile.py [--connections 1000] [--seconds 90] [--source DIR] [--json FILE]

A fifth of the connections each: streams of gzip with one line that does not end; bodies that never
come to their end; readers of /state that do not read; bodies of many small gzip members, again and
again; garbage behind pipelined requests, again and again. Prints the memory of the service before
and at its most, what became of the connections, how ranking went on meanwhile, and how much was
logged. `--source` runs the service of another checkout instead, for a comparison.
"""

import argparse
import contextlib
import gzip
import json
import os
import random
import selectors
import socket
import sys
import threading
import time
import zlib
from collections import Counter
from pathlib import Path
from statistics import median

from load_tests.own_service import own_service

LINE_BYTES = 8 * 2**20 - 1024  # of a line that does not end
SLOW_BODY_BYTES = 8 * 2**20 - 1024
GZIP_MEMBERS = 3000
STATE_FEATURES = 20_000  # make a state that does not fit into the buffers of a socket
PAUSE_SECONDS = 0.02  # between two turns of the clients
MEBIBYTE = 2**20


def main():
    chosen = arguments()
    with own_service(chosen.source) as (server, _):
        teach(server)
        result = attack(server, chosen)
    show(result)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description="Attack a service of its own.")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def teach(server):
    """Teach a state of some megabytes and copy it once, so that the base includes a copy."""
    for begin in range(0, STATE_FEATURES, 1000):
        events = [
            {"features": [f"{'x' * 300} {begin + at}"], "classes": [f"class {at % 100}"]}
            for at in range(1000)
        ]
        server.request("POST", "/learn", json.dumps({"events": events}).encode())
    server.request("GET", "/state")


def attack(server, chosen):
    """Run one attack and return its figures."""
    base = server.memory()[0]
    log_before = os.fstat(server.log.fileno()).st_size
    end = time.monotonic() + chosen.seconds
    ranking = Ranking(server.port, end)
    each = chosen.connections // len(KINDS)
    clients = [kind(server.port) for kind in KINDS for _ in range(each)]
    ranking.start()
    cpu = server.cpu_seconds()
    peak = drive(server, clients, end)
    ranking.join()
    result = {
        "base": base,
        "peak": max(peak, server.memory()[0]),
        "grown": max(peak, server.memory()[0]) - base,
        "connections": len(clients),
        "became": {
            kind.__name__: Counter(
                client.fate for client in clients if isinstance(client, kind)
            ).most_common()
            for kind in KINDS
        },
        "rankings": ranking.result(),
        "cpu seconds": server.cpu_seconds() - cpu,
        "log bytes": os.fstat(server.log.fileno()).st_size - log_before,
        "shed": shed(server),
        "bad requests": sum(client.rounds for client in clients if isinstance(client, Garbage)),
    }
    for client in clients:
        client.close()
    return result


def shed(server):
    """Return the refusals that limit the load, by reason; empty if the service counts none."""
    lines = server.request("GET", "/metrics").decode().splitlines()
    pairs = (line.split('reason="')[1].split('"} ') for line in lines if "shed_total{" in line)
    return {reason: int(float(count)) for reason, count in pairs}


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

    def __init__(self, port):
        self.port = port
        self.socket = None
        self.unsent = b""
        self.received = b""
        self.fate = "open"
        self.rounds = 0
        self.more = iter(())

    def connect(self, selector):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=30)
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


def _endless_line():
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(b" " * LINE_BYTES) + packer.flush(zlib.Z_SYNC_FLUSH)


ENDLESS_LINE = _endless_line()
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

    def pieces(self):
        yield head("/state", method="GET")

    def connect(self, selector):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(30)
        self.socket.connect(("127.0.0.1", self.port))
        self.socket.setblocking(False)
        self.more = self.pieces()

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
        self.answers = self.fate
        self.fate = "open"


KINDS = (EndlessLine, SlowBody, StateReader, ManyMembers, Garbage)


class Ranking(threading.Thread):
    """A well-behaved client that ranks on one connection and reopens it when it is closed."""

    def __init__(self, port, end):
        super().__init__()
        self.port = port
        self.end = end
        self.took = []
        self.statuses = Counter()

    def run(self):
        body = b'{"features":["a"]}'
        lines = ("content-type: application/json", f"content-length: {len(body)}")
        request = head("/rank", *lines) + body
        connection = None
        while time.monotonic() < self.end:
            began = time.perf_counter()
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
                connection.sendall(request)
                answer = whole_answer(connection)
            except OSError:
                answer = b""
            status = answer[9:12].decode() or "none"
            self.statuses[status] += 1
            if status == "200":
                self.took.append(time.perf_counter() - began)
            if not answer:
                connection.close()
                connection = None
            time.sleep(PAUSE_SECONDS)

    def result(self):
        ordered = sorted(self.took) or [float("nan")]
        return {
            "answers": dict(self.statuses),
            "p50 ms": median(ordered) * 1e3,
            "p99 ms": ordered[int(len(ordered) * 0.99)] * 1e3,
            "longest ms": ordered[-1] * 1e3,
        }


def whole_answer(connection):
    """Read an answer with a content-length; return b"" if the server closes before its end."""
    answer = b""
    while True:
        head, found, body = answer.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().split(b"content-length: ")[1].split()[0]):
            return answer
        received = connection.recv(65_536)
        if not received:
            return b""
        answer += received


def show(result):
    print(f"{result['connections']} hostile connections")
    print(
        f"memory: {result['base'] / MEBIBYTE:.0f} MiB before, at most"
        f" {result['peak'] / MEBIBYTE:.0f} MiB, so {result['grown'] / MEBIBYTE:.0f} MiB more"
    )
    for kind, fates in result["became"].items():
        print(f"  {kind:14}" + ", ".join(f"{count} {fate}" for fate, count in fates))
    ranked = result["rankings"]
    print(
        f"rankings meanwhile: {ranked['answers']}, p50 {ranked['p50 ms']:.1f} ms,"
        f" p99 {ranked['p99 ms']:.1f} ms, longest {ranked['longest ms']:.0f} ms"
    )
    print(f"shed: {result['shed']}")
    bad = result["bad requests"]
    print(
        f"log: {result['log bytes']} bytes for {bad} rounds of garbage"
        f" ({result['log bytes'] / max(bad, 1):.0f} each); CPU {result['cpu seconds']:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
