from asyncio import Event
from collections.abc import Callable
from typing import Self, final

from manyclass.core.published_learner import PublishedLearner
from manyclass.core.text import TextAnalysis
from manyclass.service.config.settings import Settings
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.limits import Limits
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.metrics import PlainCounts

@final
class PlainRankings:
    """Answers plain requests to rank one instance, from bytes to bytes."""

    def __new__(
        cls,
        settings: Settings,
        keys: ApiKeys,
        csrf: CsrfGuard,
        pending: PendingLabels,
        clock: Callable[[], float],
        limits: Limits,
        stopping: Event,
    ) -> Self: ...
    def use(self, learner: PublishedLearner | None, analysis: TextAnalysis | None) -> None:
        """Let this learner answer, with its analysis of texts, on all threads; None: no request is
        plain.
        """

    @property
    def answered(self) -> int:
        """The number of requests that were answered on this thread."""

    def counts(self) -> PlainCounts:
        """Return the counts of this thread."""

    def answer(self, data: bytes, default_headers: list[tuple[bytes, bytes]]) -> bytes | None:
        """Return the whole answer to one plain request; None if `data` is anything else.

        The caller keeps the order of the connection: nothing may be under way on it. After None
        the same bytes go to the parser of the connection.
        """

    def is_begun(self, data: bytes) -> bool:
        """Return whether a plain request may begin here: with its whole head, but not all of its
        body.
        """
