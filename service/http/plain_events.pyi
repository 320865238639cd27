from typing import Self, final

from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.text import TextAnalysis
from manyclass.service.config.settings import Settings
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.log.request import Result

__pyx_capi__: dict[str, object]  # the functions of the .pxd

@final
class PlainEvents:
    """The reader of plain requests to learn one instance with its true classes, and optionally an
    `event_id`, a `source`, a `reviewer`, a `batch` and a `weight`."""

    def __new__(cls, settings: Settings, keys: ApiKeys, csrf: CsrfGuard, keeps_texts: bool) -> Self:
        """`keeps_texts`: events have their texts, for the history."""

    def use(self, analysis: TextAnalysis) -> None:
        """Read texts with this analysis on all threads."""

    def take(self, data: bytes, batch: EventBatch) -> Event | bool:
        """Add the event of one plain request to a batch if its key may learn; return False for
        other `data`.

        An event with an id or a weight is returned instead of being added.
        """

    @staticmethod
    def body(result: Result) -> bytes:
        """Return the body of the answer to a request of one event."""

    @staticmethod
    def answer(result: Result, first: bytes, last: bytes) -> bytes:
        """Return the whole answer to a request of one event.

        `first` has the status line and the headers of the server, `last` the headers after those of
        the body.
        """

    @staticmethod
    def answer_in(batch: EventBatch, place: int, first: bytes, last: bytes) -> bytes:
        """Return the whole answer for an applied event of a batch."""

    def is_begun(self, data: bytes) -> bool:
        """Return whether `data` has the complete head of a request that may be plain, but not its
        whole body.
        """
