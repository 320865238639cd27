"""Servers in processes of their own, pinned to cores, with their CPU time and memory."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final, Self

from prometheus_client.parser import text_string_to_metric_families

from deploy.ports import free_port

CHECKOUT: Final = Path(__file__).resolve().parents[1]
READY_WITHIN = 60.0
STOPPED_WITHIN = 60.0


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of all threads of a process so far, to the nanosecond."""
    # Linux's number for the CPU clock of a process; /proc/PID/stat counts in steps of 10 ms.
    return time.clock_gettime((~pid << 3) | 2)


def pin(pid: int, cores: Collection[int]) -> None:
    """Keep all threads of a process on these cores."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


class ServerProcess:
    """Runs `python -m MODULE ...` while entered; ready once GET /readyz returns 200.

    Its log is printed only after a failure.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        port: int,
        cores: Collection[int],
        environment: Mapping[str, str],
    ) -> None:
        self.port = port
        self.cores = cores
        self.process: subprocess.Popen[bytes] | None = None
        self.command = [sys.executable, "-m", *arguments]
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("MANYCLASS_")}
        self.environment = {**inherited, **environment}

    def __enter__(self) -> Self:
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdout=subprocess.DEVNULL, stderr=self.log
        )
        pin(self.pid, self.cores)
        try:
            self._wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            self._show_log()
            self.log.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOPPED_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if kind is not None:
            self._show_log()
        self.log.close()

    def cpu_seconds(self) -> float:
        """Return the user and system time of all its threads so far."""
        return cpu_seconds(self.pid)

    def memory(self) -> tuple[int, int]:
        """Return its resident bytes now, and at most."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
        return int(kilobytes["VmRSS"]) * 1024, int(kilobytes["VmHWM"]) * 1024

    def metric(self, name: str) -> list[tuple[dict[str, str], float]]:
        """Return the labels and value of each sample of a metric."""
        families = text_string_to_metric_families(self.request("GET", "/metrics").decode())
        samples = (sample for family in families for sample in family.samples)
        return [(each.labels, each.value) for each in samples if each.name == f"manyclass_{name}"]

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the body of the response, on a connection of its own; RuntimeError unless 2xx."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=600)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status // 100 != 2:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500]!r}")
        return content

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def _show_log(self) -> None:
        self.log.seek(0)
        sys.stderr.write(self.log.read().decode(errors="replace"))

    def _wait_until_ready(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + READY_WITHIN
        while True:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.command} ended with {self.process.returncode}")
            try:
                self.request("GET", "/readyz")
            except (OSError, RuntimeError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return


def service(
    store: str,
    cores: Collection[int],
    source: Path = CHECKOUT,
    native: bool = True,
    **settings: object,
) -> ServerProcess:
    """Return the service of a checkout, with or without its native tier.

    It takes no snapshots unless the settings say so.
    """
    port = free_port()
    given = {"snapshot_seconds": 0, "snapshot_events": 0, **settings, "port": port, "store": store}
    environment = {f"MANYCLASS_{name.upper()}": str(value) for name, value in given.items()}
    environment["PYTHONPATH"] = str(source.absolute() / "src")
    program = ["manyclass", "serve"] if native else ["load_tests.python_tier"]
    return ServerProcess(program, port, cores, environment)


@contextmanager
def service_on_sqlite(
    cores: Collection[int],
    folder: Path | None = None,
    source: Path = CHECKOUT,
    native: bool = True,
    **settings: object,
) -> Iterator[ServerProcess]:
    """Run a service on a new SQLite store, which is removed in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="manyclass-", dir=folder) as own,
        service(f"sqlite:{own}/manyclass.db", cores, source, native, **settings) as server,
    ):
        yield server


def own_process() -> ProcessPoolExecutor:
    """Return an executor of one new process, whose memory holds nothing of this one."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
