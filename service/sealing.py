"""Messages between the processes on a store: bytes preceded by a checksum."""

from typing import Final
from zlib import crc32

import msgspec

SEAL_BYTES: Final = 4

_encode = msgspec.msgpack.Encoder().encode


def sealed(message: msgspec.Struct) -> bytes:
    """Return the message as bytes with a checksum."""
    packed = _encode(message)
    return crc32(packed).to_bytes(SEAL_BYTES, "little") + packed


def unsealed(body: bytes) -> bytes:
    """Return the bytes of a message without the checksum. Raises DecodeError for damaged bytes."""
    packed = body[SEAL_BYTES:]
    if body[:SEAL_BYTES] != crc32(packed).to_bytes(SEAL_BYTES, "little"):
        raise msgspec.DecodeError("the checksum does not match")
    return packed
