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
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from threading import Lock
from typing import Final, NamedTuple

import msgspec

from manyclass.core.event import Text
from manyclass.service.errors import NotReady, with_hint, without_place
from manyclass.service.ingest.peer_messages import packed_reading, unpacked_reading
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.second_labels import Labelled, LabelPair, is_chosen
from manyclass.service.ingest.stored_instance import (
    ServedClasses,
    StoredInstance,
    WaitingInstance,
)
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
SHOWN_BYTES: Final = 4096  # of a text, in a list


class Head(msgspec.Struct, array_like=True, frozen=True):
    """The part of a waiting instance that is needed to choose among all."""

    ranked_at: float  # unix seconds
    confidence: float | None
    first: str  # of the ranking; empty if no class was retrieved
    source: str | None
    batch: str | None
    given: bool  # for review: no ranked instance takes its place
    abstained: bool  # the ranking was served without classes
    bytes: int
    # Unix seconds, of a label whose event has an id of its own: the state does not recognise it.
    labelled_at: float | None = None
    pair: LabelPair | None = None  # once it is labelled, if two reviewers shall label it


class Body(msgspec.Struct, array_like=True):
    """The instance and its ranking."""

    data: bytes
    classes: tuple[str, ...]
    text: Text | None
    reading: tuple[int, int] | None


class QueueIsFull(Exception):
    """There is no room for instances that were given for review."""


class Choice(NamedTuple):
    """A choice among the waiting instances, and their order."""

    source: str | None = None
    batch: str | None = None
    first: str | None = None  # only those of which this class was ranked first
    abstained: bool = False  # only those whose ranking was served without classes
    is_random: bool = False


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


_head = msgspec.msgpack.Decoder(Head)
_body = msgspec.msgpack.Decoder(Body)


