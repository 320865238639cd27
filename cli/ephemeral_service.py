"""A temporary service with an empty store on a free port."""

import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT, Popen, TimeoutExpired
from tempfile import TemporaryDirectory

from manyclass.client.client import Client

START_SECONDS = 30.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.05


class EphemeralServiceFailed(Exception):
    """The service ended, or was not ready in time; `log` is its output."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__(f"{reason}\n{log}".rstrip())
        self.reason = reason
        self.log = log


@contextmanager
def ephemeral_service(environment: Mapping[str, str]) -> Iterator[str]:
    """Start a service with an empty store, yield its URL, then stop it and remove its files."""
    with TemporaryDirectory(prefix="manyclass-") as folder:
        port = _free_port()
        log = Path(folder, "service.log")
        command = [
            *(sys.executable, "-P", "-m", "manyclass", "serve"),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--store", f"sqlite:{Path(folder, 'manyclass.db')}"),
        ]
        with log.open("wb") as output:
            process = Popen(command, env=dict(environment), stdout=output, stderr=STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(url, process, log)
            yield url
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_until_ready(url: str, process: Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    with Client(url) as client:
        while not client.is_ready():
            if process.poll() is not None:
                raise EphemeralServiceFailed("the service ended at once", log.read_text())
            if time.monotonic() > deadline:
                raise EphemeralServiceFailed("the service was not ready in time", log.read_text())
            time.sleep(POLL_SECONDS)


def _end(process: Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except TimeoutExpired:
        process.kill()
        process.wait()
