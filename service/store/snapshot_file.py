"""A state in a file of its own, to be copied like a store with one snapshot and no events."""

from collections.abc import Iterator
from pathlib import Path

from manyclass.core.errors import RulesDiffer, SnapshotError
from manyclass.core.model import Model
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing, StoreError
from manyclass.service.store.protocol import SnapshotInfo

PIECE_BYTES = 2**20


class SnapshotFile:
    """The state that `manyclass snapshot save` wrote."""

    def __init__(self, path: Path) -> None:
        """Read the file once to check it. Raises StoreError."""
        self._path = path
        try:
            seq = Model.load(self._pieces()).seq
            facts = path.stat()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        except RulesDiffer as error:
            raise StoreError(f"{path}: {error}", "use the release that wrote it") from error
        except SnapshotError as error:
            raise SnapshotDamaged(0, str(path), str(error)) from error
        self._info = SnapshotInfo(seq, facts.st_size, facts.st_mtime)

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Return no events: the file has none."""
        return iter(())

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the only snapshot."""
        return [self._info]

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        """Return the bytes. Raises SnapshotMissing for another number."""
        if seq != self._info.seq:
            raise SnapshotMissing(seq)
        return self._pieces()

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _pieces(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece
