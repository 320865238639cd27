"""The steps of a check: run a command, compare, print what was done and how long it took."""

import shlex
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class CheckFailed(Exception):
    """A check found a fault. The text says what happened."""


def output_of(
    *command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Return what a command prints; CheckFailed, with the end of it, if the command fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd, env=env
    )
    if done.returncode:
        end = "\n".join(done.stdout.splitlines()[-20:])
        raise CheckFailed(f"{shlex.join(map(str, command))} exited with {done.returncode}:\n{end}")
    return done.stdout.strip()


def expect(found: object, wanted: object) -> None:
    """Raise CheckFailed unless both are equal."""
    if found != wanted:
        raise CheckFailed(f"expected {wanted!r}, found {found!r}")


def expect_failure(what: str, *command: str | Path) -> str:
    """Return how a command fails; CheckFailed if it succeeds."""
    try:
        output = output_of(*command)
    except CheckFailed as failure:
        return str(failure)
    raise CheckFailed(f"{what} should have failed, and printed {output!r}")


def step(title: str, work: Callable[..., T], *arguments: object) -> T:
    """Do the work, print how long it took, and return its result."""
    begin = time.monotonic()
    print(f"{title} ...", end=" ", flush=True)
    result = work(*arguments)
    print(f"{time.monotonic() - begin:.0f} s", flush=True)
    return result
