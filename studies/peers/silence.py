"""Keeps what packages print out of the output of a comparison."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_output() -> Iterator[None]:
    """What this process, native code included, writes to its standard streams goes nowhere."""
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
