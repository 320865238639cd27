"""The label of a ranked instance: an instance has one, which another label may replace."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from manyclass.core.aliases import names_now
from manyclass.core.errors import EventConflict
from manyclass.core.event import Event
from manyclass.service.engine import Engine
from manyclass.service.history.event_keys import key_of
from manyclass.service.history.reader import Record
from manyclass.service.http.labels import Labels, check_correction
from manyclass.service.http.problems import FirstLabel, Problem
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.time_slice import run_in_thread
from manyclass.service.log.request import Result

_IDS: Final = re.compile(r"label[0-9]*:")
InThread = Callable[..., Awaitable[Any]]  # as ReadingThreads.run


def label_id(instance_id: str, number: int = 1) -> str:
    """Return the event id of the label of an instance: of its first one, or of a later one, after
    the events of the former ones were deleted.
    """
    return f"label{'' if number == 1 else number}:{instance_id}"


def is_label_id(event_id: str) -> bool:
    """Return whether an event id has the form of the label of an instance."""
    return _IDS.match(event_id) is not None


def labelled_id(event_id: str) -> str:
    """Return the id of the instance whose label has this event id."""
    return _IDS.sub("", event_id, count=1)


class Label(NamedTuple):
    """The event id of the label of an instance, and its event if there is one: `record` is None if
    the history does not reach it.
    """

    event_id: str
    seq: int | None = None
    fingerprint: int = 0
    record: Record | None = None


class InstanceLabels:
    """The labels of instances, by the event ids that are derived from the ids of the instances.

    Every process on a store decides by the same state of the model, also after a restart.
    """

    def __init__(self, engine: Engine, in_thread: InThread) -> None:
        self._engine = engine
        self._in_thread = in_thread

    async def is_labelled(self, instance_id: str) -> bool:
        """Return whether an instance has a label. Raises StoreError."""
        if self._engine.model.seen(label_id(instance_id)) is None:
            return False
        return (await self.find(instance_id)).seq is not None

    async def find(self, instance_id: str) -> Label:
        """Return the label of an instance. Raises StoreError."""
        number = self._newest(instance_id)
        seen = self._engine.model.seen(label_id(instance_id, number)) if number else None
        if seen is None:
            return Label(label_id(instance_id))
        seq, fingerprint = seen
        record = await self._record(seq)
        if record is None and self._was_deleted(seq):
            return Label(label_id(instance_id, number + 1))
        return Label(label_id(instance_id, number), seq, fingerprint, record)

    async def find_rejection(self, instance_id: str, seq: int) -> Record | None:
        """Return the event of this number if it rejects classes of the instance and labels it with
        none. Raises StoreError.
        """
        record = await self._record(seq)
        if record is None or record.event.instance_id != instance_id or record.classes:
            return None
        return record

    def _newest(self, instance_id: str) -> int:
        """Return the number of the newest label of an instance, 0 without one.

        A label has the next number only after all former ones were deleted. Steps grow and shrink
        twofold, so that many labels that were taken back cost little.
        """
        seen = self._engine.model.seen
        newest, step = 0, 1
        while seen(label_id(instance_id, newest + step)) is not None:
            newest += step
            step *= 2
        while (step := step // 2) > 0:
            if seen(label_id(instance_id, newest + step)) is not None:
                newest += step
        return newest

    async def again(
        self, form: LearnEvent | LearnRequest, labels: Labels, label: Label
    ) -> Event | Result:
        """Return the entry for a further label of an instance that has one.

        Equal classes are a retry. Other classes are refused with Problem 409, or with `replace`
        correct the event of the label.
        """
        assert label.seq is not None
        record = label.record
        classes = names_now(map(str, labels.classes), self._engine.model.aliases)
        if record is None:
            is_equal = label.fingerprint == labels.of_instance(str(form.id))
        else:
            is_equal = sorted(classes) == sorted(record.classes)
        if is_equal:
            return Result.of_retry(label.seq)
        if record is None or not form.replace:
            raise self._refusal(str(form.id), label)
        event = await run_in_thread(record.event.read_by, self._engine.model.text)
        check_correction(len(event.instance), len(classes) + len(record.classes))
        return Event.amend(
            record.seq,
            event.instance,
            classes,
            record.classes,
            event.weight,
            text=event.text,
            reading=event.reading,
            reviewer=form.reviewer,
        )

    async def problem_of(self, conflict: EventConflict) -> Problem:
        """Return the refusal of a label that came at the same time as another one."""
        record = None if conflict.seq > self._engine.model.seq else await self._record(conflict.seq)
        instance_id = labelled_id(conflict.event_id)
        return self._refusal(instance_id, Label(conflict.event_id, conflict.seq, 0, record))

    async def _record(self, seq: int) -> Record | None:
        if not self._engine.keeps_history:
            return None
        found: Record | None = await self._in_thread(self._engine.history.find, seq)
        return found

    def _was_deleted(self, seq: int) -> bool:
        """Return whether the history reaches an event, which it does not have, so far back."""
        return self._engine.keeps_history and seq >= self._engine.history.reader.first_seq

    def _refusal(self, instance_id: str, label: Label) -> Problem:
        record = label.record
        if record is None:
            first = FirstLabel(label.event_id, label.seq or 0, None, None, None)
            has = "has another label, which the history does not reach"
            way = "send a label with an `event_id` of its own to learn both"
        else:
            key = key_of(record.seq, record.event.event_id, self._engine.model)
            first = FirstLabel(
                key, record.seq, record.reviewer, record.classes, record.time / 1000 or None
            )
            by = f" by {record.reviewer!r}" if record.reviewer else ""
            names = ", ".join(map(repr, record.classes[:5]))
            has = f"was labelled {names}{by} (event {key!r})"
            way = "`replace: true` corrects that label"
        detail = f"The instance with the id {instance_id!r} {has}; {way}."
        return Problem.at(409, detail, "id").about(first)
