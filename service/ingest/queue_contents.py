"""The contents of the queue of review: the instances in the store, and those not stored yet."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from threading import Lock

import msgspec

from manyclass.service.errors import with_hint, without_place
from manyclass.service.ingest.queued_instance import Head, amended, head_of, heads_of
from manyclass.service.store.errors import StoreError
from manyclass.service.store.waiting import Item, WaitingStore

log = logging.getLogger(__name__)


class QueueContents:
    """The instances of a store, which all its processes share, and those to be written to it.

    What cannot be written stays in memory and is written later. Methods block, and need the lock
    unless they say otherwise.
    """

    def __init__(self, store: WaitingStore) -> None:
        self.failures = 0
        # The reason why the store does not take instances now, or cannot be read.
        self.failing: str | None = None
        self.lock = Lock()
        self.store = store
        self.unsaved: dict[str, Item] = {}  # not yet taken by the store
        self._heads: dict[str, Head] | None = None  # of the store; None: not read yet
        # The store can be read and took the last write; at the start this is not known.
        self._takes = False

    @property
    def is_read(self) -> bool:
        """True once the store was read."""
        return self._heads is not None

    @property
    def stored(self) -> Mapping[str, Head]:
        """The heads in the store, as of the last `refresh`."""
        return self._heads or {}

    def known(self) -> dict[str, Head]:
        """Return the heads of all instances, stored or not, as of the last `refresh`."""
        return (self._heads or {}) | heads_of(self.unsaved)

    def refresh(self, must: bool = False) -> None:
        """Read the heads in the store, unless this process knows them.

        Raises StoreError only if it `must` read them.
        """
        if self._heads is not None and not self.store.is_shared:
            return
        try:
            self._heads = self._readable_heads()
        except StoreError as error:
            if must:
                raise
            self.fail(error)

    def write(self) -> None:
        """Write new instances; without any, try whether the store takes some, after an error."""
        if not self.unsaved and self._takes:
            return
        try:
            if self.unsaved:
                self.store.put(self.unsaved)
            else:
                self.store.check_put()
        except StoreError as error:
            self.fail(error)
        else:
            if self._heads is not None:
                self._heads |= heads_of(self.unsaved)
            self.unsaved = {}
            if self._heads is not None:  # else they could not be read
                self.failing = None
                self._takes = True

    def give(self, given: Mapping[str, Item]) -> None:
        """Put instances into the store at once. Raises StoreError."""
        self.store.put(given)
        for each in given:
            self.unsaved.pop(each, None)
        if self._heads is not None:
            self._heads |= heads_of(given)

    def amend(self, ids: Collection[str], change: Callable[[str, Head], Head]) -> None:
        """Change the heads of those of the instances that are there. Raises StoreError."""
        unsaved = {each: self.unsaved[each] for each in ids if each in self.unsaved}
        stored = self.store.items([each for each in ids if each not in unsaved])
        for name, item in (stored | unsaved).items():
            self.unsaved[name] = amended(item, partial(change, name))

    def drop(self, ids: Collection[str]) -> None:
        """Remove instances. Raises StoreError."""
        for each in ids:
            self.unsaved.pop(each, None)
        stored = self._heads
        kept = [each for each in ids if stored is None or each in stored]
        if kept:
            self.store.remove(kept)
        if stored is not None:
            for each in kept:
                del stored[each]

    def fail(self, error: StoreError) -> None:
        """Note that the store has failed."""
        if self.failing is None:
            log.warning("the review queue is in memory only: %s", with_hint(error))
        self.failures += 1
        self.failing = without_place(error)
        self._takes = False

    def items(self, ids: Sequence[str]) -> dict[str, Item]:
        """Return the instances of these ids that are there. Takes the lock itself. Raises
        StoreError.
        """
        with self.lock:
            unsaved = {name: self.unsaved[name] for name in ids if name in self.unsaved}
        return self.store.items([name for name in ids if name not in unsaved]) | unsaved

    def _readable_heads(self) -> dict[str, Head]:
        """Return the heads in the store; remove instances whose head cannot be read."""
        heads: dict[str, Head] = {}
        damaged: list[str] = []
        for name, each in self.store.heads().items():
            try:
                heads[name] = head_of(each)
            except msgspec.MsgspecError:
                damaged.append(name)
        if damaged:
            log.error("%d damaged instances leave the review queue: %s", len(damaged), damaged[:10])
            self.store.remove(damaged)
        return heads
