"""Snapshots come in chunks of any size and are kept in chunks of one size.

Each chunk has a checksum, and the manifest a digest: the checksum of these checksums.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

from manyclass.service.store.batch import CHECKSUM_BYTES, checksum_of
from manyclass.service.store.errors import SnapshotDamaged


def write_chunks(
    chunks: Iterable[bytes | memoryview], size: int, put: Callable[[int, bytes, bytes], object]
) -> tuple[int, int, bytes]:
    """Give `put` the number, checksum and bytes of each chunk of `size`.

    Return the number of all bytes, the number of chunks, and the digest.
    """
    digest = blake2b(digest_size=CHECKSUM_BYTES)
    total = count = 0
    for body in recut(chunks, size):
        checksum = checksum_of(body)
        put(count, checksum, body)
        digest.update(checksum)
        total += len(body)
        count += 1
    return total, count, digest.digest()


def check_chunks(
    seq: int, digest: bytes, found: Iterable[tuple[bytes, bytes] | None]
) -> Iterator[bytes]:
    """Yield the bytes of each chunk of snapshot `seq`, after its check.

    `found` yields checksum and bytes of each, None for a missing one. Raise SnapshotDamaged at the
    first chunk that does not fit, or at the end if they are not those of the digest.
    """
    total = blake2b(digest_size=CHECKSUM_BYTES)
    for number, chunk in enumerate(found):
        if chunk is None:
            raise SnapshotDamaged(seq, f"chunk {number}", "it is missing")
        checksum, body = chunk
        if not isinstance(body, bytes) or checksum_of(body) != checksum:
            raise SnapshotDamaged(seq, f"chunk {number}", "its checksum does not match")
        total.update(checksum)
        yield body
    if total.digest() != digest:
        raise SnapshotDamaged(seq, "manifest", "its chunks are not the ones it lists")


def recut(chunks: Iterable[bytes | memoryview], size: int) -> Iterator[bytes]:
    """Yield the same bytes in chunks of `size`, the last one shorter; nothing without bytes."""
    pending = bytearray()
    for chunk in chunks:
        view = memoryview(chunk)
        if view.nbytes == 0:
            continue  # a view with an empty dimension cannot be cast
        view = view.cast("B")
        begin = 0
        while begin < len(view):
            end = begin + size - len(pending)
            pending += view[begin:end]
            begin = end
            if len(pending) == size:
                yield bytes(pending)
                pending.clear()
    if pending:
        yield bytes(pending)
