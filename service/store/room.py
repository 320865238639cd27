"""The room on the disk of a store."""

import shutil
from typing import NamedTuple

from manyclass.service.store import sqlite_path


class Room(NamedTuple):
    """The bytes of a file system: those still free, and all."""

    free: int
    total: int


def room_of(url: str) -> Room | None:
    """Return the room for the store of a URL, None if it has no file here. Blocks.

    Return None too while the folder of the file cannot be read: the store itself reports that.
    """
    path = sqlite_path(url)
    if path is None:
        return None
    try:
        usage = shutil.disk_usage(path.parent)
    except OSError:
        return None
    return Room(usage.free, usage.total)
