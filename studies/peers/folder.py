"""A folder for the files of one estimator, removed with the estimator."""

import shutil
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize


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
