"""Instances that other processes on the same store have ranked: asked for and told by letter."""

import asyncio
import logging
from collections.abc import Collection, Iterator
from itertools import count

import msgspec

from manyclass.core.errors import EventError
from manyclass.core.event import Instance
from manyclass.service.engine import Engine
from manyclass.service.ingest.peer_messages import LETTER_IDS, Answer, Question, opened, sealed
from manyclass.service.ingest.pending_labels import Absence, Kept, PendingLabels
from manyclass.service.observability.metrics import Metrics
from manyclass.service.store.protocol import PeerMessage, StoreError

log = logging.getLogger(__name__)

ANSWER_SECONDS = 1.0  # so long the others have; then the label has to be sent again
LETTER_BYTES = 2**20  # of instances in one letter; one that is larger has a letter of its own
MOST_IDS = 100_000  # that wait for their letter while the store is slow
MOST_BYTES = 64 * 2**20  # of answers that do

_SAID_BY_ALL = (Absence.NEVER_SEEN, Absence.TOO_LATE)
_RESULTS = {
    Absence.TOO_LATE: "too_late",
    Absence.NEVER_SEEN: "unknown",
    Absence.NO_ANSWER: "no_answer",
}


class PeerLookup:
    """Finds what other processes have ranked, and tells them what was ranked here.

        ids ──► next round ──► a letter to each process ──► answers
                (grows while letters are posted)

    Everybody is asked: an id that a client gave may have been ranked by any of them. Nothing here
    is certain to arrive, so each answer is waited for only so long. Belongs to the event loop's
    thread; letters are posted in another.
    """

    def __init__(self, engine: Engine, late: PendingLabels, metrics: Metrics) -> None:
        self._engine = engine
        self._late = late
        self._metrics = metrics
        self._numbers = count(1)
        self._next: dict[str, _Asked] = {}  # ids whose letters are still to be written
        self._rounds: dict[int, dict[str, _Asked]] = {}  # by the number of the question
        self._answers: list[tuple[str, bytes]] = []  # letters, with the process they are for
        self._answers_bytes = 0
        self._posting: asyncio.Task[None] | None = None

    async def find(self, ids: Collection[str]) -> dict[str, Kept | Absence]:
        """What the others say of each id; nothing when the store is not shared."""
        if self._engine.shared is None:
            return {}
        known = set(self._others())
        said = await self._said_of(ids)
        missing = [each for each, found in said.items() if found in _SAID_BY_ALL]
        if missing:  # somebody may have begun since the last beat
            if await self._engine.look() is None:
                said |= dict.fromkeys(missing, Absence.NO_ANSWER)
            elif not known.issuperset(self._others()):
                said |= await self._said_of(missing)
        for found in said.values():
            result = "found" if isinstance(found, Kept) else _RESULTS[found]
            self._metrics.peer_lookups[result] += 1
        return said

    def hear(self, letter: PeerMessage) -> None:
        """Take a letter. One that is damaged, or of another version, is left unread."""
        try:
            match opened(letter.body):
                case Question() as question:
                    self._tell(letter.sender, question)
                case Answer() as answer:
                    self._take(letter.sender, answer)
        except (msgspec.DecodeError, EventError) as error:
            log.warning("a letter of process %s cannot be read: %s", letter.sender, error)

    async def close(self) -> None:
        """Return when no letter is being posted any more."""
        if self._posting is not None:
            await asyncio.wait([self._posting])

    # --- asking ----------------------------------------------------------------------------------

    def _others(self) -> list[str]:
        """The other processes that live, as far as is known."""
        shared, beat = self._engine.shared, self._engine.beat
        if shared is None or beat is None:
            return []
        return [process.name for process in beat.processes if process.name != shared.name]

    async def _said_of(self, ids: Collection[str]) -> dict[str, Kept | Absence]:
        if len(self._next) + len(ids) > MOST_IDS:
            return dict.fromkeys(ids, Absence.NO_ANSWER)
        asked = {each: self._ask(each) for each in ids}
        await asyncio.wait([each.answer for each in asked.values()], timeout=ANSWER_SECONDS)
        return {name: each.said for name, each in asked.items()}

    def _ask(self, instance_id: str) -> "_Asked":
        asked = self._next.get(instance_id)
        if asked is None:
            asked = self._next[instance_id] = _Asked(asyncio.get_running_loop().create_future())
            self._post_soon()
        return asked

    def _questions(self, waiting: dict[str, "_Asked"]) -> Iterator[tuple[str, bytes]]:
        """The letters that ask for all of these, at most LETTER_IDS in each."""
        others = self._others()
        ids = list(waiting)
        for start in range(0, len(ids), LETTER_IDS):
            number = next(self._numbers)
            question = Question(number, ids[start : start + LETTER_IDS])
            self._rounds[number] = {each: waiting[each] for each in question.ids}
            for asked in self._rounds[number].values():
                asked.of(others)
            # By then everybody has stopped waiting who began before the letter was written.
            asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._rounds.pop, number)
            body = sealed(question)
            yield from ((process, body) for process in others)

    def _take(self, sender: str, answer: Answer) -> None:
        asked = self._rounds.get(answer.number, {})
        for instance_id, age, data in answer.kept:
            Instance.from_bytes(data)  # EventError
            if instance_id in asked:
                asked[instance_id].hear(sender, Kept(data, age))
        for ids, absence in (
            (answer.too_late, Absence.TOO_LATE),
            (answer.never_seen, Absence.NEVER_SEEN),
        ):
            for instance_id in ids:
                if instance_id in asked:
                    asked[instance_id].hear(sender, absence)

    # --- telling ---------------------------------------------------------------------------------

    def _tell(self, sender: str, question: Question) -> None:
        for answer in self._what_is_known(question):
            body = sealed(answer)
            if self._answers_bytes + len(body) > MOST_BYTES:
                log.warning("process %s gets no answer: too many wait to be sent", sender)
                return
            self._answers.append((sender, body))
            self._answers_bytes += len(body)
        self._post_soon()

    def _what_is_known(self, question: Question) -> Iterator[Answer]:
        answer = Answer(question.number)
        size = 0
        for instance_id in question.ids:
            found = self._late.find(instance_id)
            if found is Absence.TOO_LATE:
                answer.too_late.append(instance_id)
            elif isinstance(found, Absence):
                answer.never_seen.append(instance_id)
            else:
                age = max(0.0, found.age)  # clocks have been set back before
                answer.kept.append((instance_id, age, found.data))
                size += len(found.data)
            if size >= LETTER_BYTES:
                yield answer
                answer = Answer(question.number)
                size = 0
        yield answer

    # --- posting ---------------------------------------------------------------------------------

    def _post_soon(self) -> None:
        if self._posting is None:
            self._posting = asyncio.create_task(self._post())

    async def _post(self) -> None:
        """Send what there is, and what comes meanwhile after it."""
        try:
            while (self._next or self._answers) and self._engine.shared is not None:
                waiting, self._next = self._next, {}
                letters, self._answers, self._answers_bytes = self._answers, [], 0
                letters.extend(self._questions(waiting))
                if not letters:
                    continue
                try:
                    await asyncio.to_thread(self._engine.shared.post, letters)
                except StoreError as error:
                    # Whoever asked is told so, and the engine has logged it: no line for each.
                    log.debug("%d letters were not sent: %s", len(letters), error)
                    for asked in waiting.values():
                        asked.give_up()
        finally:
            self._posting = None


