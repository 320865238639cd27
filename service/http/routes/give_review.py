"""POST /review, /review/leases and /review/undo: the changes of the queue of review."""

import asyncio
from secrets import token_hex
from typing import ClassVar

import msgspec

from manyclass.core.aliases import names_now
from manyclass.core.event import Event
from manyclass.core.instance import LONGEST_NAME
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.auth import ApiKeys, Scope, Signer
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode, too_many
from manyclass.service.http.instance_labels import InstanceLabels
from manyclass.service.http.instances import LARGE_BYTES, instance_of, is_large, large_instance_of
from manyclass.service.http.large_body import LargeBodies
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.http.problems import Problem, invalid, problem_of
from manyclass.service.http.schemas.rank import RankInstance
from manyclass.service.http.schemas.review import (
    Given,
    GiveRequest,
    Leased,
    LeaseRequest,
    Undone,
    UndoRequest,
)
from manyclass.service.http.time_slice import TimeSlice
from manyclass.service.ingest.pending_labels import MOST_SERVED
from manyclass.service.ingest.queued_instance import item_of
from manyclass.service.ingest.review_queue import UNDO_SECONDS, QueueIsFull, ReviewQueue
from manyclass.service.ingest.stored_instance import ServedClasses, WaitingInstance
from manyclass.service.store.waiting import Item

_given = msgspec.json.Decoder(GiveRequest)
_leases = msgspec.json.Decoder(LeaseRequest)
_undo = msgspec.json.Decoder(UndoRequest)
_encode = msgspec.json.Encoder().encode


class _LargeRequest(GiveRequest):
    """A GiveRequest whose instances are decoded by themselves, so that its list is empty first."""

    instances: list[RankInstance]


class _ReviewCall(ChangeCall):
    tag = "learn"
    scope = Scope.LEARN
    statuses: ClassVar[tuple[int, ...]] = ()

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        queue: ReviewQueue,
    ) -> None:
        super().__init__(settings, engine, keys, budget)
        self._queue = queue


class GiveReview(_ReviewCall):
    """Puts instances into the queue."""

    path = "/review"
    title = "give_review"
    statuses = (409,)
    reads: ClassVar = {"application/json": ["GiveRequest"]}
    writes: ClassVar = {"application/json": ["Given"]}

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        queue: ReviewQueue,
        labels: InstanceLabels,
    ) -> None:
        super().__init__(settings, engine, keys, budget, queue)
        self._labels = labels
        self._large = LargeBodies(_LargeRequest, RankInstance, "instances", settings.max_batch)

    async def answer(self, request: CallRequest) -> bytes:
        """Give instances to people to label, for example the rows of a file without labels.

        Each is ranked, for its suggestions, and waits until it is labelled by its `id`, which is
        made if it has none. An answer of 200 means that they are stored and survive a restart, but
        for those `labelled` already, which do not wait; one that waits is replaced. They wait for a
        limited time (`MANYCLASS_REVIEW_SECONDS`); ranked instances make room for them. If even so
        there is no room, none is taken, and the answer is 409.
        """
        body = await self.body(request)
        form = decode(_given, body) if len(body) <= LARGE_BYTES else await self._large.request(body)
        if not form.instances:
            raise invalid("There is no instance to review.", "instances")
        if len(form.instances) > self._settings.max_batch:
            raise too_many("instances", self._settings.max_batch)
        _check_size(form.batch, "batch")
        time_slice = TimeSlice()
        given: dict[str, Item] = {}
        for position, each in enumerate(form.instances):
            try:
                instance_id, item = await self._item(each, form.batch)
            except Exception as error:
                raise problem_of(error).within("instances", position) from error
            if instance_id in given:
                raise invalid(f"The id {instance_id!r} occurs twice.", "instances", position, "id")
            request.reservation.add(len(item.head) + len(item.body))
            given[instance_id] = item
            if time_slice.is_over:
                await time_slice.renew()
        try:
            await asyncio.to_thread(self._queue.give, given)
        except QueueIsFull:
            raise Problem(
                409,
                "The queue of review has no room for these instances: label some that wait, delete"
                " them by their batch, or raise MANYCLASS_REVIEW_ITEMS and MANYCLASS_REVIEW_BYTES.",
            ) from None
        labelled = [each for each in given if await self._labels.is_labelled(each)]
        return _encode(Given(list(given), labelled))

    async def _item(self, form: RankInstance, batch: str | None) -> tuple[str, Item]:
        _check_size(form.source, "source")
        model, most = self._engine.model, self._settings.max_features_per_instance
        if is_large(form):
            instance, _, _, reading = await large_instance_of(form, model.text, most)
        else:
            instance, _, _, reading = instance_of(form, model.text, most)
        model.check_vector(instance)
        ranked, confidence, _ = model.answering.answer(instance, MOST_SERVED, None)
        served = ServedClasses(
            tuple(name for name, _ in ranked),
            None if confidence is None else round(confidence, 6),
            abstained=False,
        )
        text = form.text if self._engine.keeps_history else None
        instance_id = form.id or token_hex(8)
        waiting = WaitingInstance(
            instance_id, bytes(instance), 0.0, served, form.source, reading=reading, batch=batch
        )
        return instance_id, item_of(waiting, text, self._queue.now, is_given=True)


