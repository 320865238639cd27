"""Looks up instances that other processes on the same store have ranked."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count

import msgspec

from manyclass.core.errors import EventError
from manyclass.core.instance import Instance
from manyclass.service.cluster import Cluster
from manyclass.service.history.rebuild_messages import (
    RebuildAnswer,
    RebuildMessage,
    RebuildQuestion,
    RebuildStatusQuestion,
)
from manyclass.service.ingest.peer_messages import (
    MESSAGE_IDS,
    Answer,
    Erased,
    Kept,
    Label,
    Labelled,
    Question,
    opened,
    packed_reading,
    unpacked_reading,
)
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.served_labels import ServedLabels
from manyclass.service.ingest.stored_instance import Absence, StoredInstance
from manyclass.service.observability.metrics import Metrics
from manyclass.service.sealing import sealed
from manyclass.service.store.errors import StoreError, StoreUnavailable
from manyclass.service.store.protocol import PeerMessage

log = logging.getLogger(__name__)

ANSWER_SECONDS = 1.0  # for answers; then the client has to send the label again
MESSAGE_BYTES = 2**20  # of instances in one message; a larger instance has a message of its own
MOST_IDS = 100_000  # that wait for their message while the store is slow
MOST_BYTES = 64 * 2**20  # of messages that wait while the store is slow

_SAID_BY_ALL = (Absence.NEVER_SEEN, Absence.TOO_LATE)
_RESULTS = {
    Absence.TOO_LATE: "too_late",
    Absence.NEVER_SEEN: "unknown",
    Absence.NO_ANSWER: "no_answer",
}


class PeerLookup:
    """Requests instances from other processes, and answers their requests.

        ids ──► next round ──► a message to each process ──► answers
                (grows while messages are posted)

    Each request goes to every process, because any of them may have ranked the id. Delivery of
    messages is not guaranteed, so the wait for an answer is bounded. Belongs to the event loop's
    thread; another thread posts the messages.
    """

    def __init__(
        self,
        cluster: Cluster,
        pending: PendingLabels,
        metrics: Metrics,
        on_rebuild: Callable[[str, RebuildMessage], None],
    ) -> None:
        """`on_rebuild` gets the sender and each message about rebuilds."""
        self._cluster = cluster
        self._pending = pending
        self._served = ServedLabels(pending, metrics.served)
        self._metrics = metrics
        self.erased: asyncio.Queue[Erased] = asyncio.Queue()  # by others, to be erased here too
        self._on_rebuild = on_rebuild
        self._numbers = count(1)
        self._next: dict[str, _Lookup] = {}  # ids whose messages are still to be written
        self._rounds: dict[int, dict[str, _Lookup]] = {}  # by the number of the question
        self._labels: dict[str, list[Label]] = {}  # still to be written, by process
        self._unsent: list[tuple[str, bytes]] = []  # messages, with the process they are for
        self._unsent_bytes = 0
        self._posting: asyncio.Task[None] | None = None

    async def find(self, ids: Collection[str]) -> dict[str, StoredInstance | Absence]:
        """Return the results of other processes for each id; empty if the store is not shared."""
        if self._cluster.shared is None:
            return {}
        known = set(self._cluster.peers())
        found = await self._ask_for(ids)
        missing = [name for name, each in found.items() if each in _SAID_BY_ALL]
        if missing:  # a process may have begun since the last heartbeat
            if await self._cluster.poll() is None:
                found |= dict.fromkeys(missing, Absence.NO_ANSWER)
            elif not known.issuperset(self._cluster.peers()):
                found |= await self._ask_for(missing)
        for each in found.values():
            result = "found" if isinstance(each, StoredInstance) else _RESULTS[each]
            self._metrics.peer_lookups[result] += 1
        return found

    def on_message(self, message: PeerMessage) -> None:
        """Handle a message; ignore it if it is damaged or of another version."""
        try:
            match opened(message.body):
                case Question() as question:
                    self._reply(message.sender, question)
                case Answer() as answer:
                    self._on_answer(message.sender, answer)
                case Labelled() as labelled:
                    for label in labelled.labels:
                        self._served.add(*label)
                case Erased() as erased:
                    self.erased.put_nowait(erased)
                case RebuildQuestion() | RebuildStatusQuestion() | RebuildAnswer() as about_rebuild:
                    self._on_rebuild(message.sender, about_rebuild)
        except (msgspec.DecodeError, EventError) as error:
            log.warning("a message of process %s cannot be read: %s", message.sender, error)

    def learned(
        self, stored: StoredInstance, classes: Sequence[str], rank_before: int | None
    ) -> None:
        """Tell the process that ranked an instance which label of it was learned.

        That process scores its ranking, and lists the instance for review no more. Delivery is not
        guaranteed: such an instance is not scored, and stays on the list until it is too old.
        """
        if stored.process is None:
            self._served.add(stored.number, classes, rank_before)
        elif classes:
            labels = self._labels.setdefault(stored.process, [])
            if len(labels) < MESSAGE_IDS:
                labels.append((stored.number, list(classes), rank_before))
                self._post_soon()

    async def tell_erased(self, erased: Sequence[Erased]) -> None:
        """Tell all other processes what was erased; the store has the messages on return. Raises
        StoreError.
        """
        shared = self._cluster.shared
        if shared is None:
            return
        if await self._cluster.poll() is None:  # a process may have begun since the last heartbeat
            raise StoreUnavailable("the other processes are not known", "send this again later")
        peers = self._cluster.peers()
        messages = [(process, sealed(each)) for each in erased for process in peers]
        if messages:
            await asyncio.to_thread(shared.post, messages)

    async def close(self) -> None:
        """Wait until no message is being posted."""
        if self._posting is not None:
            await asyncio.wait([self._posting])

    # --- questions -------------------------------------------------------------------------------

    async def _ask_for(self, ids: Collection[str]) -> dict[str, StoredInstance | Absence]:
        if len(self._next) + len(ids) > MOST_IDS:
            return dict.fromkeys(ids, Absence.NO_ANSWER)
        lookups = {each: self._lookup(each) for each in ids}
        await asyncio.wait([each.answer for each in lookups.values()], timeout=ANSWER_SECONDS)
        return {name: each.found for name, each in lookups.items()}

    def _lookup(self, instance_id: str) -> "_Lookup":
        lookup = self._next.get(instance_id)
        if lookup is None:
            lookup = self._next[instance_id] = _Lookup(asyncio.get_running_loop().create_future())
            self._post_soon()
        return lookup

    def _questions(self, waiting: dict[str, "_Lookup"]) -> Iterator[tuple[str, bytes]]:
        """Yield messages that request all of these ids, at most MESSAGE_IDS in each."""
        peers = self._cluster.peers()
        ids = list(waiting)
        for start in range(0, len(ids), MESSAGE_IDS):
            number = next(self._numbers)
            question = Question(number, ids[start : start + MESSAGE_IDS])
            self._rounds[number] = {each: waiting[each] for each in question.ids}
            for lookup in self._rounds[number].values():
                lookup.ask(peers)
            # By then, every lookup that began before the message was written has ended.
            asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._rounds.pop, number)
            body = sealed(question)
            yield from ((process, body) for process in peers)

    def _on_answer(self, sender: str, answer: Answer) -> None:
        lookups = self._rounds.get(answer.number, {})
        for kept in answer.kept:
            Instance.from_bytes(kept.data)  # EventError
            if kept.id in lookups:
                reading = unpacked_reading(kept.reading)
                stored = StoredInstance(
                    kept.data, kept.age, kept.number, sender, kept.source, kept.text, reading
                )
                lookups[kept.id].on_answer(sender, stored)
        for ids, absence in (
            (answer.too_late, Absence.TOO_LATE),
            (answer.never_seen, Absence.NEVER_SEEN),
        ):
            for instance_id in ids:
                if instance_id in lookups:
                    lookups[instance_id].on_answer(sender, absence)

    # --- answers ---------------------------------------------------------------------------------

    def _reply(self, sender: str, question: Question) -> None:
        for answer in self._answers_to(question):
            if not self._send(sender, sealed(answer)):
                log.warning("process %s gets no answer: too many wait to be sent", sender)
                return
        self._post_soon()

    def _answers_to(self, question: Question) -> Iterator[Answer]:
        answer = Answer(question.number)
        size = 0
        for instance_id in question.ids:
            found = self._pending.find(instance_id)
            if found is Absence.TOO_LATE:
                answer.too_late.append(instance_id)
            elif isinstance(found, Absence):
                answer.never_seen.append(instance_id)
            else:
                age = max(0.0, found.age)  # clocks have been set back before
                given = found.source, found.text, packed_reading(found.reading)
                answer.kept.append(Kept(instance_id, age, found.data, found.number, *given))
                size += len(found.data) + len(msgspec.msgpack.encode(found.text))
            if size >= MESSAGE_BYTES:
                yield answer
                answer = Answer(question.number)
                size = 0
        yield answer

    # --- posting ---------------------------------------------------------------------------------

    def _send(self, process: str, body: bytes) -> bool:
        """Add a message to those to be sent; return False if too many wait."""
        if self._unsent_bytes + len(body) > MOST_BYTES:
            return False
        self._unsent.append((process, body))
        self._unsent_bytes += len(body)
        return True

    def _post_soon(self) -> None:
        if self._posting is None:
            self._posting = asyncio.create_task(self._post())

    async def _post(self) -> None:
        """Send all messages, including the messages written during the sending."""
        shared = self._cluster.shared
        try:
            while (self._next or self._labels or self._unsent) and shared is not None:
                waiting, self._next = self._next, {}
                messages, self._unsent, self._unsent_bytes = self._unsent, [], 0
                messages.extend(self._questions(waiting))
                labels, self._labels = self._labels, {}
                messages.extend((name, sealed(Labelled(each))) for name, each in labels.items())
                if not messages:
                    continue
                try:
                    await asyncio.to_thread(shared.post, messages)
                except StoreError as error:
                    # The callers get the error, and the cluster logs it: no line for each message.
                    log.debug("%d messages were not sent: %s", len(messages), error)
                    for lookup in waiting.values():
                        lookup.give_up()
        finally:
            self._posting = None


class _Lookup:
    """The search for one id: the processes that have not answered yet, and the result."""

    __slots__ = ("_absence", "_unanswered", "answer")

    def __init__(self, answer: "asyncio.Future[StoredInstance | Absence]") -> None:
        self.answer = answer
        self._unanswered: set[str] = set()
        self._absence = Absence.NEVER_SEEN

    @property
    def found(self) -> StoredInstance | Absence:
        """The result so far."""
        return self.answer.result() if self.answer.done() else Absence.NO_ANSWER

    def ask(self, processes: Collection[str]) -> None:
        """Expect an answer of each of these processes."""
        self._unanswered = set(processes)
        if not self._unanswered:
            self._settle(Absence.NEVER_SEEN)

    def on_answer(self, process: str, found: StoredInstance | Absence) -> None:
        """Take the answer of a process: the first instance wins, else the highest absence."""
        if process not in self._unanswered:
            return
        self._unanswered.discard(process)
        if isinstance(found, StoredInstance):
            self._settle(found)
            return
        self._absence = max(self._absence, found)
        if not self._unanswered:
            self._settle(self._absence)

    def give_up(self) -> None:
        """End the search: no further answer is expected."""
        self._settle(Absence.NO_ANSWER)

    def _settle(self, found: StoredInstance | Absence) -> None:
        if not self.answer.done():
            self.answer.set_result(found)
