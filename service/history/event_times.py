"""The times of past events: an append stamps its first event; the others share its time."""

from collections.abc import Iterable, Iterator, Sequence

from manyclass.core.event import Event


def dated(events: Iterable[tuple[int, bytes]], time: int = 0) -> Iterator[tuple[int, bytes, int]]:
    """Yield number, bytes and time of events; an event without a time has the previous one's.

    `time` is the time of the event before the first. Times are in Unix milliseconds, 0: not known.
    """
    for seq, payload in events:
        time = Event.time_of(payload) or time
        yield seq, payload, time


def stamped(payloads: Sequence[bytes], times: Sequence[int]) -> list[bytes]:
    """Return the events, each with its own time where it differs from the previous event's."""
    found = []
    before = 0
    for payload, time in zip(payloads, times, strict=True):
        if payload and time != (Event.time_of(payload) or before):
            payload = Event.stamped(payload, time)
        before = Event.time_of(payload) or before
        found.append(payload)
    return found
