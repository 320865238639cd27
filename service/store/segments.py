"""The part of a store that keeps the segments of the history."""

from dataclasses import dataclass
from typing import Protocol, cast

from manyclass.service.store.protocol import StoredState


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """A stored segment: events `first_seq` to `last_seq` of the log."""

    first_seq: int
    last_seq: int
    bytes: int
    amendments: int  # events in it that amend others, and were not rebuilt yet


class SegmentStore(Protocol):
    """Keeps segments in the order of their events; any thread may call it at any time."""

    def segments(self) -> list[SegmentInfo]:
        """Return the segments, oldest first."""

    def save_segment(self, info: SegmentInfo, body: bytes) -> None:
        """Save a segment durably, in place of one that ends with the same event."""

    def read_segment(self, last_seq: int) -> bytes:
        """Return the bytes of the segment that ends with this event.

        Raise StoreDamaged if they are missing, or differ from the saved ones.
        """

    def delete_segments(self, last_seq: int) -> None:
        """Delete the segments that end at or before this event."""

    def scrub(self) -> None:
        """Leave no bytes of deleted or replaced rows in anything that the store has written."""


def segments_of(store: StoredState) -> SegmentStore | None:
    """Return the store as a store of segments; None if it keeps none."""
    return cast(SegmentStore, store) if hasattr(store, "save_segment") else None