def item_of(
    waiting: WaitingInstance, text: Text | None, now: float, *, is_given: bool = False
) -> Item:
    """Return a waiting instance, with its whole text, in the form of the store."""
    served = waiting.served
    reading = packed_reading(waiting.reading)
    body = msgspec.msgpack.encode(Body(waiting.data, served.classes, text, reading))
    first = served.classes[0] if served.classes else ""
    ranked_at = now - max(0.0, waiting.age)
    origin = waiting.source, waiting.batch
    abstained = served.abstained
    head = Head(ranked_at, served.confidence, first, *origin, is_given, abstained, len(body))
    return Item(msgspec.msgpack.encode(head), body)


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
        most_items: int,
        most_bytes: int,
        seconds: float,
        twice: int = 0,
    ) -> None:
        """`is_labelled` tells whether the state has a label of an instance of this id.

        `twice` percent of the instances stay after their label, for a second reviewer.
        """
        self.items = 0
        self.bytes = 0
        self.failures = 0
        # The reason why the store does not take instances now, or cannot be read.
        self.failing: str | None = None
        self._store = store
        self._pending = pending
        self._is_labelled = is_labelled
        self._wall_clock = wall_clock
        self._most_items = most_items
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._twice = twice
        self._lock = Lock()  # of all that follows, but for `_labelled`
        self._heads: dict[str, Head] | None = None  # of the store; None: not read yet
        self._unsaved: dict[str, Item] = {}  # copied, and not yet taken by the store
        self._notes: dict[str, LabelPair | None] = {}  # pairs that the heads do not have yet
        self._first_labels: deque[tuple[str, LabelPair]] = deque()  # the same, of the event loop
        self._learned: deque[str] = deque()  # labelled here, whose leases have not ended yet
        self._bounded_at = -BOUND_SECONDS
        # The store can be read and took the last write; at the start this is not known.
        self._takes = False
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
        waiting, unsaved = self._heads or {}, self._unsaved
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
        head = (self._heads or {}).get(instance_id)
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

    def is_for_two(self, instance_id: str) -> bool:
        """Return whether an instance belongs to the share that two reviewers label."""
        return is_chosen(instance_id, self._twice)

    def labelled_by(self, instance_id: str, reviewer: str, classes: Sequence[str]) -> None:
        """Note the first label of an instance, which may belong to those for two reviewers."""
        if self.is_for_two(instance_id):
            self._first_labels.append((instance_id, LabelPair(reviewer, tuple(classes))))

    async def choose_labelled(self, choice: Choice, limit: int, reviewer: str) -> Labelled:
        """Return instances that others have labelled, for a second label of this reviewer, and
        lease them.
        """
        if not self._twice:
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
            self._put_notes()
            is_labelled = bool(self._unmarked or self._learned)
            is_new = self._pending.newest != self._copied or is_labelled or bool(self._unsaved)
            is_new = is_new or self._heads is None
            if not is_new and self._wall_clock() < self._bounded_at + BOUND_SECONDS:
                self._write()
                return
            self._refresh()
            self._copy()
            self._mark_labelled()
            self._keep_bounds()
            self._bounded_at = self._wall_clock()
            self._end_leases()  # before other processes can see that a second label is asked for
            self._write()

    def give(self, given: Mapping[str, Item]) -> None:
        """Put instances into the queue, durably. Blocks. Raises QueueIsFull and StoreError."""
        with self._lock:
            self._refresh(must=True)
            heads = self._known()
            kept = [each for name, each in heads.items() if _is_kept(each) and name not in given]
            kept += _heads_of(given).values()
            if len(kept) > self._most_items or _bytes_of(kept) > self._most_bytes:
                raise QueueIsFull
            self._store.put(given)
            for each in given:
                self._unsaved.pop(each, None)
                self._forget_own_label(each)
            if self._heads is not None:
                self._heads |= _heads_of(given)
            self._keep_bounds()

    def erase(self, source: str | None, batch: str | None) -> int:
        """Remove the instances of a source, a batch, or of both; return their number. Blocks.

        Raises StoreError.
        """
        with self._lock:
            self._refresh(must=True)
            self._copy()
            chosen = Choice(source, batch)
            gone = [name for name, each in self._known().items() if _is_of(each, chosen)]
            self._drop(gone)
            return len(gone)

    def remove(self, ids: Collection[str]) -> int:
        """Remove instances; return how many there were. Blocks. Raises StoreError."""
        with self._lock:
            self._refresh(must=True)
            self._copy()
            heads = self._known()
            gone = [each for each in dict.fromkeys(ids) if each in heads]
            self._drop(gone)
            return len(gone)

    def add_pair(self, instance_id: str, pair: LabelPair) -> None:
        """Note that a second reviewer labelled an instance; the first note counts. Blocks.

        After an error of the store, the note is written with a later flush.
        """
        with self._lock:
            self._put_notes()
            self._refresh()
            head = self._known().get(instance_id)
            noted = self._notes.get(instance_id, None if head is None else head.pair)
            if noted is not None and noted.is_open:
                self._note({instance_id: pair})

    def forget_pairs(self, ids: Collection[str] = (), reviewer: str | None = None) -> None:
        """Forget the labels of instances, and the second labels of a reviewer. Blocks."""
        with self._lock:
            self._put_notes()
            self._refresh()
            heads = self._known()
            pairs = {name: each.pair for name, each in heads.items() if each.pair is not None}
            notes: dict[str, LabelPair | None] = {
                name: LabelPair(pair.first_reviewer, pair.first)
                for name, pair in pairs.items()
                if reviewer is not None and pair.second_reviewer == reviewer
            }
            self._note(notes | dict.fromkeys(each for each in ids if each in pairs))

    def pairs(self) -> dict[str, LabelPair]:
        """Return the two labels of each instance that has two, newest first. Blocks."""
        with self._lock:
            self._refresh()
            heads = self._known()
        labelled = {name: each.pair for name, each in heads.items() if each.pair is not None}
        pairs = {name: each for name, each in labelled.items() if not each.is_open}
        return dict(sorted(pairs.items(), key=lambda each: each[1].time, reverse=True))

    def texts(self, ids: Sequence[str]) -> dict[str, Text | None]:
        """Return the beginning of the text of each of these instances. Blocks."""
        items = self._items(ids)
        return {name: shown_text(_body.decode(each.body).text)[0] for name, each in items.items()}

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
            items, now = self._items(some), self._wall_clock()
            yield from (_waiting(name, items[name], now) for name in some if name in items)

    def close(self) -> None:
        """Write the newest instances, and release the store. Blocks."""
        self.flush()
        self._store.close()

    # --- in a thread, with the lock ---------------------------------------------------------------

    def _write(self) -> None:
        """Write new instances; without any, try whether the store takes some, after an error."""
        if not self._unsaved and self._takes:
            return
        try:
            if self._unsaved:
                self._store.put(self._unsaved)
            else:
                self._store.check_put()
        except StoreError as error:
            self._fail(error)
        else:
            if self._heads is not None:
                self._heads |= _heads_of(self._unsaved)
            self._unsaved = {}
            if self._heads is not None:  # else they could not be read
                self.failing = None
                self._takes = True

    def _note(self, pairs: Mapping[str, LabelPair | None]) -> None:
        """Keep the labels of instances for two reviewers, or forget them, and write that."""
        self._notes |= pairs
        self._put_notes()
        self._write()

    def _end_leases(self) -> None:
        """End the leases of instances that were labelled, so that a second reviewer gets them."""
        learned = [self._learned.popleft() for _ in range(len(self._learned))]
        known = self._known() if learned else {}
        try:
            self._store.end_leases([each for each in learned if each in known])
        except StoreError as error:  # they end by themselves
            self._fail(error)

    def _put_notes(self) -> None:
        """Put the noted labels into the heads of their instances."""
        while self._first_labels:
            instance_id, pair = self._first_labels.popleft()
            self._notes[instance_id] = pair
        notes = self._notes
        if not notes:
            return
        try:
            stored = self._store.items([each for each in notes if each not in self._unsaved])
        except StoreError as error:
            self._fail(error)
            return
        items = stored | {each: self._unsaved[each] for each in notes if each in self._unsaved}
        for name, item in items.items():
            head = msgspec.structs.replace(_head.decode(item.head), pair=notes[name])
            self._unsaved[name] = Item(msgspec.msgpack.encode(head), item.body)
        self._notes = {}

    def _copy(self) -> None:
        newest = self._pending.newest
        if newest == self._copied:
            return
        now = self._wall_clock()
        heads = self._heads or {}
        self._drop_emptied()
        for each in self._pending.least_certain(COPIED_AT_ONCE, after=self._copied):
            if each.id in heads and heads[each.id].given:
                continue  # a ranking takes no place of an instance given for review
            text = each.text
            if each.is_text_cut:
                stored = self._pending.find(each.id)
                text = stored.text if isinstance(stored, StoredInstance) else text
            self._unsaved[each.id] = item_of(each, text, now)
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
        may_wait = [
            each
            for each in unmarked
            if each in self._unsaved or self._store.is_shared or each in (self._heads or {})
        ]
        try:
            items = self._store.items(may_wait)
        except StoreError as error:
            self._unmarked = unmarked | self._unmarked
            self._fail(error)
            return
        items |= {each: self._unsaved[each] for each in may_wait if each in self._unsaved}
        for name, item in items.items():
            head = msgspec.structs.replace(_head.decode(item.head), labelled_at=unmarked[name])
            self._unsaved[name] = Item(msgspec.msgpack.encode(head), item.body)

    def _drop_emptied(self) -> None:
        """Remove instances that their clients replaced by one without features."""
        recent = list(self._recent)[-RECENT:]
        found = {each: self._pending.find(each) for each in recent}
        emptied = [
            name
            for name, each in found.items()
            if isinstance(each, StoredInstance) and len(each.instance) == 0
        ]
        self._recent = dict.fromkeys(each for each in recent if each not in emptied)
        try:
            self._drop(emptied)
        except StoreError as error:
            self._fail(error)

    def _keep_bounds(self) -> None:
        """Remove instances that are too old or were labelled, and beyond the bounds the most
        certain ones.
        """
        heads, now = self._known(), self._wall_clock()
        gone = [
            name
            for name, each in heads.items()
            if each.ranked_at < now - self._seconds
            or (each.labelled_at is not None and each.labelled_at < now - UNDO_SECONDS)
            or (each.pair is not None and each.pair.is_open and not self.is_for_two(name))
        ]
        count, size = len(heads) - len(gone), _bytes_of(heads.values())
        size -= _bytes_of(heads[name] for name in gone)
        if count > self._most_items or size > self._most_bytes:
            old = set(gone)
            for name in sorted(heads, key=lambda each: _uncertainty(heads[each]), reverse=True):
                if count <= self._most_items and size <= self._most_bytes:
                    break
                if name not in old and not _is_kept(heads[name]):
                    gone.append(name)
                    count, size = count - 1, size - heads[name].bytes
        try:
            self._drop(gone)
        except StoreError as error:
            self._fail(error)
        left = heads.keys() - gone
        self.items = sum(1 for each in left if self._waits(each, heads[each]))
        self.bytes = size

    def _waits(self, name: str, head: Head) -> bool:
        """Return whether an instance waits for its first label, as far as this process knows."""
        return head.labelled_at is None and head.pair is None and name not in self._labelled

    def _drop(self, ids: Collection[str]) -> None:
        for each in ids:
            self._unsaved.pop(each, None)
        stored = self._heads
        kept = [each for each in ids if stored is None or each in stored]
        if kept:
            self._store.remove(kept)
        if stored is not None:
            for each in kept:
                del stored[each]

    def _refresh(self, must: bool = False) -> None:
        """Read the heads in the store, unless this process knows them.

        Raises StoreError only if it `must` read them.
        """
        if self._heads is not None and not self._store.is_shared:
            return
        try:
            self._heads = self._readable_heads()
        except StoreError as error:
            if must:
                raise
            self._fail(error)

    def _known(self) -> dict[str, Head]:
        """Return the heads of all instances, stored or not, as of the last `_refresh`."""
        return (self._heads or {}) | _heads_of(self._unsaved)

    def _readable_heads(self) -> dict[str, Head]:
        """Return the heads in the store; remove instances whose head cannot be read."""
        heads: dict[str, Head] = {}
        damaged: list[str] = []
        for name, each in self._store.heads().items():
            try:
                heads[name] = _head.decode(each)
            except msgspec.MsgspecError:
                damaged.append(name)
        if damaged:
            log.error("%d damaged instances leave the review queue: %s", len(damaged), damaged[:10])
            self._store.remove(damaged)
        return heads

    def _fail(self, error: StoreError) -> None:
        if self.failing is None:
            log.warning("the review queue is in memory only: %s", with_hint(error))
        self.failures += 1
        self.failing = without_place(error)
        self._takes = False

    # --- in a thread ------------------------------------------------------------------------------

    def _ordered(self, choice: Choice) -> list[str]:
        self.flush()
        with self._lock:
            self._refresh()
            heads = {
                name: each
                for name, each in self._known().items()
                if each.labelled_at is None and each.pair is None and _is_of(each, choice)
            }
        if choice.is_random:
            return random.sample(list(heads), len(heads))
        return sorted(heads, key=lambda each: _uncertainty(heads[each]))

    def _labelled_by_others(self, choice: Choice, reviewer: str) -> list[str]:
        """Return the instances of a choice that others have labelled and a second label lack."""
        self.flush()
        with self._lock:
            self._refresh()
            heads = self._known()
        found = [name for name, each in heads.items() if _is_of(each, choice)]
        pairs = ((name, heads[name].pair) for name in found)
        lacking = [
            name
            for name, pair in pairs
            if pair is not None and pair.is_open and pair.first_reviewer != reviewer
        ]
        return sorted(lacking, key=lambda each: _uncertainty(heads[each]))

    def _which_wait(self, ids: Collection[str]) -> list[str]:
        """Return the ids whose instances are in the queue, each once."""
        with self._lock:
            self._refresh()
            heads = self._known()
        found = dict.fromkeys(each for each in ids if each in heads)
        return [each for each in found if heads[each].labelled_at is None]

    def _renewed(self, ids: Collection[str], waiting: Collection[str], reviewer: str) -> Renewed:
        held = {*self._store.lease(waiting, reviewer, LEASE_SECONDS, len(waiting))}
        # Events are leased too (strategy=suspect), and do not wait in the queue.
        others = {*ids} - {*waiting}
        held |= {*self._store.renew(others, reviewer, LEASE_SECONDS)}
        not_waiting = [each for each in ids if each in others and each not in held]
        return Renewed([each for each in ids if each in held], not_waiting)

    def _items(self, ids: Sequence[str]) -> dict[str, Item]:
        with self._lock:
            unsaved = {name: self._unsaved[name] for name in ids if name in self._unsaved}
        return self._store.items([name for name in ids if name not in unsaved]) | unsaved

    def _found(self, ids: Sequence[str]) -> dict[str, StoredInstance]:
        try:
            items = self._items(ids)
        except StoreError as error:
            self._fail(error)
            return {}
        now = self._wall_clock()
        return {name: _stored(each, now) for name, each in items.items()}


