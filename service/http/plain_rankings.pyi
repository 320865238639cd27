from asyncio import Event
from collections.abc import Callable
from typing import Self, final

from manyclass.core.published_learner import PublishedLearner
from manyclass.core.text import TextAnalysis
from manyclass.service.config.settings import Settings
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.limits import Limits
from manyclass.service.http.titles import Titles
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.metrics import PlainCounts

@final
class PlainRankings:
    """The part that answers plain requests to rank one instance, from bytes to bytes."""

    def __new__(
        cls,
        settings: Settings,
        keys: ApiKeys,
        csrf: CsrfGuard,
        pending: PendingLabels,
        titles: Titles,
        clock: Callable[[], float],
        limits: Limits,
        stopping: Event,
    ) -> Self: ...
    def use(self, learner: PublishedLearner | None, analysis: TextAnalysis | None) -> None:
        """Use this learner and its text analysis on all threads; with None, no request is plain."""

    @property
    def answered(self) -> int:
        """The number of requests answered on this thread."""

    def counts(self) -> PlainCounts:
        """Return the counts of this thread."""

    def answer(self, data: bytes, default_headers: list[tuple[bytes, bytes]]) -> bytes | None:
        """Return the whole answer to one plain request, or None if `data` is anything else.

        The connection must have no request in progress, so that answers stay in order. After None,
        the caller passes the same bytes to the parser of the connection.
        """

    def is_begun(self, data: bytes) -> bool:
        """Return whether `data` has the complete head of a request that may be plain, but not its
        whole body.
        """
