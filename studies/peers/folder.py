"""A folder for the files of one estimator, which goes when the estimator goes."""

import shutil
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize


def own_folder(owner: object) -> Path:
    """A new folder, removed with all that is in it when the owner is no longer used."""
    folder = Path(mkdtemp(prefix="manyclass-peer-"))
    finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


def bytes_of(path: Path) -> int:
    """The size of a file, or of all files of a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
