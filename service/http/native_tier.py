"""The native tier: C++ answers plain requests, from bytes to bytes, before any parser.

loop   ─► PlainRankings, PlainLearning
worker ─► the same in native code, in threads of their own
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from uvicorn.server import ServerState

from manyclass.core.model import Model
from manyclass.service.engine import Engine
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.described_classes import DescribedClasses
from manyclass.service.http.limits import Limits
from manyclass.service.http.plain_events import PlainEvents
from manyclass.service.http.plain_learning import (
    Admission,
    LearnAnswers,
    PlainLearning,
    WorkerLearning,
)
from manyclass.service.http.plain_rankings import PlainRankings
from manyclass.service.http.workers import Workers
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.metrics import Metrics


class Guards(NamedTuple):
    """The checks of a request's key, and of its Host and origin, which all native gates make."""

    keys: ApiKeys
    csrf: CsrfGuard


class NativeTier:
    """The parts that answer plain requests, on the event loop and in workers.

    The Python tier answers all other requests, and makes all refusals except those of the log.
    """

    def __init__(
        self,
        engine: Engine,
        guards: Guards,
        pending: PendingLabels,
        described: DescribedClasses,
        metrics: Metrics,
        limits: Limits,
        clock: Callable[[], float],
        stopping: asyncio.Event,
    ) -> None:
        settings = engine.settings
        rankings = PlainRankings(
            settings, *guards, pending, described.titles, clock, limits, stopping
        )
        events = PlainEvents(settings, *guards, engine.keeps_history)
        workers = limits.workers = Workers(rankings, events)
        self._admission = Admission(engine)
        self._answers = LearnAnswers(metrics, limits)
        self.rankings = rankings
        self.workers = workers
        self.learning = PlainLearning(
            events, engine, self._admission, self._answers, limits, stopping
        )
        metrics.plain = lambda: [rankings.counts(), *workers.counts()]

        def use(model: Model | None) -> None:
            described.use(model)
            if model is None:
                rankings.use(None, None)  # no request is plain
            else:
                rankings.use(model.published, model.text)
                events.use(model.text)

        engine.on_model(use)

    def worker_learning(self, server_state: ServerState) -> WorkerLearning:
        """Return the part that submits the events of the workers."""
        return WorkerLearning(self.workers, self._admission, self._answers, server_state)
