"""A thread that follows a shared log, as a process does."""

import threading

from manyclass.service.store.errors import StoreError
from manyclass.service.store.protocol import Batch, PeerMessage

PATIENCE = 30  # an upper limit; awaited items come at once


class Following:
    """The items of `store.follow(after)`, gathered until its end; `error` is its exception."""

    def __init__(self, store, after=0):
        self.found = []
        self.error = None
        self._store = store
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, args=(after,), daemon=True)
        self._thread.start()

    def _run(self, after):
        try:
            for each in self._store.follow(after):
                with self._news:
                    self.found.append(each)
                    self._news.notify_all()
        except StoreError as error:
            self.error = error
        with self._news:
            self._news.notify_all()

    @property
    def batches(self):
        return [each for each in self.found if isinstance(each, Batch)]

    @property
    def messages(self):
        return [each for each in self.found if isinstance(each, PeerMessage)]

    @property
    def events(self):
        """The number and bytes of each event."""
        return [
            (seq, event)
            for batch in self.batches
            for seq, event in enumerate(batch.events, batch.first_seq)
        ]

    @property
    def append_ids(self):
        """The append_ids of this store's own appends."""
        return [batch.append_id for batch in self.batches if batch.append_id]

    def wait_for(self, condition):
        """Return when the condition holds."""
        with self._news:
            assert self._news.wait_for(condition, PATIENCE), (self.found[-5:], self.error)

    def wait_for_seq(self, seq):
        """Return when the event with this number has arrived."""
        self.wait_for(lambda: self.events and self.events[-1][0] >= seq)

    def wait_for_pause(self):
        """Return at the next None: no further event is available."""
        so_far = len(self.found)
        self.wait_for(lambda: None in self.found[so_far:])

    def end(self):
        """Wait for the end, which a changed log causes, and return the exception."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self.error

    def close(self):
        self._store.close()
        self.end()


def next_found(following):
    """Return the next item that is not None, within 1000 items."""
    found = (each for _, each in zip(range(1000), following, strict=False))
    return next(each for each in found if each is not None)