class _Asked:
    """An id the others are asked for: who has not answered yet, and what it came to."""

    __slots__ = ("_absence", "_unanswered", "answer")

    def __init__(self, answer: "asyncio.Future[Kept | Absence]") -> None:
        self.answer = answer
        self._unanswered: set[str] = set()
        self._absence = Absence.NEVER_SEEN

    @property
    def said(self) -> Kept | Absence:
        """What is known by now."""
        return self.answer.result() if self.answer.done() else Absence.NO_ANSWER

    def of(self, processes: Collection[str]) -> None:
        """These are asked."""
        self._unanswered = set(processes)
        if not self._unanswered:
            self._settle(Absence.NEVER_SEEN)

    def hear(self, process: str, said: Kept | Absence) -> None:
        """One of them answers: the first instance counts, else what all of them said."""
        if process not in self._unanswered:
            return
        self._unanswered.discard(process)
        if isinstance(said, Kept):
            self._settle(said)
            return
        self._absence = max(self._absence, said)
        if not self._unanswered:
            self._settle(self._absence)

    def give_up(self) -> None:
        """Nobody is going to answer any more."""
        self._settle(Absence.NO_ANSWER)

    def _settle(self, said: Kept | Absence) -> None:
        if not self.answer.done():
            self.answer.set_result(said)
