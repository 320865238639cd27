"""Ranking under ten times the connections that saturate the service, closed loop.

python load_tests/overload.py [--seconds 5] [--saturating N] [--source DIR] [--json FILE]

Starts a service on one core and the clients on another; they repeat each request as soon as it is
answered, and ignore Retry-After. First one connection alone: its p99 is that of the unloaded
service. Then twice as many each time until the rate grows no more: these saturate it. Then ten
times as many.
`--source` runs the service of another checkout instead, for a comparison.
"""

import argparse
import json
import socket
import sys
import time
from pathlib import Path
from select import EPOLLIN, epoll

import numpy as np

from load_tests.own_service import own_service

FEATURES = 80  # of an instance, half of the known ones
BODIES = 500
GROWTH = 1.1  # of the rate by doubling the connections; below it the service is saturated
MOST_SATURATING = 64
FACTOR = 10
SHED = "503"
OTHER = "other"


def main():
    chosen = arguments()
    with own_service(chosen.source) as (server, port):
        teach(server)
        requests = rankings()
        run(port, requests, 1, 1.0)
        result = measure(port, requests, chosen)
    show(result)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description="Overload a service of its own.")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a measurement")
    parser.add_argument("--saturating", type=int, help="connections, instead of finding them")
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def measure(port, requests, chosen):
    """Measure one service and return its figures."""
    unloaded = run(port, requests, 1, chosen.seconds)
    steps = [(1, unloaded)]
    while steps[-1][0] < (chosen.saturating or MOST_SATURATING):
        connections = chosen.saturating or 2 * steps[-1][0]
        steps.append((connections, run(port, requests, connections, chosen.seconds)))
        if chosen.saturating or steps[-1][1]["rate"] < GROWTH * steps[-2][1]["rate"]:
            break
    saturating, saturated = steps[-1] if chosen.saturating else steps[-2]
    overloaded = run(port, requests, FACTOR * saturating, 2 * chosen.seconds)
    after = run(port, requests, 1, chosen.seconds)
    return {
        "unloaded": unloaded,
        "steps": {connections: measured for connections, measured in steps},
        "saturating connections": saturating,
        "overloaded connections": FACTOR * saturating,
        "overloaded": overloaded,
        "p99 ratio": overloaded["p99"] / unloaded["p99"],
        "rate ratio": overloaded["rate"] / saturated["rate"],
        "after": after,
    }


def teach(server):
    random = np.random.default_rng(0)
    for _ in range(10):
        events = [
            {"features": words(random), "classes": [f"class {random.integers(1000)}"]}
            for _ in range(500)
        ]
        server.request("POST", "/learn", json.dumps({"events": events}).encode())


def words(random):
    return [f"word {number}" for number in set(random.integers(0, 20_000, FEATURES).tolist())]


def rankings():
    random = np.random.default_rng(1)
    bodies = (json.dumps({"features": words(random)}).encode() for _ in range(BODIES))
    head = b"POST /rank HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return [head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies]


class Client:
    """One connection with one request under way."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0.0
        self.is_warm = False  # its first answer has come, so the server has taken the connection
        self.received = b""

    def send(self, request):
        self.sent = time.perf_counter()
        self.socket.sendall(request)

    def receive(self):
        """Return the status once the answer is complete; raises ConnectionError."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("closed")
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.received[:end].lower()
        at = head.index(b"content-length:") + 15
        size = int(head[at:].split(b"\r\n", 1)[0])
        if len(self.received) < end + 4 + size:
            return None
        self.received = b""
        return head[9:12].decode()


def run(port, requests, connections, seconds):
    """Closed loop over so many connections; a closed one is opened again."""
    took = []
    counts = {"200": 0, SHED: 0, OTHER: 0, "reconnects": 0}
    clients = {}
    number = 0
    with epoll() as waiting:

        def connect():
            client = Client(port)
            clients[client.socket.fileno()] = client
            waiting.register(client.socket, EPOLLIN)
            return client

        for _ in range(connections):
            connect()
        open_all(clients.values())
        began = now = time.perf_counter()
        for client in list(clients.values()):
            client.send(requests[number % len(requests)])
            number += 1
        while now < began + seconds:
            for descriptor, _ in waiting.poll(0.1):
                client = clients[descriptor]
                try:
                    status = client.receive()
                except ConnectionError:
                    waiting.unregister(client.socket)
                    client.socket.close()
                    counts["reconnects"] += 1
                    client, status = connect(), OTHER
                now = time.perf_counter()
                if status is None:
                    continue
                counts[status if status in counts else OTHER] += 1
                if status == "200" and client.is_warm:
                    took.append(now - client.sent)
                client.is_warm = True
                client.send(requests[number % len(requests)])
                number += 1
            now = time.perf_counter()
    for client in clients.values():
        client.socket.close()
    answers = counts["200"] + counts[SHED] + counts[OTHER]
    return {
        "rate": counts["200"] / (now - began),
        "p50": float(np.percentile(took, 50)) * 1e3,
        "p99": float(np.percentile(took, 99)) * 1e3,
        "longest": max(took) * 1e3,
        "shed share": counts[SHED] / answers,
        "shed rate": counts[SHED] / (now - began),
        "answers": counts,
    }


def open_all(clients):
    """Return once the server has taken every connection: it takes one in a turn of its loop."""
    for client in clients:
        client.socket.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    for client in clients:
        while client.receive() is None:
            pass
        client.is_warm = True


def show(result):
    heads = ("connections", "accepted/s", "shed/s", "p50 ms", "p99 ms", "longest ms")
    print("".join(f"{head:>13}" for head in heads))
    rows = [*result["steps"].items(), (result["overloaded connections"], result["overloaded"])]
    for connections, each in [*rows, (1, result["after"])]:
        figures = (each["rate"], each["shed rate"], each["p50"], each["p99"], each["longest"])
        print(f"{connections:>13}" + "".join(f"{figure:>13.2f}" for figure in figures))
    print(
        f"saturated by {result['saturating connections']} connections; at ten times as many: p99 of"
        f" accepted rankings {result['p99 ratio']:.1f} x that of one connection, accepted rate"
        f" {result['rate ratio']:.2f} x that at saturation,"
        f" {result['overloaded']['shed share']:.0%} of answers shed"
    )


if __name__ == "__main__":
    sys.exit(main())
