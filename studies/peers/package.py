"""The packages of the peers, imported only when one is made; their files and their output."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from weakref import finalize


class PeerMissing(ImportError):
    """The package of a peer is not installed. `package` is its name for pip."""

    hint = "`make studies-env` installs the packages of all peers in .venv-studies"

    def __init__(self, package: str, reason: str) -> None:
        super().__init__(f"needs the package {package}, which cannot be imported ({reason})")
        self.package = package

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.hint}"


def imported(module: str, package: str) -> Any:
    """Return this module of this package; PeerMissing if it cannot be imported."""
    try:
        return import_module(module)
    except ImportError as reason:
        raise PeerMissing(package, str(reason)) from reason


def own_folder(owner: object) -> Path:
    """Return a new folder, removed with its contents when the owner is garbage."""
    folder = Path(mkdtemp(prefix="manyclass-peer-"))
    finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


def bytes_of(path: Path) -> int:
    """Return the size of a file, or of all files of a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


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
