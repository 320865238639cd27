"""Copies the contents of a store to a new one, to move a service."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

from manyclass.core.event import Event
from manyclass.core.rules import RULES
from manyclass.service.store.errors import (
    LogDamaged,
    LogTrimmed,
    SegmentMissing,
    SnapshotDamaged,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import SnapshotInfo, Store, StoredState, as_shared
from manyclass.service.store.segments import as_shared_segments, segments_of
from manyclass.service.store.waiting import WaitingStore, parts, waiting_of

APPENDED_EVENTS = 4096  # at once, or all of one request
APPENDED_BYTES = 4 * 2**20
PUT_AT_ONCE = 100  # instances of the queue of review


class Copied(NamedTuple):
    """The number of the last event, and of the instances in the queue of review."""

    last_seq: int
    waiting: int


def copy(source: StoredState, target: Store, say: Callable[[str], None]) -> Copied:
    """Copy snapshots, events, their history, and the queue of review without its leases.

    Numbers stay. Events appended after the begin may be missing. A damaged snapshot is left out,
    unless it is the only one to begin with; so is a damaged part of the history or of the queue,
    and all of the history if the target keeps none. Raises StoreError, also when the target is not
    empty. A target whose copy failed has to be deleted.
    """
    with (
        closing(waiting_of(source, time.monotonic)) as reading,
        closing(waiting_of(target, time.monotonic)) as writing,
    ):
        if target.last_seq or target.snapshots():
            raise StoreError("the target is not empty", "name a new one")
        if writing.heads():
            raise StoreError(
                "the target has a queue of review of a former store",
                "name a new target, or delete its file .waiting if nobody needs it",
            )
        return Copied(_copy_state(source, target, say), _copy_waiting(reading, writing, say))


def _copy_state(source: StoredState, target: Store, say: Callable[[str], None]) -> int:
    """Copy snapshots, events and their history; return the number of the last event."""
    snapshots = sorted(source.snapshots(), key=lambda info: info.seq)
    if not snapshots:
        raise StoreError("the source holds nothing", "name the store of a service")
    first = _first_followed(source, snapshots)
    for info in snapshots[:first]:
        _save(source, target, info, say)
    base = _save_base(source, target, snapshots[first:], say)
    last = base
    for events in _appends(source, base):
        last = target.append(events)
        say(f"event {last}")
    for info in snapshots[first:]:
        if base < info.seq <= last:
            _save(source, target, info, say)
    _copy_history(source, target, last, say)
    return last


def _copy_waiting(source: WaitingStore, target: WaitingStore, say: Callable[[str], None]) -> int:
    """Copy the queue of review; return its number of instances."""
    copied = 0
    try:
        ids = list(source.heads())
    except StoreError as error:
        say(f"left out: the queue of review: {error}")
        return 0
    for some in parts(ids, PUT_AT_ONCE):
        try:
            items = source.items(some)
        except StoreError as error:
            say(f"left out: {len(some)} instances that wait for review: {error}")
            continue
        target.put(items)
        copied += len(items)
    return copied


def _copy_history(
    source: StoredState, target: Store, last: int, say: Callable[[str], None]
) -> None:
    """Copy the segments of the history, up to event `last`."""
    kept, made = segments_of(source), segments_of(target)
    infos = [] if kept is None else kept.segments()
    if kept is None or not infos:
        return
    if made is None:
        say("left out: the history of events, which the target cannot keep")
        return
    shared = as_shared_segments(made)
    if shared is not None and not shared.are_kept:
        say("left out: the history of events, for which MANYCLASS_ARCHIVE names no place")
        return
    for info in infos:
        if info.last_seq > last:
            break
        _lead(target, last)
        try:
            made.save_segment(info, kept.read_segment(info.last_seq))
        except (StoreDamaged, SegmentMissing) as error:
            say(f"left out: {error}")
        else:
            say(f"history up to event {info.last_seq}")


def _lead(target: Store, last: int) -> None:
    """Keep the lease of a shared store, whose leader alone writes the history."""
    shared = as_shared(target)
    if shared is not None and not shared.heartbeat(last, RULES).is_leader:
        raise StoreUnavailable("another process leads the target", "stop it, and copy again")


def _first_followed(source: StoredState, snapshots: list[SnapshotInfo]) -> int:
    """Return the place of the oldest snapshot from which the log is whole.

    Older snapshots can only be restored, without the events after them.
    """
    for place, info in enumerate(snapshots):
        try:
            next(source.read(info.seq), None)
        except (LogDamaged, LogTrimmed):
            if info is snapshots[-1]:
                raise
        else:
            return place
    raise AssertionError("there is a snapshot")


def _save_base(
    source: StoredState, target: Store, snapshots: list[SnapshotInfo], say: Callable[[str], None]
) -> int:
    """Save the oldest undamaged snapshot; return its number. Raises SnapshotDamaged."""
    oldest, *newer = snapshots
    error = _save(source, target, oldest, say)
    if error is None:
        return oldest.seq
    if not newer:
        raise error
    return _save_base(source, target, newer, say)


def _save(
    source: StoredState, target: Store, info: SnapshotInfo, say: Callable[[str], None]
) -> SnapshotDamaged | None:
    """Copy a snapshot; return the error of a damaged one, which is left out."""
    try:
        target.save_snapshot(info.seq, source.open_snapshot(info.seq))
    except SnapshotDamaged as error:
        say(f"left out: {error}")
        return error
    say(f"snapshot {info.seq}")
    return None


def _appends(source: StoredState, after: int) -> Iterator[list[bytes]]:
    """Yield the events in lists of bounded size that do not divide a request."""
    events: list[bytes] = []
    size = 0
    for _, data in source.read(after):
        full = len(events) >= APPENDED_EVENTS or size >= APPENDED_BYTES
        if full and not Event.from_bytes(data).joined:
            yield events
            events, size = [], 0
        events.append(data)
        size += len(data)
    if events:
        yield events
