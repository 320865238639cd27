"""Rankings a second of other libraries, beside those of the service in the same run.

River and scikit-learn answer the same bodies behind FastAPI (peer_app.py). Vowpal Wabbit's daemon
takes lines of its own format on a socket and serves one connection at a time, so the service has
one connection beside it; it answers with the probabilities of all classes. All are trained on the
rows that the service has learned; scikit-learn in several passes, the others in one.
"""

import json
import os
import signal
import socket
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from subprocess import DEVNULL, Popen, run
from time import monotonic, perf_counter, sleep

import numpy as np

from benchmarks import load
from benchmarks.process import ServerProcess, cpu_seconds, pin
from benchmarks.report import Cell, Figures, over_rounds
from deploy.ports import free_port

LISTENS_WITHIN = 60.0
PREBUILT = 2000  # distinct requests, sent over and over
PACKAGES = {"River": "river", "scikit-learn": "sklearn", "Vowpal Wabbit": "vowpalwabbit"}
INSTALLED_AS = {"sklearn": "scikit-learn"}

# `python -m vowpalwabbit` does not read what a daemon is sent.
DAEMON = """
import sys
from vowpalwabbit import Workspace
Workspace(arg_list=sys.argv[1:]).run_parser()
"""

Labelled = Sequence[tuple[dict[str, float], str]]
Round = Callable[[], Figures]


@contextmanager
def behind_fastapi(kind: str, rows: Labelled, core: int) -> Iterator[ServerProcess]:
    """Run the application of a kind, trained on the rows."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="manyclass-") as folder:
        file = Path(folder, "rows.json")
        file.write_text(json.dumps(rows), encoding="utf-8")
        arguments = ["benchmarks.peer_app", str(port), kind, str(file)]
        with ServerProcess(arguments, port, {core}, {}) as server:
            yield server


def line_of(features: dict[str, float]) -> str:
    """Return the features in the format of Vowpal Wabbit, whose names have no such signs."""
    signs = str.maketrans(" :|\n", "____")
    return "| " + " ".join(f"{name.translate(signs)}:{value}" for name, value in features.items())


class Daemon:
    """A daemon of Vowpal Wabbit, one regressor against all others for each class."""

    def __init__(self, rows: Labelled, core: int) -> None:
        classes = sorted({name for _, name in rows})
        with tempfile.TemporaryDirectory(prefix="manyclass-") as folder:
            data, model = Path(folder, "rows"), Path(folder, "model")
            lines = (f"{classes.index(name) + 1} {line_of(features)}\n" for features, name in rows)
            data.write_text("".join(lines), encoding="utf-8")
            options = ["--oaa", str(len(classes)), "--probabilities", "--loss_function", "logistic"]
            train = ["--data", str(data), "-f", str(model), "-b", "22", "--quiet", *options]
            run([sys.executable, "-m", "vowpalwabbit", *train], check=True)
            port = free_port()
            daemon = [
                "--daemon",
                "--foreground",
                "--port",
                str(port),
                "--quiet",
                "-t",
                "-i",
                str(model),
            ]
            command = [sys.executable, "-c", DAEMON, *daemon]
            self._process = Popen(command, stderr=DEVNULL, start_new_session=True)
            self._socket = connected(port)
            self._socket.settimeout(LISTENS_WITHIN)
            self._answer(f"{line_of(rows[0][0])}\n".encode())  # the model is loaded
        for pid in self._pids():
            pin(pid, {core})

    def __enter__(self) -> "Daemon":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        os.killpg(self._process.pid, signal.SIGKILL)  # its children too
        self._process.wait()

    def _pids(self) -> list[int]:
        """Return the daemon and its children, one of which has the connection."""
        own = self._process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return [own, *map(int, children)]

    def _cpu_seconds(self) -> float:
        return sum(map(cpu_seconds, self._pids()))

    def one_round(self, lines: Sequence[bytes], seconds: float) -> Figures:
        """Return the figures of one connection that sends the next line after each answer."""
        took = []
        upcoming = cycle(lines)
        cpu = self._cpu_seconds()
        began = now = perf_counter()
        while now - began < seconds:
            sent = now
            self._answer(next(upcoming))
            now = perf_counter()
            took.append(now - sent)
        times = np.array(took)
        return {
            "CPU µs/request": (self._cpu_seconds() - cpu) / len(took) * 1e6,
            "requests/s": len(took) / (now - began),
            "p50 ms": load.milliseconds(times, 50),
            "p99 ms": load.milliseconds(times, 99),
        }

    def _answer(self, line: bytes) -> bytes:
        self._socket.sendall(line)
        answer = b""
        while not answer.endswith(b"\n"):
            part = self._socket.recv(load.BLOCK)
            if not part:
                raise ConnectionError("the daemon closed the connection")
            answer += part
        return answer


def connected(port: int) -> socket.socket:
    """Return a connection, once the daemon listens."""
    deadline = monotonic() + LISTENS_WITHIN
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if monotonic() > deadline:
                raise
            sleep(0.05)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection


def in_turns(name: str, ours: Round, theirs: Round, options: Namespace) -> dict[str, Cell]:
    """Return the row of a peer, measured in turns with the service."""
    ours()
    theirs()  # both are warm
    rounds = [(ours(), theirs()) for _ in range(options.rounds)]
    mine, other = (over_rounds(each) for each in zip(*rounds, strict=True))
    return {
        "": name,
        "ranks/s": other["requests/s"],
        "p50 ms": other["p50 ms"],
        "p99 ms": other["p99 ms"],
        "CPU µs/request": other["CPU µs/request"],
        "x the service's CPU": other["CPU µs/request"] / mine["CPU µs/request"],
        "service: ranks/s": mine["requests/s"],
        "p50": mine["p50 ms"],
        "p99": mine["p99 ms"],
        "CPU µs": mine["CPU µs/request"],
        "note": "",
    }


def missing(name: str, columns: Sequence[str]) -> dict[str, Cell]:
    package = PACKAGES[name]
    note = f"not installed: pip install {INSTALLED_AS.get(package, package)}"
    return {column: None for column in columns} | {"": name, "note": note}


COLUMNS = [
    *("", "ranks/s", "p50 ms", "p99 ms", "CPU µs/request", "x the service's CPU"),
    *("service: ranks/s", "p50", "p99", "CPU µs", "note"),
]


def peer_rows(
    service: Callable[[int], Figures],
    one_round: Callable[[ServerProcess, int], Figures],
    rows: Labelled,
    connections: int,
    options: Namespace,
) -> list[dict[str, Cell]]:
    """Return a row for each peer.

    `service` measures a round of the service on so many connections, `one_round` one of a server.
    """
    table = []
    for name, package in PACKAGES.items():
        if find_spec(package) is None:
            table.append(missing(name, COLUMNS))
        elif package == "vowpalwabbit":
            lines = [f"{line_of(features)}\n".encode() for features, _ in rows[:PREBUILT]]
            with Daemon(rows, options.server_core) as daemon:
                theirs = partial(daemon.one_round, lines, options.seconds)
                title = f"{name}, 1 connection"
                table.append(in_turns(title, partial(service, 1), theirs, options))
        else:
            with behind_fastapi(package, rows, options.server_core) as server:
                theirs = partial(one_round, server, connections)
                ours = partial(service, connections)
                title = f"{name}, {connections} connections"
                table.append(in_turns(title, ours, theirs, options))
    return table
