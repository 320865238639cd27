"""The manifest of a snapshot in Redis: one line of text that begins with the identity of its
chunks. A chunk is a value of its own: its checksum, then its bytes.
"""

import re
from dataclasses import dataclass
from secrets import token_hex

from manyclass.service.store.batch import checksum_of
from manyclass.service.store.errors import SnapshotDamaged
from manyclass.service.store.protocol import SnapshotInfo

TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of a snapshot."""

    seq: int
    identity: str  # of its chunks, see `new_identity`
    taken_at: float
    size: int
    chunks: int
    digest: bytes  # of the chunks' checksums

    @property
    def info(self) -> SnapshotInfo:
        return SnapshotInfo(self.seq, self.size, self.taken_at)

    def text(self) -> bytes:
        """Return the manifest as the server stores it."""
        line = f"{self.identity} {self.taken_at!r} {self.size} {self.chunks} {self.digest.hex()}"
        return f"{line} {_checksum(self.seq, line)}".encode()


def new_identity(store: str) -> str:
    """Return a new identity for the chunks of a snapshot of this store.

    The scripts accept letters and digits only.
    """
    return store + token_hex(TOKEN_BYTES)


def check_store(manifest: Manifest, store: str) -> None:
    """Raise SnapshotDamaged when a snapshot was taken of another store."""
    if manifest.identity[: -2 * TOKEN_BYTES] != store:
        raise SnapshotDamaged(manifest.seq, "manifest", "it belongs to another store")


def parse_manifest(seq: int, text: bytes) -> Manifest:
    """Return the manifest. Raises SnapshotDamaged if its checksum does not match."""
    line, _, checksum = text.decode(errors="replace").rpartition(" ")
    if _checksum(seq, line) != checksum:
        raise SnapshotDamaged(seq, "manifest", "its checksum does not match")
    identity, taken_at, size, chunks, digest = line.split(" ")
    return Manifest(seq, identity, float(taken_at), int(size), int(chunks), bytes.fromhex(digest))


def list_snapshots(manifests: dict[bytes, bytes]) -> list[SnapshotInfo]:
    """Return the snapshots, newest first; one with a damaged manifest has 0 bytes."""
    infos = []
    for key, text in manifests.items():
        if not re.fullmatch(rb"\d+", key):
            continue  # not a key of ours
        seq = int(key)
        try:
            infos.append(parse_manifest(seq, text).info)
        except SnapshotDamaged:
            infos.append(SnapshotInfo(seq, 0, 0.0))
    return sorted(infos, key=lambda info: -info.seq)


def _checksum(seq: int, line: str) -> str:
    return checksum_of(f"{seq} {line}".encode()).hex()
