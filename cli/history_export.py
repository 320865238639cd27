"""Reads the events of a history, of a running service or of a store, oldest first."""

import time
from collections.abc import Iterator

from manyclass.client.client import Client
from manyclass.client.types import TaughtEvent
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.service.config.settings import Settings
from manyclass.service.errors import HistoryOff
from manyclass.service.history.history import History
from manyclass.service.history.reader import Filter, fields_of
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.recovery import recover
from manyclass.service.store.protocol import Store
from manyclass.service.store.segments import segments_of

PAGE = 1000


def events_of_service(client: Client) -> Iterator[TaughtEvent]:
    """Yield the events that a running service was taught. Raises ClientError."""
    return client.events(vectors=True, oldest_first=True, after=0, page=PAGE)


def events_of_store(store: Store) -> Iterator[TaughtEvent]:
    """Yield the events in the store of a stopped service, without writing to it.

    Raises HistoryOff if it keeps none, StoreError, and RecoveryError.
    """
    segments = segments_of(store)
    if segments is None:
        raise HistoryOff
    live = LiveModel()
    live.recovery.outcomes.are_kept = True  # events in the log alone may have been retries
    live.use(recover(store, ModelSet(Options()), time.monotonic, live.recovery))
    history = History(store, segments, live, Settings())
    after: int | None = 0
    while after is not None:
        page = history.page(Filter(), PAGE, after, newest_first=False)
        for each in page.records:
            yield TaughtEvent(**fields_of(each, live.model, with_vector=True))
        after = page.next
