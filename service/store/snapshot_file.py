"""A state in a file of its own, as a store that holds one snapshot and no events."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from manyclass.core.errors import RulesDiffer, SnapshotError
from manyclass.core.model import Model
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing, StoreError
from manyclass.service.store.protocol import SnapshotInfo

PIECE_BYTES = 2**20
READ_ONLY = "a file holds one state; copy it to a store to go on from there"


class SnapshotFile:
    """The state that `manyclass snapshot save` wrote, for reading only."""

    durability = "nothing is written to it"

    def __init__(self, path: Path) -> None:
        """Read the file once to check it. Raises StoreError."""
        self._path = path
        try:
            self._seq = Model.load(self._pieces()).seq
            facts = path.stat()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        except RulesDiffer as error:
            raise StoreError(f"{path}: {error}", "use the release that wrote it") from error
        except SnapshotError as error:
            raise SnapshotDamaged(0, str(path), str(error)) from error
        self._info = SnapshotInfo(self._seq, facts.st_size, facts.st_mtime)

    @property
    def last_seq(self) -> int:
        """The number of the last event in the state."""
        return self._seq

    @property
    def is_older_than_rules(self) -> bool:
        return False  # it has no log

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Return no events: the file has none."""
        return iter(())

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the only snapshot."""
        return [self._info]

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        """Return the bytes. Raises SnapshotMissing for another number."""
        if seq != self._seq:
            raise SnapshotMissing(seq)
        return self._pieces()

    def append(self, events: Sequence[bytes]) -> int:
        """Raise StoreError, as all methods that write."""
        raise StoreError(f"{self._path} is not a store for a service", READ_ONLY)

    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        """Raise StoreError."""
        raise StoreError(f"{self._path} is not a store for a service", READ_ONLY)

    def delete_snapshot(self, seq: int) -> None:
        """Raise StoreError."""
        raise StoreError(f"{self._path} is not a store for a service", READ_ONLY)

    def trim(self, seq: int) -> None:
        """Do nothing: there are no events."""

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _pieces(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece
