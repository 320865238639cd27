"""The second labels of instances: a label of another reviewer is compared, and not learned."""

import asyncio
from collections.abc import Callable

from manyclass.core.aliases import names_now
from manyclass.service.engine import Engine
from manyclass.service.http.instance_labels import Label
from manyclass.service.http.labels import Labels
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.ingest.second_labels import LabelPair


class SecondLabels:
    """Notes what a second reviewer says of an instance that two shall label.

    Belongs to the event loop's thread.
    """

    def __init__(self, engine: Engine, queue: ReviewQueue, wall_clock: Callable[[], float]) -> None:
        self._engine = engine
        self._queue = queue
        self._wall_clock = wall_clock

    async def note(self, form: LearnEvent | LearnRequest, labels: Labels, label: Label) -> None:
        """Note a further label of an instance, if another reviewer gave the first."""
        record, instance_id = label.record, str(form.id)
        if record is None or form.replace or not self._queue.pairs.is_for_two(instance_id):
            return  # the first label was seen before it is replaced
        first, second = record.reviewer, form.reviewer
        if first is None or second is None or first == second:
            return
        classes = names_now(map(str, labels.classes), self._engine.model.aliases)
        pair = LabelPair(first, tuple(record.classes), second, tuple(classes), self._wall_clock())
        await asyncio.to_thread(self._queue.pairs.add, instance_id, pair)