class LeaseReview(_ReviewCall):
    """Renews and ends leases."""

    path = "/review/leases"
    title = "lease_review"
    reads: ClassVar = {"application/json": ["LeaseRequest"]}
    writes: ClassVar = {"application/json": ["Leased"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Renew the leases of the instances in view, and release others.

        `held` lists those of `renew` that no other reviewer has; they are leased for two minutes
        from now. The reviewer is the name of the key, or else `reviewer`.
        """
        form = decode(_leases, await self.body(request))
        reviewer = _named(request, form.reviewer)
        await asyncio.to_thread(self._queue.release, form.release or [], reviewer)
        renewed = await self._queue.renew(form.renew or [], reviewer)
        return _encode(Leased(renewed.held, renewed.not_waiting))


class UndoReview(_ReviewCall):
    """Takes the label of an instance back."""

    path = "/review/undo"
    title = "undo_review"
    statuses = (404, 409)
    reads: ClassVar = {"application/json": ["UndoRequest"]}
    writes: ClassVar = {"application/json": ["Undone"]}

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        queue: ReviewQueue,
        labels: InstanceLabels,
    ) -> None:
        super().__init__(settings, engine, keys, budget, queue)
        self._labels = labels

    async def answer(self, request: CallRequest) -> bytes:
        """Delete the label of an instance, which then waits again, if its label is younger than ten
        minutes.

        A reviewer takes only labels of this reviewer back; the answer is 409 for the label of
        another one. If a key has the name of the reviewer, that key has to be sent; an admin key
        takes any label back. A label that replaced another one is not taken back, since its event
        would go with the former label; the answer is 409. The deletion is a durable event, as that
        of `DELETE /events/{name}`; the next rebuild removes the effect of the label. With `seq`,
        the event of this number is deleted instead, which rejected classes of the instance with
        `not`; the instance waits on.
        """
        _ = self._engine.history  # raises HistoryOff, NotReady
        form = decode(_undo, await self.body(request))
        if form.seq is not None:
            record = await self._labels.find_rejection(form.id, form.seq)
            lacks = f"no event {form.seq} with `not` and without `classes`"
        else:
            record = (await self._labels.find(form.id)).record
            lacks = "no label"
        if record is None:
            raise Problem.at(404, f"The instance with the id {form.id!r} has {lacks}.", "id")
        if self._queue.now - record.time / 1000 > UNDO_SECONDS:
            detail = "The label is older than ten minutes: correct it, or have it deleted."
            raise Problem.at(409, detail, "id")
        self._check_reviewer(record.reviewer, request.signer, form.reviewer)
        event = record.event
        former = names_now(event.classes, self._engine.model.aliases)
        if record.is_corrected and sorted(former) != sorted(record.classes):
            detail = (
                f"The label replaced another one, {', '.join(former)}: label the instance with the"
                " right classes and `replace`, or delete its event."
            )
            raise Problem.at(409, detail, "id")
        deletion = Event.amend(
            record.seq,
            event.instance,
            [],
            record.classes,
            event.weight,
            text=event.text,
            reading=event.reading,
        )
        [result] = await self._engine.submit([deletion])
        if form.seq is None:
            self._queue.unlabelled(form.id)
            await asyncio.to_thread(self._queue.pairs.forget, [form.id])
        return _encode(Undone(result.seq, record.seq))

    def _check_reviewer(self, labelled: str | None, signer: Signer, given: str | None) -> None:
        """Raise Problem unless the signer is the reviewer who gave a label, or an admin."""
        if signer.is_admin:
            return
        reviewer = signer.reviewer(given)
        if labelled != reviewer:
            detail = f"The label was given by {labelled!r}, not by {reviewer!r}."
            raise Problem.at(409, detail, "reviewer")
        if labelled != signer.name and labelled in self._keys.names:
            detail = f"The label was given by {labelled!r}: send this reviewer's key."
            raise Problem.at(409, detail, "reviewer")


def _check_size(name: str | None, what: str) -> None:
    if name is not None and len(name.encode()) > LONGEST_NAME:
        raise invalid(f"`{what}` has at most {LONGEST_NAME} bytes.", what)


def _named(request: CallRequest, given: str | None) -> str:
    reviewer = request.signer.reviewer(given)
    if reviewer is None:
        raise invalid("A lease needs a `reviewer`: the name of a person.", "reviewer")
    return reviewer