def _heads_of(items: Mapping[str, Item]) -> dict[str, Head]:
    return {name: _head.decode(each.head) for name, each in items.items()}


def _is_kept(head: Head) -> bool:
    """Return whether an instance stays when there is no room: it was given and waits."""
    return head.given and head.pair is None


def _bytes_of(heads: Iterable[Head]) -> int:
    return sum(each.bytes for each in heads)


def _uncertainty(head: Head) -> tuple[float, float]:
    return -1.0 if head.confidence is None else head.confidence, head.ranked_at


def _is_of(head: Head, choice: Choice) -> bool:
    return (
        (choice.source is None or head.source == choice.source)
        and (choice.batch is None or head.batch == choice.batch)
        and (choice.first is None or head.first == choice.first)
        and (head.abstained or not choice.abstained)
    )


def _waiting(name: str, item: Item, now: float) -> WaitingInstance:
    head, body = _head.decode(item.head), _body.decode(item.body)
    text, is_cut = shown_text(body.text)
    return WaitingInstance(
        name,
        body.data,
        max(0.0, now - head.ranked_at),
        ServedClasses(body.classes, head.confidence, head.abstained),
        head.source,
        text,
        is_cut,
        unpacked_reading(body.reading),
        head.batch,
    )


def _stored(item: Item, now: float) -> StoredInstance:
    head, body = _head.decode(item.head), _body.decode(item.body)
    return StoredInstance(
        body.data,
        max(0.0, now - head.ranked_at),
        0,  # not of this process: its ranking is not scored
        source=head.source,
        text=body.text,
        reading=unpacked_reading(body.reading),
        batch=head.batch,
    )


def shown_text(text: Text | None) -> tuple[Text | None, bool]:
    """Return the beginning of a text, or of the text of each field, and whether it is cut."""
    if text is None or isinstance(text, str):
        begin = None if text is None else _cut(text, SHOWN_BYTES)
        return begin, begin != text
    sizes = sorted(len(each.encode()) for each in text.values())
    room = SHOWN_BYTES
    for at, size in enumerate(sizes):
        left = len(sizes) - at
        if size > room // left:  # a long text does not hide another one
            short = {name: _cut(each, room // left) for name, each in text.items()}
            return short, True
        room -= size
    return text, False


def _cut(text: str, most: int) -> str:
    """Return the first bytes of a text, without a cut character at its end."""
    return text.encode()[:most].decode(errors="ignore")
