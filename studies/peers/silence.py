"""Silence for packages that print."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_output() -> Iterator[None]:
    """Discard the output of this process, native code included, to its standard streams."""
    streams = {1: sys.stdout, 2: sys.stderr}
    for stream in streams.values():
        stream.flush()
    kept = {number: os.dup(number) for number in streams}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in streams:
            os.dup2(nowhere, number)
        yield
    finally:
        for number, stream in streams.items():
            stream.flush()
            os.dup2(kept[number], number)
            os.close(kept[number])
        os.close(nowhere)
