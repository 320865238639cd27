"""The service under check: start it as a process, teach it, rank, stop it."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from checking import CheckFailed

START_SECONDS = 120
STOP_SECONDS = 60
STOPPED = "Application shutdown complete"  # in the log, once the last snapshot is taken


def ask(port: int, path: str, body: object = None) -> Any:
    """Return the answer of the service on this port; POST if there is a body."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def teach(port: int) -> None:
    """Teach the service one event."""
    learned = ask(port, "/learn", {"text": "The goalie stopped the puck", "classes": ["hockey"]})
    if learned["accepted"] != 1:
        raise CheckFailed(f"/learn answered {learned}")


def check_ranking(port: int) -> None:
    """Raise CheckFailed unless the service knows what `teach` taught."""
    ranked = ask(port, "/rank", {"text": "a puck"})["ranked"]
    if [each["class"] for each in ranked] != ["hockey"]:
        raise CheckFailed(f"/rank answered {ranked}, and should have found the class hockey")


@contextmanager
def serving(
    command: Sequence[str | Path],
    port: int,
    log: Path,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[int]:
    """Run a service until the block ends, and yield its process id once it is ready.

    The service is stopped by SIGTERM, and has to log that it stopped.
    """
    with log.open("w") as written:
        process = subprocess.Popen(
            command, stdout=written, stderr=written, env=environment, cwd=folder
        )
    try:
        _wait_until_ready(process, port, log)
        service = _last_descendant(process.pid)
        yield service
        os.kill(service, signal.SIGTERM)
        process.wait(STOP_SECONDS)
        if STOPPED not in log.read_text():  # the exit status is that of the signal
            raise CheckFailed(f"SIGTERM did not stop it cleanly:\n{log.read_text()}")
    finally:
        if process.poll() is None:
            os.kill(_last_descendant(process.pid), signal.SIGKILL)
            process.kill()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise CheckFailed(f"it exited with {process.returncode}:\n{log.read_text()}")
        try:
            ask(port, "/readyz")
            return
        except OSError:  # the service does not listen yet, or answers 503
            time.sleep(0.2)
    raise CheckFailed(f"it was not ready after {START_SECONDS} s:\n{log.read_text()}")


def _last_descendant(pid: int) -> int:
    """Return the child of the child ... of a process: a runner starts the service as its last."""
    while children := _children(pid):
        pid = max(children)
    return pid


def _children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]
