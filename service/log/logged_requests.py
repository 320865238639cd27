"""Reads the log by requests."""

from collections.abc import Iterator

from manyclass.core.event import Event
from manyclass.service.store.protocol import Store


def logged_requests(store: Store, after: int) -> Iterator[list[tuple[int, Event]]]:
    """Yield the events behind `after` with their numbers, one request at a time. StoreError."""
    request: list[tuple[int, Event]] = []
    for seq, payload in store.read(after):
        event = Event.from_bytes(payload)
        if request and not event.joined:
            yield request
            request = []
        request.append((seq, event))
    if request:
        yield request
