"""The times of past events: an append stamps its first event, and the others have that time too."""

from collections.abc import Iterable, Iterator, Sequence

from manyclass.core.event import Event


def dated(events: Iterable[tuple[int, bytes]], time: int = 0) -> Iterator[tuple[int, bytes, int]]:
    """Yield number, bytes and time of events; one without a time has that of the one before it.

    `time` is that of the event before the first. Times are in Unix milliseconds, 0: not known.
    """
    for seq, payload in events:
        time = Event.time_of(payload) or time
        yield seq, payload, time


def stamped(payloads: Sequence[bytes], times: Sequence[int]) -> list[bytes]:
    """Return the events, with a time of its own where the one before no longer tells it."""
    found = []
    before = 0
    for payload, time in zip(payloads, times, strict=True):
        if payload and time != (Event.time_of(payload) or before):
            payload = Event.stamped(payload, time)
        before = Event.time_of(payload) or before
        found.append(payload)
    return found
