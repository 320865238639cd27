"""A hostile differential run: two ways to answer HTTP get the same requests, and must agree.

python -m load_tests.differential [--requests 200000] [--seed 1] [--slow 50] [--folder DIR]

One service has two workers and its native tier, the other answers all in Python (python_tier.py).
Each has a store of its own. Requests that learn are sent one after the other, rankings and other
reads overlap. Compares status, headers and bodies of all answers, except dates, ids and times; then
the digests of the states, before and after a restart, the counts of the metrics, and the memory of
each service at half of the requests and at the end.
"""

import argparse
import json
import re
import socket
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from os import sched_getaffinity
from pathlib import Path

from benchmarks.process import service
from benchmarks.report import Report, add_json_option
from load_tests.hostile_requests import KEYS, Requests, request
from manyclass.service.http.wire import MOST_HEAD_BYTES

SLOW_CLIENTS = 50  # of each service
PAIRS = 16  # connections to each service; half of them are for plain requests, and attacks
OVERLAPPING = 6  # reads at once, at most
ANSWER_SECONDS = 20.0
MOST_UNUSED_SECONDS = 2.0  # of a connection, which the services close after five
MOST_SENDING_SECONDS = 2.5
QUIET_SECONDS = 0.05  # until a request without an answer is taken for incomplete
SETTLE_SECONDS = 1.0  # until an event whose connection was reset is taken for lost on its way
MOST_GROWTH = 32 * 2**20  # of the memory in the second half, beside a tenth
CLOSING = b"\r\nGET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
NO_LINGER = struct.pack("ii", 1, 0)  # closing resets the connection

SETTINGS = {
    **KEYS,
    **{"shadows": "frequency", "max_concurrent": 1000, "late_label_bytes": 2**18},
    **{"max_body_bytes": 2**20, "max_bytes": 2**24},
}
NATIVE = {"workers": 2}
PYTHON = {"native": False, "workers": 0}

VARYING = re.compile(
    rb'"(?:settings|late_labels|review|disk)":\{[^}]*\}'
    rb'|"(?:learn_seconds|seconds|taken_at|store_unreachable_seconds'
    rb'|resident_bytes|taxonomy_bytes)":[^,}]+'
    rb'|"events":\d+,"bytes":\d+'  # of the history, which holds times
)
MADE_ID = re.compile(rb'"id":"[0-9a-f]{12}-\w+"')
COUNTS = [
    *("request_duration_seconds_count", "rank_duration_seconds_count", "abstained_total"),
    *("learn_events_total", "instances_without_features_total", "delayed_labels_expired_total"),
    *(
        "instances_with_absent_values_total",
        "instances_with_cut_texts_total",
        "shed_total",
        "out_of_memory_total",
    ),
]


@dataclass(frozen=True)
class Answer:
    """One answer, or the bytes behind the last one."""

    status: int
    head: bytes
    body: bytes

    @property
    def comparable(self):
        """The answer without the parts that may differ."""
        is_metrics = b"text/plain; version" in self.head
        body = b"" if is_metrics else MADE_ID.sub(b'"id"', VARYING.sub(b"", self.body))
        if b"application/x-ndjson" in self.head:  # faults of lines come in any order
            body = b"\n".join(sorted(body.split(b"\n")))
        left_out = (b"date:",) if len(body) == len(self.body) else (b"date:", b"content-length:")
        lines = [line for line in self.head.split(b"\r\n") if not line.startswith(left_out)]
        return self.status, lines, body


