"""The form of a segment: consecutive events of the log with their outcomes, compressed.

    version u8 | zstd of: count u32 | flag u8 of each | outcome i32 of each | batch.py's body

Little-endian. Flag 1: a rebuild has rewritten the amended event. Flag 2: the event is gone, because
of a rebuild or because it had no effect.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from struct import error as StructError
from struct import pack, unpack_from

from manyclass.service.store.batch import join_batch, split_batch

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

VERSION = 1
LEVEL = 3
AS_SENT, CORRECTED, GONE = 0, 1, 2  # flags


class SegmentDamaged(ValueError):
    """The bytes are not a segment."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive events: `payloads` as in the log, empty for an event that is gone."""

    first_seq: int
    payloads: Sequence[bytes]
    outcomes: Sequence[int]
    flags: Sequence[int]

    @property
    def last_seq(self) -> int:
        """The number of the last event."""
        return self.first_seq + len(self.payloads) - 1

    def between(self, after: int, last_seq: int) -> "Segment":
        """Return the events after `after`, up to `last_seq`."""
        begin, end = (max(0, seq + 1 - self.first_seq) for seq in (after, last_seq))
        payloads, outcomes = self.payloads[begin:end], self.outcomes[begin:end]
        return Segment(self.first_seq + begin, payloads, outcomes, self.flags[begin:end])

    def packed(self) -> bytes:
        """Return the bytes of the segment."""
        count = len(self.payloads)
        head = pack(f"<I{count}B{count}i", count, *self.flags, *self.outcomes)
        return bytes([VERSION]) + zstd.compress(head + join_batch(self.payloads), LEVEL)

    @classmethod
    def unpacked(cls, first_seq: int, body: bytes) -> "Segment":
        """Return the segment of these bytes. Raises SegmentDamaged."""
        if body[:1] != bytes([VERSION]):
            raise SegmentDamaged(f"the version of the segment is {body[:1].hex() or 'missing'}")
        try:
            raw = zstd.decompress(body[1:])
            (count,) = unpack_from("<I", raw)
            values = unpack_from(f"<{count}B{count}i", raw, 4)
            payloads = split_batch(raw[4 + 5 * count :], count)
        except (zstd.ZstdError, StructError, ValueError) as error:
            raise SegmentDamaged(str(error)) from error
        return cls(first_seq, payloads, values[count:], values[:count])
