"""A server in a process of its own, pinned to cores, with its CPU time and memory."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Self

READY_WITHIN = 60.0
STOPPED_WITHIN = 60.0


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of all threads of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> tuple[int, int]:
    """Return the resident bytes of a process now, and at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(kilobytes["VmRSS"]) * 1024, int(kilobytes["VmHWM"]) * 1024


class ServerProcess:
    """Runs `python -m MODULE ...` while entered; ready once GET `ready` returns 200.

    Its log is printed only after a failure.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        port: int,
        cores: Collection[int],
        environment: Mapping[str, str],
        ready: str,
    ) -> None:
        self.port = port
        self.ready = ready
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
        self.pin(self.cores)
        try:
            self._wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            self._show_log()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    def pin(self, cores: Collection[int]) -> None:
        """Keep all its threads on these cores."""
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)

    def cpu_seconds(self) -> float:
        """Return the user and system time of all its threads so far."""
        return cpu_seconds(self.pid)

    def memory(self) -> tuple[int, int]:
        """Return its resident bytes now, and at most."""
        return memory(self.pid)

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
                self.request("GET", self.ready)
            except (OSError, RuntimeError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return
