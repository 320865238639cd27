"""The fold: amended events are rewritten in the history once a rebuilt state includes them."""

from bisect import bisect_left
from collections.abc import Iterator

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.service.history.amendments import Amended
from manyclass.service.history.event_times import dated, stamped
from manyclass.service.history.history import History
from manyclass.service.history.recorder import amending
from manyclass.service.history.segment import CORRECTED, GONE, Segment


def corrected(payload: bytes, amended: Amended) -> bytes:
    """Return the bytes of a "learn" event with its classes corrected; empty if it is deleted.

    The event keeps its id and fingerprint, so that a late retry of the original is still a
    duplicate.
    """
    if not amended.classes:
        return b""
    event = Event.from_bytes(payload)
    return bytes(
        Event.learn(
            event.instance,
            amended.classes,
            event.event_id,
            event.fingerprint,
            [name for name in event.rejected if name not in amended.classes],
            event.weight,
            event.parents,
            event.source,
            event.text,
            event.time,
            event.instance_id,
            event.reading,
            amended.reviewer or event.reviewer,
            event.batch,
        )
    )


def fold(history: History, settled: dict[int, Amended], base: int) -> None:
    """Rewrite each segment that has an amended event or an amendment. Blocks. Raises StoreError.

    The amendments lose their instances but still wait, even after a restart, until
    `fold_amendments`, because bytes of deleted events may still be in the store.
    """
    amended = sorted(settled)
    for info in history.recorder.infos:
        next_one = bisect_left(amended, info.first_seq)
        has_amended = next_one < len(amended) and amended[next_one] <= info.last_seq
        if info.amendments == 0 and not has_amended:
            continue
        segment = history.reader.segment(info)
        history.recorder.replace(_folded(segment, settled, base))


def fold_amendments(history: History, settled: dict[int, Amended], base: int) -> None:
    """Remove settled amendments from the waiting ones. Blocks. Raises StoreError.

    Amendments of events up to `base` are kept for the next rebuild.
    """
    for info in history.recorder.infos:
        if info.amendments == 0:
            continue
        segment = history.reader.segment(info)
        payloads, flags = list(segment.payloads), list(segment.flags)
        for at, target in _settled_amendments(segment, settled):
            if target > base:
                payloads[at] = b""
            flags[at] = GONE if target > base else CORRECTED
        history.recorder.replace(Segment(segment.first_seq, payloads, segment.outcomes, flags))
    history.reader.forget()


def _folded(segment: Segment, settled: dict[int, Amended], base: int) -> Segment:
    payloads, flags = list(segment.payloads), list(segment.flags)
    for at, seq in enumerate(range(segment.first_seq, segment.last_seq + 1)):
        amended = settled.get(seq)
        if amended is not None and flags[at] != GONE:
            payloads[at] = corrected(payloads[at], amended)
            flags[at] = CORRECTED if payloads[at] else GONE
    payloads = stamped(payloads, [time for _, _, time in dated(enumerate(segment.payloads))])
    for at, target in _settled_amendments(segment, settled):
        if target > base:
            amend = _settled(target, settled[target])
            payloads[at] = bytes(amend)
    return Segment(segment.first_seq, payloads, segment.outcomes, flags)


def _settled(target: int, amended: Amended) -> Event:
    """Return an amendment without an instance."""
    return Event.amend(target, Instance({}), amended.classes, [], reviewer=amended.reviewer)


def _settled_amendments(segment: Segment, settled: dict[int, Amended]) -> Iterator[tuple[int, int]]:
    """Yield the position and the target of each amendment that a rebuild has applied."""
    for seq, payload, _ in amending(segment):
        target = Event.from_bytes(payload).target
        if target in settled and settled[target].seq >= seq:
            yield seq - segment.first_seq, target
