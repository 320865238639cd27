"""The queue of instances that wait for review, and for whom: it survives a restart.

    ranked ──► pending labels ──► queue ──► reviewer, by a lease ──► label ──► out of the queue
               (memory, an hour)  (store, the least certain ones)

A thread copies new instances about once a second, never in the path of a ranking. What cannot be
written stays in memory and is written later, so a full disk stops no ranking and no label.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from manyclass.core.event import Text
from manyclass.service.errors import NotReady, with_hint
from manyclass.service.ingest.label_pairs import LabelPairs
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.queue_bounds import QueueBounds
from manyclass.service.ingest.queue_contents import QueueContents
from manyclass.service.ingest.queued_instance import (
    Choice,
    Head,
    bytes_of,
    heads_of,
    item_of,
    stored_in,
    text_in,
    uncertainty,
    waiting_in,
)
from manyclass.service.ingest.second_labels import Labelled
from manyclass.service.ingest.stored_instance import StoredInstance, WaitingInstance
from manyclass.service.store.errors import StoreError
from manyclass.service.store.waiting import Item, WaitingStore, parts

log = logging.getLogger(__name__)

LEASE_SECONDS: Final = 120.0
UNDO_SECONDS: Final = 600.0  # for which a labelled instance is kept, to undo its label
FLUSH_SECONDS: Final = 1.0
BOUND_SECONDS: Final = 30.0  # between two searches for old instances while nothing is new
DISCARD_SECONDS: Final = 10.0  # between two attempts to remove what is not to be stored
RECENT: Final = 2000  # copied instances that may be replaced by one without features
COPIED_AT_ONCE: Final = 500  # new instances, at most, in a flush
PASSED_OVER: Final = 300  # leased instances that a listing passes over, at most
READ_AT_ONCE: Final = 16  # instances in memory while many are read


class QueueIsFull(Exception):
    """There is no room for instances that were given for review."""


class Renewed(NamedTuple):
    """Ids whose lease goes on, and ids that do not wait: they have a label, or were never there.
    Another reviewer has all others.
    """

    held: list[str]
    not_waiting: list[str]


async def discard(store: WaitingStore) -> None:
    """Remove instances that a former start has stored, when they are not to be stored any more.

    Otherwise the texts of people would stay, where no erasure looks for them. Retries until the
    store answers.
    """
    while True:
        try:
            if await asyncio.to_thread(store.clear):
                log.warning(
                    "what was stored for review is removed, because of MANYCLASS_REVIEW_STORED=no"
                )
            return
        except StoreError as error:
            log.error("what was stored for review cannot be removed yet: %s", with_hint(error))
        await asyncio.sleep(DISCARD_SECONDS)


class ReviewQueue:
    """The waiting instances of a store, which all its processes share.

    Threads: methods that block are for threads, all others belong to the event loop.
    """

    def __init__(
        self,
        store: WaitingStore,
        pending: PendingLabels,
        is_labelled: Callable[[str], Awaitable[bool]],
        wall_clock: Callable[[], float],
        bounds: QueueBounds,
        twice: int = 0,
    ) -> None:
        """`is_labelled` tells whether the state has a label of an instance of this id.

        `twice` percent of the instances stay after their label, for a second reviewer.
        """
        self.items = 0
        self.bytes = 0
        self._contents = QueueContents(store)
        self.pairs = LabelPairs(self._contents, twice)
        self._store = store
        self._pending = pending
        self._is_labelled = is_labelled
        self._wall_clock = wall_clock
        self._bounds = bounds
        self._lock = self._contents.lock  # of all that follows, but for `_labelled`
        self._learned: deque[str] = deque()  # labelled here, whose leases have not ended yet
        self._bounded_at = -BOUND_SECONDS
        self._recent: dict[str, None] = {}  # ids of the newest copied instances
        self._copied = 0  # number of the newest instance that was copied
        self._labelled: dict[str, tuple[float, bool]] = {}  # id -> time, and its event has own id
        self._unmarked: dict[str, float] = {}  # labels that the store does not know yet

    # --- interface for the event loop -------------------------------------------------------------

    async def run(self) -> None:
        """Copy new instances and remove old ones, until the task is cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.flush)
            except Exception:  # the next turn tries again
                log.exception("new instances are not in the review queue yet")
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                await self.tidy()
            except (StoreError, NotReady) as error:
                log.warning("labelled instances stay in the review queue: %s", error)

    async def tidy(self) -> None:
        """Remove instances whose label can no longer be undone."""
        limit = self._wall_clock() - UNDO_SECONDS
        labelled = list(self._labelled.items())  # a thread changes it meanwhile
        waiting, unsaved = self._contents.stored, self._contents.unsaved
        gone = []
        for each, (time, has_own_id) in labelled:
            if each in self._unmarked:
                continue  # the next flush marks its head
            if each not in waiting and each not in unsaved:
                # Most labels are of instances outside the queue; the state knows them. If another
                # process has put this one into the queue, `is_done` notes it again.
                self._labelled.pop(each, None)
            elif each in waiting and waiting[each].pair is not None:
                continue  # it stays, for a second label or with it
            elif time < limit and has_own_id:
                self._labelled.pop(each, None)
            elif time < limit and await self._is_labelled(each):
                gone.append(each)
            elif time < limit:
                self._labelled.pop(each, None)
        if gone:
            await asyncio.to_thread(self.remove, gone)
            for each in gone:
                self._labelled.pop(each, None)

    async def find(self, ids: Collection[str]) -> dict[str, StoredInstance]:
        """Return the instances of those of the ids that wait in the store."""
        return await asyncio.to_thread(self._found, list(ids))

    @property
    def failures(self) -> int:
        """The number of errors of the store."""
        return self._contents.failures

    @property
    def failing(self) -> str | None:
        """The reason why the store does not take instances now, or cannot be read."""
        return self._contents.failing

    @property
    def is_stored(self) -> bool | None:
        """False while the store does not take new instances; None if they are never stored."""
        return self.failing is None if self._store.is_durable else None

    @property
    def now(self) -> float:
        """The time by the clock that dates instances, in unix seconds."""
        return self._wall_clock()

    def labelled(self, instance_id: str, has_own_id: bool) -> None:
        """Note a learned label, after which the instance neither waits nor is leased.

        `has_own_id`: its event has an id of its own, by which the label is not recognised.
        """
        self._learned.append(instance_id)
        self._note_label(instance_id, has_own_id)

    def _note_label(self, instance_id: str, has_own_id: bool) -> None:
        now = self._wall_clock()
        self._labelled[instance_id] = now, has_own_id
        if has_own_id:
            self._unmarked[instance_id] = now

    def unlabelled(self, instance_id: str) -> None:
        """Let an instance wait again, whose label was undone."""
        self._labelled.pop(instance_id, None)

    def is_given(self, instance_id: str) -> bool:
        """Return whether an instance was given for review, as far as this process knows."""
        head = self._contents.stored.get(instance_id)
        is_waiting = head is not None and instance_id not in self._labelled
        return is_waiting and head is not None and head.given and head.labelled_at is None

    async def waiting(self, choice: Choice) -> list[str]:
        """Return the ids of all waiting instances of a choice, in its order."""
        ordered = await asyncio.to_thread(self._ordered, choice)
        return [each for each in ordered if not await self.is_done(each)]

    async def renew(self, ids: Collection[str], reviewer: str) -> Renewed:
        """Lease instances again that wait, and that no other reviewer has. Raises StoreError."""
        found = await asyncio.to_thread(self._which_wait, ids)
        waiting = [each for each in found if not await self.is_done(each)]
        return await asyncio.to_thread(self._renewed, ids, waiting, reviewer)

    async def is_done(self, instance_id: str) -> bool:
        """Return whether an instance has its label, and waits no longer."""
        if instance_id in self._labelled:
            return True
        if not await self._is_labelled(instance_id):
            return False
        self._note_label(instance_id, has_own_id=False)
        return True

    async def choose_labelled(self, choice: Choice, limit: int, reviewer: str) -> Labelled:
        """Return instances that others have labelled, for a second label of this reviewer, and
        lease them.
        """
        if not self.pairs.are_wanted:
            return Labelled([], 0)
        found = await asyncio.to_thread(self._labelled_by_others, choice, reviewer)
        leased = await asyncio.to_thread(self.take, found, limit, reviewer)
        return Labelled(leased, len(found))

    # --- interface for threads --------------------------------------------------------------------

    def flush(self) -> None:
        """Copy new instances into the store; keep the bounds. Blocks.

        An error of the store is counted, and the instances are written with the next flush.
        """
        with self._lock:
            self.pairs.put_notes()
            is_labelled = bool(self._unmarked or self._learned)
            is_new = self._pending.newest != self._copied or is_labelled
            is_new = is_new or bool(self._contents.unsaved) or not self._contents.is_read
            if not is_new and self._wall_clock() < self._bounded_at + BOUND_SECONDS:
                self._contents.write()
                return
            self._contents.refresh()
            self._copy()
            self._mark_labelled()
            self._keep_bounds()
            self._bounded_at = self._wall_clock()
            self._end_leases()  # before other processes can see that a second label is asked for
            self._contents.write()

    def give(self, given: Mapping[str, Item]) -> None:
        """Put instances into the queue, durably. Blocks. Raises QueueIsFull and StoreError."""
        with self._lock:
            self._contents.refresh(must=True)
            if not self._bounds.have_room(self._contents.known(), heads_of(given)):
                raise QueueIsFull
            self._contents.give(given)
            for each in given:
                self._forget_own_label(each)
            self._keep_bounds()

    def erase(self, source: str | None, batch: str | None) -> int:
        """Remove the instances of a source, a batch, or of both; return their number. Blocks.

        Raises StoreError.
        """
        with self._lock:
            self._contents.refresh(must=True)
            self._copy()
            chosen = Choice(source, batch)
            gone = [name for name, each in self._contents.known().items() if chosen.has(each)]
            self._contents.drop(gone)
            return len(gone)

    def remove(self, ids: Collection[str]) -> int:
        """Remove instances; return how many there were. Blocks. Raises StoreError."""
        with self._lock:
            self._contents.refresh(must=True)
            self._copy()
            heads = self._contents.known()
            gone = [each for each in dict.fromkeys(ids) if each in heads]
            self._contents.drop(gone)
            return len(gone)

    def texts(self, ids: Sequence[str]) -> dict[str, Text | None]:
        """Return the beginning of the text of each of these instances. Blocks."""
        return {name: text_in(each) for name, each in self._contents.items(ids).items()}

    def release(self, ids: Collection[str], reviewer: str) -> None:
        """End leases of a reviewer. Blocks. Raises StoreError."""
        self._store.release(ids, reviewer)

    def lease(self, ids: Collection[str], reviewer: str, most: int) -> list[str]:
        """Lease the first `most` of these to a reviewer, but those of other reviewers. Blocks.
        Raises StoreError.
        """
        return self._store.lease(ids, reviewer, LEASE_SECONDS, most)

    def take(self, ids: Sequence[str], limit: int, reviewer: str | None) -> list[WaitingInstance]:
        """Return the first instances of these ids, leased to the reviewer if there is one. Blocks.
        Raises StoreError.

        Instances that another reviewer has are left out then.
        """
        chosen = list(ids[:limit])
        if reviewer is not None:
            chosen = self.lease(ids[: limit + PASSED_OVER], reviewer, limit)
        return list(self.read(chosen))

    def read(self, ids: Sequence[str]) -> Iterator[WaitingInstance]:
        """Yield the instances of these ids that wait, a few of them in memory at a time. Blocks.
        Raises StoreError.
        """
        for some in parts(ids, READ_AT_ONCE):
            items, now = self._contents.items(some), self._wall_clock()
            yield from (waiting_in(name, items[name], now) for name in some if name in items)

    def close(self) -> None:
        """Write the newest instances, and release the store. Blocks."""
        self.flush()
        self._store.close()

    # --- in a thread, with the lock ---------------------------------------------------------------

    def _end_leases(self) -> None:
        """End the leases of instances that were labelled, so that a second reviewer gets them."""
        learned = [self._learned.popleft() for _ in range(len(self._learned))]
        known = self._contents.known() if learned else {}
        try:
            self._store.end_leases([each for each in learned if each in known])
        except StoreError as error:  # they end by themselves
            self._contents.fail(error)

    def _copy(self) -> None:
        newest = self._pending.newest
        if newest == self._copied:
            return
        now = self._wall_clock()
        heads = self._contents.stored
        self._drop_emptied()
        for each in self._pending.least_certain(COPIED_AT_ONCE, after=self._copied):
            if each.id in heads and heads[each.id].given:
                continue  # a ranking takes no place of an instance given for review
            text = each.text
            if each.is_text_cut:
                stored = self._pending.find(each.id)
                text = stored.text if isinstance(stored, StoredInstance) else text
            self._contents.unsaved[each.id] = item_of(each, text, now)
            self._recent[each.id] = None
            self._forget_own_label(each.id)
        self._copied = newest

    def _forget_own_label(self, instance_id: str) -> None:
        """Forget the label of a former instance of an id, by an event with an id of its own."""
        _, has_own_id = self._labelled.get(instance_id, (0.0, False))
        if has_own_id:
            self._labelled.pop(instance_id, None)
            self._unmarked.pop(instance_id, None)

    def _mark_labelled(self) -> None:
        """Note in their heads which instances have a label that the state does not recognise."""
        unmarked, self._unmarked = self._unmarked, {}
        unsaved, stored = self._contents.unsaved, self._contents.stored
        may_wait = [
            each for each in unmarked if each in unsaved or self._store.is_shared or each in stored
        ]
        try:
            self._contents.amend(
                may_wait,
                lambda name, head: msgspec.structs.replace(head, labelled_at=unmarked[name]),
            )
        except StoreError as error:
            self._unmarked = unmarked | self._unmarked
            self._contents.fail(error)

    def _drop_emptied(self) -> None:
        """Remove instances that their clients replaced by one without features."""
        recent = list(self._recent)[-RECENT:]
        found = {each: self._pending.find(each) for each in recent}
        emptied = [
            name
            for name, each in found.items()
            if isinstance(each, StoredInstance) and each.instance.is_empty
        ]
        self._recent = dict.fromkeys(each for each in recent if each not in emptied)
        try:
            self._contents.drop(emptied)
        except StoreError as error:
            self._contents.fail(error)

    def _keep_bounds(self) -> None:
        """Remove instances that are too old or were labelled, and beyond the bounds the most
        certain ones.
        """
        heads, now = self._contents.known(), self._wall_clock()
        over = [
            name
            for name, each in heads.items()
            if self.pairs.is_over(name, each)
            or (each.labelled_at is not None and each.labelled_at < now - UNDO_SECONDS)
        ]
        gone = self._bounds.surplus(heads, over, now)
        try:
            self._contents.drop(gone)
        except StoreError as error:
            self._contents.fail(error)
        left = {name: heads[name] for name in heads.keys() - gone}
        self.items = sum(1 for name, each in left.items() if self._waits(name, each))
        self.bytes = bytes_of(left.values())

    def _waits(self, name: str, head: Head) -> bool:
        """Return whether an instance waits for its first label, as far as this process knows."""
        return head.labelled_at is None and head.pair is None and name not in self._labelled

    # --- in a thread ------------------------------------------------------------------------------

    def _ordered(self, choice: Choice) -> list[str]:
        self.flush()
        with self._lock:
            self._contents.refresh()
            heads = {
                name: each
                for name, each in self._contents.known().items()
                if each.labelled_at is None and each.pair is None and choice.has(each)
            }
        if choice.is_random:
            return random.sample(list(heads), len(heads))
        return sorted(heads, key=lambda each: uncertainty(heads[each]))

    def _labelled_by_others(self, choice: Choice, reviewer: str) -> list[str]:
        """Return the instances of a choice that others have labelled and a second label lack."""
        self.flush()
        return self.pairs.lacking(choice, reviewer)

    def _which_wait(self, ids: Collection[str]) -> list[str]:
        """Return the ids whose instances are in the queue, each once."""
        with self._lock:
            self._contents.refresh()
            heads = self._contents.known()
        found = dict.fromkeys(each for each in ids if each in heads)
        return [each for each in found if heads[each].labelled_at is None]

    def _renewed(self, ids: Collection[str], waiting: Collection[str], reviewer: str) -> Renewed:
        held = {*self._store.lease(waiting, reviewer, LEASE_SECONDS, len(waiting))}
        # Events are leased too (strategy=suspect), and do not wait in the queue.
        others = {*ids} - {*waiting}
        held |= {*self._store.renew(others, reviewer, LEASE_SECONDS)}
        not_waiting = [each for each in ids if each in others and each not in held]
        return Renewed([each for each in ids if each in held], not_waiting)

    def _found(self, ids: Sequence[str]) -> dict[str, StoredInstance]:
        try:
            items = self._contents.items(ids)
        except StoreError as error:
            self._contents.fail(error)
            return {}
        now = self._wall_clock()
        return {name: stored_in(each, now) for name, each in items.items()}
