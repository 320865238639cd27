"""The part of a store that keeps the segments of the history."""

from collections.abc import Iterable
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
    checksum: str = ""  # of its bytes, in a shared store: tells a rewritten one from the former


class SegmentStore(Protocol):
    """Keeps segments in the order of their events; any thread may call it at any time."""

    def segments(self) -> list[SegmentInfo]:
        """Return the segments, oldest first."""

    def save_segment(self, info: SegmentInfo, body: bytes) -> None:
        """Save a segment durably, in place of one that ends with the same event."""

    def read_segment(self, last_seq: int) -> bytes:
        """Return the bytes of the segment that ends with this event.

        Raise SegmentMissing without it, StoreDamaged if its bytes are lost or not those saved.
        """

    def delete_segments(self, last_seq: int) -> None:
        """Delete the segments that end at or before this event."""

    def save_base(self, seq: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Save a snapshot with which the history begins; the log may begin later."""

    def scrub(self) -> None:
        """Leave no bytes of deleted or replaced rows in anything that the store has written."""


class SharedSegments(SegmentStore, Protocol):
    """The segments of a store that several processes use; only the leader changes them.

    In other processes changes raise StoreUnavailable.
    """

    @property
    def are_kept(self) -> bool:
        """False without an archive: then the history is what the log holds."""

    def listed(self) -> tuple[list[SegmentInfo], int]:
        """Return the segments, and the event up to which the log was trimmed."""


def segments_of(store: StoredState) -> SegmentStore | None:
    """Return the store as a store of segments; None if it keeps none."""
    if hasattr(store, "save_segment"):
        return cast(SegmentStore, store)
    return getattr(store, "archived_segments", None)


def as_shared_segments(segments: SegmentStore) -> SharedSegments | None:
    """Return the segments as shared ones, or None if only one process can use them."""
    return cast(SharedSegments, segments) if hasattr(segments, "listed") else None
