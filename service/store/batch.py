"""The layout of the events of one append in one value, and their checksum.

    body:  length of event 1 | ... | length of event n | event 1 | ... | event n

Lengths have 32 bits, little-endian.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from struct import pack, unpack_from

from manyclass.service.store.errors import StoreError

CHECKSUM_BYTES = 16
LENGTH_BYTES = 4

# hashlib releases the GIL for pieces of 2048 bytes and more. While an event loop is busy, taking
# it back costs up to the interpreter's switch interval (5 ms), a hundred times the hash itself.
PIECE_BYTES = 2047


def checksum_of(content: bytes | memoryview) -> bytes:
    """Return a checksum of the content."""
    return blake2b(content, digest_size=CHECKSUM_BYTES).digest()


def join_batch(events: Sequence[bytes]) -> bytes:
    """Return the body with these events."""
    return b"".join((pack(f"<{len(events)}I", *map(len, events)), *events))


def join_batch_within(most: int, events: Sequence[bytes]) -> bytes:
    """Return the body with these events. Raises StoreError above `most` bytes."""
    body = join_batch(events)
    if len(body) > most:
        raise StoreError(
            f"{len(events)} events take {len(body)} bytes; {most} fit in one append",
            "send fewer events at once",
        )
    return body


def split_batch(body: bytes, count: int) -> list[bytes]:
    """Return the `count` events of a body. Raises ValueError if it has another number."""
    start = LENGTH_BYTES * count
    if not 0 < start <= len(body):
        raise ValueError(f"{len(body)} bytes cannot hold {count} events")
    ends = list(accumulate(unpack_from(f"<{count}I", body), initial=start))
    if ends[-1] != len(body):
        raise ValueError(f"{count} events take {ends[-1]} bytes and there are {len(body)}")
    return [body[begin:end] for begin, end in pairwise(ends)]


def batch_checksum(first_seq: int, last_seq: int, body: bytes, head: bytes = b"") -> bytes:
    """Return a checksum of a short `head`, the numbers of the events and their body.

    The GIL is not released.
    """
    checksum = blake2b(head + pack("<qq", first_seq, last_seq), digest_size=CHECKSUM_BYTES)
    view = memoryview(body)
    for begin in range(0, len(body), PIECE_BYTES):
        checksum.update(view[begin : begin + PIECE_BYTES])
    return checksum.digest()
