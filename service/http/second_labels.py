"""The second labels of instances: a label of another reviewer is compared, and not learned."""

import asyncio
from collections.abc import Callable
from typing import Final

from manyclass.core.aliases import names_now
from manyclass.service.engine import Engine
from manyclass.service.http.instance_labels import InstanceLabels, Label
from manyclass.service.http.labels import Labels
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.ingest.review_queue import Choice, ReviewQueue
from manyclass.service.ingest.second_labels import Labelled, LabelPair

MOST_KNOWN: Final = 5000  # instances whose first reviewer is remembered


class SecondLabels:
    """Gives labelled instances of a share to a second reviewer, and notes what this one says.

    Belongs to the event loop's thread.
    """

    def __init__(
        self,
        engine: Engine,
        queue: ReviewQueue,
        labels: InstanceLabels,
        wall_clock: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._queue = queue
        self._labels = labels
        self._wall_clock = wall_clock
        self._first: dict[str, str | None] = {}  # id -> who labelled it first

    async def choose(self, choice: Choice, limit: int, reviewer: str) -> Labelled:
        """Return instances that others have labelled, for a second label of this reviewer."""

        async def is_open(instance_id: str) -> bool:
            return await self._first_reviewer(instance_id) not in (None, reviewer)

        return await self._queue.choose_labelled(choice, limit, reviewer, is_open)

    async def note(self, form: LearnEvent | LearnRequest, labels: Labels, label: Label) -> None:
        """Note a further label of an instance of the share, if another reviewer gave the first."""
        record, instance_id = label.record, str(form.id)
        if record is None or form.replace or not self._queue.is_for_two(instance_id):
            return  # the first label was seen before it is replaced
        first, second = record.reviewer, form.reviewer
        if first is None or second is None or first == second:
            return
        classes = names_now(map(str, labels.classes), self._engine.model.aliases)
        pair = LabelPair(first, tuple(record.classes), second, tuple(classes), self._wall_clock())
        await asyncio.to_thread(self._queue.add_pair, instance_id, pair)

    async def forget(self, instance_id: str) -> None:
        """Forget what two reviewers said of an instance whose label was taken back."""
        self._first.pop(instance_id, None)
        await asyncio.to_thread(self._queue.forget_pairs, [instance_id])

    async def _first_reviewer(self, instance_id: str) -> str | None:
        if instance_id not in self._first:
            if len(self._first) >= MOST_KNOWN:
                self._first.clear()
            record = (await self._labels.find(instance_id)).record
            self._first[instance_id] = None if record is None else record.reviewer
        return self._first[instance_id]
