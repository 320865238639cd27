"""Measurements in processes of their own, with the package of this checkout or of another one.

A benchmark that calls `answer_tasks` when its command line has WORKER can be run by `Worker`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import Figures

WORKER = "--worker"


class Worker:
    """A process of a benchmark, whose package `manyclass` is that in `source`, if given."""

    def __init__(self, module: str, *arguments: str | Path, source: Path | None = None) -> None:
        path = {} if source is None else {"PYTHONPATH": str(source.absolute())}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, WORKER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | path,
        )

    def measure(self, *task: object) -> Figures:
        """Return the figures of a task; SystemExit if the process ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(task), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self._process.args!r} ended")
        figures: Figures = json.loads(answer)
        return figures

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def answer_tasks(measure: Callable[..., Figures]) -> None:
    """Do the tasks of a `Worker`: arguments come in, figures go out."""
    for line in sys.stdin:
        print(json.dumps(measure(*json.loads(line))), flush=True)
