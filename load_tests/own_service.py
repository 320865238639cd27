"""The service of a load test, on one core; its clients have the other."""

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.process import CHECKOUT, ServerProcess, service_on_sqlite
from benchmarks.report import add_json_option


def parser_of(about: str) -> ArgumentParser:
    """Return a command line with `--source` and `--json`."""
    parser = ArgumentParser(description=about)
    parser.add_argument("--source", type=Path, default=CHECKOUT)
    add_json_option(parser)
    return parser


@contextmanager
def own_service(source: Path) -> Iterator[ServerProcess]:
    """Serve from the checkout `source`, with a new SQLite store; yield the server."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    with service_on_sqlite({cores[0]}, source=source) as server:
        yield server
