from typing import Self, final

from manyclass.core.event import Event
from manyclass.service.config.settings import Settings
from manyclass.service.http.auth import ApiKeys
from manyclass.service.http.csrf import CsrfGuard

@final
class PlainEvents:
    """Makes events of plain requests to learn one instance with its true classes, and perhaps an
    `event_id`."""

    def __new__(cls, settings: Settings, keys: ApiKeys, csrf: CsrfGuard) -> Self: ...
    def event(self, data: bytes) -> Event | None:
        """Return the event of one plain request that may learn; None if `data` is anything else."""

    def is_begun(self, data: bytes) -> bool:
        """Return whether a plain request may begin here: with its whole head, but not all of its
        body.
        """
