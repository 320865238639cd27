"""Work in a process of its own: it can be stopped, and its end frees all its memory."""

import multiprocessing
import signal
import tempfile
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from resource import RLIMIT_CORE, RLIMIT_CPU, setrlimit
from typing import Any, TypeVar

Result = TypeVar("Result")

GRACE = 5  # CPU seconds between the signal to stop and the kill


class Failed(Exception):
    """The work raised, or its process died; the message says how."""


class Stopped(Failed):
    """The work exceeded its CPU seconds."""


def apart(work: Callable[[], Result], seconds: int) -> Result:
    """Return the result of the work, done by a fork of this process; it is pickled.

    Raises Failed with the error of the work, Stopped if it takes more CPU seconds than these. A
    program started by the work has as many of its own. Temporary files are removed in the end.
    """
    if seconds < 1:
        raise ValueError(f"a process needs at least one CPU second, not {seconds}")
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="manyclass-") as folder, here:
        process = context.Process(target=_do, args=(work, seconds, folder, there))
        with warnings.catch_warnings():  # the fork does not need the threads of libraries
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        there.close()
        try:
            result, error = here.recv()
        except (EOFError, OSError):  # no result, or half of it
            process.join()
            if process.exitcode == -signal.SIGXCPU:
                raise Stopped(f"stopped after {seconds:,} CPU seconds") from None
            raise Failed(f"its process died, exit code {process.exitcode}") from None
        process.join()
    if error is not None:
        raise Failed(error)
    found: Result = result
    return found


def _do(work: Callable[[], Any], seconds: int, folder: str, there: Connection) -> None:
    tempfile.tempdir = folder
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    setrlimit(RLIMIT_CORE, (0, 0))
    setrlimit(RLIMIT_CPU, (seconds, seconds + GRACE))
    try:
        there.send((work(), None))
    except Exception as error:  # of any program; `apart` raises it again
        there.send((None, f"{type(error).__name__}: {error}"))
