"""The manifest of a snapshot in Redis: one line of text that begins with what its chunks are
known by. A chunk is a value of its own: its checksum, then its bytes.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex

from manyclass.service.store.batch import CHECKSUM_BYTES
from manyclass.service.store.errors import SnapshotDamaged
from manyclass.service.store.protocol import SnapshotInfo

TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a snapshot consists of."""

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
        """As it is kept."""
        line = f"{self.identity} {self.taken_at!r} {self.size} {self.chunks} {self.digest.hex()}"
        return f"{line} {_checksum(self.seq, line)}".encode()


def new_identity(store: str) -> str:
    """Return what the chunks of a snapshot of this store are known by; it is never used twice.

    The scripts take letters and digits for an identity, and nothing else.
    """
    return store + token_hex(TOKEN_BYTES)


def check_store(manifest: Manifest, store: str) -> None:
    """Raise SnapshotDamaged when a snapshot was taken of another store.

    Releases that did not note the store wrote the token alone; their snapshots are taken for those
    of this store.
    """
    noted = manifest.identity[: -2 * TOKEN_BYTES]
    if noted and noted != store:
        raise SnapshotDamaged(manifest.seq, "manifest", "it belongs to another store")


def parse_manifest(seq: int, text: bytes) -> Manifest:
    """The manifest; SnapshotDamaged when it is not as it was written."""
    line, _, checksum = text.decode(errors="replace").rpartition(" ")
    if _checksum(seq, line) != checksum:
        raise SnapshotDamaged(seq, "manifest", "its checksum does not fit")
    identity, taken_at, size, chunks, digest = line.split(" ")
    return Manifest(seq, identity, float(taken_at), int(size), int(chunks), bytes.fromhex(digest))


def list_snapshots(manifests: dict[bytes, bytes]) -> list[SnapshotInfo]:
    """The snapshots, newest first, a damaged manifest as one of no bytes."""
    infos = []
    for key, text in manifests.items():
        if not re.fullmatch(rb"\d+", key):
            continue  # nobody has ever listed that
        seq = int(key)
        try:
            infos.append(parse_manifest(seq, text).info)
        except SnapshotDamaged:
            infos.append(SnapshotInfo(seq, 0, 0.0))
    return sorted(infos, key=lambda info: -info.seq)


def checksum_of_chunk(body: bytes | memoryview) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()


def _checksum(seq: int, line: str) -> str:
    return blake2b(f"{seq} {line}".encode(), digest_size=CHECKSUM_BYTES).hexdigest()