def parsed(data):
    """Return the first answer in the bytes and its length; None if it is incomplete."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None
    status = int(head[9:12])
    lower = head.lower()
    if b"\r\ntransfer-encoding: chunked" in lower:
        body, at = b"", 0
        while True:
            size, end, _ = rest[at : at + 20].partition(b"\r\n")
            if not end:
                return None
            at += len(size) + 2
            length = int(size, 16)
            if len(rest) < at + length + 2:
                return None
            body += rest[at : at + length]
            at += length + 2
            if not length:
                return Answer(status, head, body), len(head) + 4 + at
    found = re.search(rb"\r\ncontent-length: (\d+)", lower)
    length = int(found[1]) if found else 0
    if len(rest) < length:
        return None
    return Answer(status, head, rest[:length]), len(head) + 4 + length


class Connection:
    """One connection to a service."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.closed = False
        self.used_at = time.monotonic()

    def send(self, data):
        """Send it; the service may have closed the connection."""
        self.socket.settimeout(ANSWER_SECONDS)
        with suppress(OSError):
            self.socket.sendall(data)

    def receive(self, seconds):
        """Receive more bytes; return False if none came in time, or no more will."""
        self.socket.settimeout(max(seconds, 0.001))
        try:
            data = self.socket.recv(1 << 20)
        except TimeoutError:
            return False
        except OSError:
            data = b""
        self.received += data
        self.closed = self.closed or not data
        return bool(data)

    def answers(self, count):
        """Return this many answers, or fewer if the connection closes or no more come in time."""
        found = []
        deadline = time.monotonic() + ANSWER_SECONDS
        while len(found) < count:
            if (first := parsed(self.received)) is not None:
                answer, size = first
                self.received = self.received[size:]
                if answer.status != 100:
                    found.append(answer)
            elif self.closed or not self.receive(deadline - time.monotonic()):
                break
        if found and b"\r\nconnection: close" in found[-1].head:
            while self.receive(deadline - time.monotonic()):
                pass
        return found

    def rest(self):
        """Return all answers until the service closes the connection."""
        found = self.answers(1 << 20)
        return (
            [*found, Answer(0, b"", self.received)] if self.received or not self.closed else found
        )

    def reset(self):
        """Reset it."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.close()

    def close(self):
        self.socket.close()


@dataclass
class Outcome:
    """The counts of a run, and the differences found."""

    sent: int = 0
    compared: int = 0
    resets: int = 0
    lost_by_resets: int = 0
    left_out: int = 0  # exchanges on connections that were closed for want of a request
    kinds: Counter = field(default_factory=Counter)
    statuses: Counter = field(default_factory=Counter)
    memory: list = field(default_factory=list)
    differences: list = field(default_factory=list)
    plainly: dict = field(default_factory=dict)  # requests that native code read, by thread
    sent_until_first: int = 0  # requests until the first difference; 0 without one

    def note(self, kind, pieces, native, python):
        """Record a difference."""
        self.sent_until_first = self.sent_until_first or self.sent
        self.differences.append((kind, pieces, native, python))
        request = repr(pieces)
        native, python = repr(native), repr(python)
        equal = [one == other for one, other in zip(native, python, strict=False)]
        first = (*equal, False).index(False)
        print(f"DIFFERENCE {kind}, request {self.sent}, from character {first} of the answers:")
        print(f"  request: {request[:3000]}{' ...' * (len(request) > 3000)}")
        for name, each in (("native", native), ("python", python)):
            print(f"  {name}: {each[max(first - 300, 0) : first + 300]}", flush=True)


class Run:
    """Sends exchanges to both services and compares the answers."""

    def __init__(self, servers, requests, outcome):
        self.servers = servers
        self.requests = requests
        self.outcome = outcome
        self.pairs = [self._connected() for _ in range(PAIRS)]
        self.next = Counter()  # position among the pairs of each half

    def _connected(self):
        return [Connection(server.port) for server in self.servers]

    def close(self):
        """Close all connections."""
        for connection in (each for pair in self.pairs for each in pair):
            connection.close()

    def go_on(self, count):
        """Send so many requests."""
        end = self.outcome.sent + count
        reads = []
        while self.outcome.sent < end:
            exchange = self.requests.draw()
            self.outcome.sent += exchange.requests
            self.outcome.kinds[exchange.kind] += 1
            is_read = not (exchange.learns or exchange.resets or exchange.answers is None)
            if is_read:
                reads.append(exchange)
            if reads and (len(reads) == OVERLAPPING or not is_read):
                self._exchange(reads)
                reads = []
            if exchange.resets:
                self._reset(exchange)
            elif not is_read:
                self._exchange([exchange])
        if reads:
            self._exchange(reads)

    def _exchange(self, exchanges):
        """Send exchanges on a pair of connections each, at once, and compare the answers."""
        positions = [self._position(exchange) for exchange in exchanges]
        began = time.monotonic()
        for step in range(max(len(each.pieces) for each in exchanges)):
            for position, exchange in zip(positions, exchanges, strict=True):
                for connection in self.pairs[position]:
                    connection.used_at = time.monotonic()
                    if step < len(exchange.pieces):
                        connection.send(exchange.pieces[step])
            pauses = [each.pause for each in exchanges if step + 1 < len(each.pieces)]
            time.sleep(max(pauses, default=0))
        seconds = time.monotonic() - began
        for position, exchange in zip(positions, exchanges, strict=True):
            pair = self.pairs[position]
            if exchange.answers is None:
                answers = self._ended(pair)
            else:
                answers = [connection.answers(exchange.answers) for connection in pair]
            if answers == [[], []] and seconds > MOST_SENDING_SECONDS:  # this machine was busy
                self.outcome.left_out += 1
            else:
                self._compare(exchange, *answers)
            if len(answers[0]) != exchange.answers or any(each.closed for each in pair):
                self._replace(position)

    def _position(self, exchange):
        """Return the pair of connections to use, each of a half in turns."""
        half = PAIRS // 2
        first = 0 if exchange.is_plain or exchange.answers is None or exchange.resets else half
        self.next[first] += 1
        position = first + self.next[first] % half
        if time.monotonic() - self.pairs[position][0].used_at > MOST_UNUSED_SECONDS:
            self._replace(position)
        return position

    def _ended(self, pair):
        """Return the answers to bytes that may be incomplete; close the connection behind them."""
        for connection in pair:
            while not parsed(connection.received) and connection.receive(QUIET_SECONDS):
                pass
        for doubled in range(16):
            for connection in pair:
                if not connection.closed:
                    connection.send(CLOSING * 2**doubled)
            for connection in pair:
                while connection.receive(QUIET_SECONDS):
                    pass
            if all(connection.closed for connection in pair):
                break
        return [connection.rest() for connection in pair]

    def _replace(self, position):
        for connection in self.pairs[position]:
            connection.close()
        self.pairs[position] = self._connected()

    def _compare(self, exchange, native, python):
        self.outcome.compared += len(python)
        self.outcome.statuses.update(each.status for each in python)
        is_failed = any(each.status == 500 for each in (*native, *python))
        is_short = exchange.answers is not None and not (native and python)
        both = [[each.comparable for each in answers] for answers in (native, python)]
        if sum(map(len, exchange.pieces)) > MOST_HEAD_BYTES and exchange.answers is None:
            both = [without_refusal_of_head(answers) for answers in both]
        if both[0] != both[1] or is_failed or is_short:
            self.outcome.note(exchange.kind, exchange.pieces, *both)
        if exchange.kind == "POST snapshots" and b'"taken_at"' in python[0].body:
            seq = json.loads(python[0].body)["seq"]
            self.requests.snapshots = [*self.requests.snapshots, seq][-4:]

    def _reset(self, exchange):
        """Reset the connections behind a request; its event may be learned, once."""
        self.outcome.resets += 1
        before = [seq_of(server) for server in self.servers]
        position = self._position(exchange)
        for connection in self.pairs[position]:
            for piece in exchange.pieces:
                connection.send(piece)
            connection.reset()
        self.pairs[position] = self._connected()
        if not exchange.learns:
            return
        deadline = time.monotonic() + SETTLE_SECONDS
        after = before
        while after != [seq + 1 for seq in before] and time.monotonic() < deadline:
            after = [seq_of(server) for server in self.servers]
        learned = [now - then for now, then in zip(after, before, strict=True)]
        if learned not in ([0, 0], [1, 1], [0, 1], [1, 0]):
            self.outcome.note("event doubled", exchange.pieces, learned[0], learned[1])
        for server, has_learned in zip(self.servers, learned, strict=True):
            if not has_learned:  # the reset was read before the request; bring both to one state
                self.outcome.lost_by_resets += 1
                again = Connection(server.port)
                again.send(b"".join(exchange.pieces))
                again.answers(1)
                again.close()


def without_refusal_of_head(answers):
    """Leave out the last answer if it refuses a head, which is invalid and too large.

    The size of the first read decides which of the two is found first.
    """
    return answers[:-1] if answers and answers[-1][0] in (400, 431) else answers


def seq_of(server):
    return json.loads(server.request("GET", "/readyz"))["seq"]


def digest_of(server):
    connection = Connection(server.port)
    connection.send(request(b"", path=b"/stats?digest=yes", method=b"GET"))
    stats = json.loads(connection.answers(1)[0].body)
    connection.close()
    return stats["seq"], stats["log_seq"], stats["digest"]


def counts_of(server):
    """Return the counts of requests and events; without requests that read the number of events."""
    return {
        (name, *sorted(labels.items())): value
        for name in COUNTS
        for labels, value in server.metric(name)
        if value and labels.get("endpoint") not in ("/readyz", "/metrics")
    }


@contextmanager
def slow_clients(servers, count):
    """Let clients send a byte a second meanwhile, `count` to each service."""
    ending = threading.Event()
    whole = request(b'{"features":["f1"]}')

    def send():
        clients, second = [None] * (count * len(servers)), 0
        while not ending.wait(1):
            for at, client in enumerate(clients):
                try:
                    if client is None:
                        client = clients[at] = Connection(servers[at % len(servers)].port)
                    client.socket.setblocking(False)
                    client.socket.send(whole[(second + at) % 60 :][:1])
                    if not client.socket.recv(4096):
                        client.close()
                        clients[at] = None
                except BlockingIOError:
                    pass
                except OSError:
                    client.close()
                    clients[at] = None
            second += 1
        for client in filter(None, clients):
            client.close()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def compare_ways(requests, seed, slow=0, folder=None, native=NATIVE, common=SETTINGS):
    """Run both services and send the requests; return the outcome.

    `native`: the settings of the first alone; `common`: of both.
    """
    outcome = Outcome()
    cores = sched_getaffinity(0)
    ways = [common | native, common | PYTHON]
    with tempfile.TemporaryDirectory(prefix="manyclass-", dir=folder) as own:
        stores = [f"sqlite:{own}/{at}/manyclass.db" for at in range(2)]
        for at in range(2):
            Path(own, str(at)).mkdir()
        started = [service(store, cores, **way) for store, way in zip(stores, ways, strict=True)]
        with started[0], started[1]:
            servers = started
            with slow_clients(servers, slow), closing(Run(servers, Requests(seed), outcome)) as run:
                for part in range(1, 11):
                    run.go_on(requests * part // 10 - outcome.sent)
                    outcome.memory.append([server.memory()[0] for server in servers])
                    show_part(part, outcome)
            outcome.plainly = {
                f"{what}, {labels['thread']}": int(count)
                for what in ("rankings", "events")
                for labels, count in servers[0].metric(f"plain_{what}_total")
            }
            counts = [counts_of(server) for server in servers]
            for key in sorted({*counts[0], *counts[1]}):
                both = [each.get(key, 0) for each in counts]
                if abs(both[0] - both[1]) > 2 * outcome.resets * (key[0] in COUNTS[:2]):
                    outcome.note("counts", key, *both)
            digests = [digest_of(server) for server in servers]
            if digests[0] != digests[1]:
                outcome.note("digests", (), *digests)
        for at in range(2):  # all events come back out of the log
            with service(stores[at], cores, **ways[at]) as server:
                if digest_of(server) != digests[at]:
                    outcome.note("digest after a restart", at, digests[at], digest_of(server))
    for name, half, end in zip(
        ("native", "python"), outcome.memory[4], outcome.memory[9], strict=True
    ):
        if end > half * 1.1 + MOST_GROWTH:
            outcome.note(f"memory of {name} at half and at the end", (), half, end)
    return outcome


def show_part(part, outcome):
    memory = ", ".join(f"{each / 2**20:.0f} MiB" for each in outcome.memory[-1])
    print(
        f"{part * 10} %: {outcome.sent:,} requests, {outcome.compared:,} answers compared,"
        f" {len(outcome.differences)} differences, memory {memory}",
        flush=True,
    )


def repetition(outcome, chosen):
    """Return the command that repeats a run up to its first difference, which depends on a seed."""
    options = f"--seed {chosen.seed} --requests {outcome.sent_until_first}"
    slow = f" --slow {chosen.slow}" * (chosen.slow != SLOW_CLIENTS)
    return f"python -m load_tests.differential {options}{slow}{' --open' * chosen.open}"


def main():
    parser = argparse.ArgumentParser(description="Hostile requests to two ways of answering HTTP.")
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    slow = parser.add_argument("--slow", type=int, default=SLOW_CLIENTS)
    slow.help = "slow clients of each service"
    parser.add_argument("--folder", type=Path, help="where the stores are made")
    parser.add_argument("--open", action="store_true", help="services without keys")
    add_json_option(parser)
    chosen = parser.parse_args()
    report = Report(chosen)
    began = time.monotonic()
    common = {k: v for k, v in SETTINGS.items() if not (chosen.open and k in KEYS)}
    outcome = compare_ways(chosen.requests, chosen.seed, chosen.slow, chosen.folder, common=common)
    report.table(
        "A hostile differential run",
        [
            {
                "seed": chosen.seed,
                "requests": outcome.sent,
                "answers compared": outcome.compared,
                "differences": len(outcome.differences),
                "status 500": outcome.statuses[500],
                **{f"plain {what}": count for what, count in outcome.plainly.items()},
                "resets": outcome.resets,
                "lost by resets": outcome.lost_by_resets,
                "left out": outcome.left_out,
                "seconds": time.monotonic() - began,
            }
        ],
    )
    statuses = sorted(outcome.statuses.items())
    report.table("Answers", [{"status": str(each), "answers": count} for each, count in statuses])
    kinds = sorted(outcome.kinds.items())
    report.table("Exchanges", [{"kind": each, "sent": count} for each, count in kinds])
    report.close()
    print("verdict:", "different" if outcome.differences else "equal")
    if outcome.differences:
        print("repeat it:", repetition(outcome, chosen))
    sys.exit(bool(outcome.differences))


if __name__ == "__main__":
    main()
