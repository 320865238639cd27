"""The bounds of the queue of review, and which instances leave it for them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from manyclass.service.ingest.queued_instance import Head, bytes_of, uncertainty


class QueueBounds(NamedTuple):
    """The largest number of instances, of their bytes, and of the seconds that one waits."""

    items: int
    bytes: int
    seconds: float

    def surplus(self, heads: Mapping[str, Head], over: Iterable[str], now: float) -> list[str]:
        """Return the instances that are too old or `over`, and beyond the bounds the most certain
        ones. Given instances that wait stay.
        """
        old = now - self.seconds
        gone = {*over} | {name for name, each in heads.items() if each.ranked_at < old}
        count = len(heads) - len(gone)
        size = bytes_of(each for name, each in heads.items() if name not in gone)
        if count <= self.items and size <= self.bytes:
            return [*gone]
        for name in sorted(heads, key=lambda each: uncertainty(heads[each]), reverse=True):
            if count <= self.items and size <= self.bytes:
                break
            if name not in gone and not is_kept(heads[name]):
                gone.add(name)
                count, size = count - 1, size - heads[name].bytes
        return [*gone]

    def have_room(self, heads: Mapping[str, Head], given: Mapping[str, Head]) -> bool:
        """Return whether these instances can be given, in place of all that need not stay."""
        kept = [each for name, each in heads.items() if is_kept(each) and name not in given]
        kept += given.values()
        return len(kept) <= self.items and bytes_of(kept) <= self.bytes


def is_kept(head: Head) -> bool:
    """Return whether an instance stays when there is no room: it was given and waits."""
    return head.given and head.pair is None
