"""Rewrites amended events in the history, once a rebuilt state no longer depends on them."""

from manyclass.core.event import Event
from manyclass.service.history.amendments import Amended
from manyclass.service.history.history import History
from manyclass.service.history.segment import CORRECTED, GONE, Segment


def corrected(payload: bytes, amended: Amended) -> bytes:
    """Return the bytes of a "learn" event with its classes corrected; empty if it is deleted.

    It keeps its id and fingerprint, so that a late retry of the wrong one is still a duplicate.
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
        )
    )


def fold(history: History, settled: dict[int, Amended], base: int) -> None:
    """Rewrite each segment that holds an amended event, or its amendment. Blocks. StoreError.

    Amendments of events up to `base` are kept for the next rebuild, and wait no more.
    """
    for info in history.recorder.infos:
        wanted = range(info.first_seq, info.last_seq + 1)
        if info.amendments == 0 and not any(seq in wanted for seq in settled):
            continue
        segment = history.reader.segment(info)
        history.recorder.replace(_folded(segment, settled, base))


def _folded(segment: Segment, settled: dict[int, Amended], base: int) -> Segment:
    payloads, flags = list(segment.payloads), list(segment.flags)
    for at, payload in enumerate(segment.payloads):
        amended = settled.get(segment.first_seq + at)
        if Event.amends(payload):
            target = Event.from_bytes(payload).target
            is_settled = target in settled and settled[target].seq >= segment.first_seq + at
            if is_settled and target > base:
                payloads[at], flags[at] = b"", GONE
            elif is_settled:
                flags[at] = CORRECTED
        elif amended is not None and flags[at] != GONE:
            payloads[at] = corrected(payload, amended)
            flags[at] = CORRECTED if payloads[at] else GONE
    return Segment(segment.first_seq, payloads, segment.outcomes, flags)
