"""Decides when amended events are learned again."""

from collections.abc import Callable

RETRY_SECONDS = 600.0


class RebuildSchedule:
    """Due when amendments have waited for some time, and some time after a failure.

    Belongs to the event loop.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        """`seconds`: how long amendments wait; 0: a rebuild is never due."""
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None  # the first of them was noticed
        self._is_new = True
        self._is_asked = False
        self._retry_at: float | None = None

    def failed(self) -> None:
        """Let a rebuild be due again in some minutes, after one that was due has failed."""
        self._retry_at = self._clock() + RETRY_SECONDS

    def ask(self) -> None:
        """Let a rebuild be due at the next call."""
        self._is_asked = True

    def is_due(self, amendments: int, age: float) -> bool:
        """Return whether to rebuild now, with so many amendments waiting, the oldest for `age`.

        After it is due once, they wait anew. The age counts at the first call only, so that a
        restart does not make them wait anew, and a wall clock that is set changes nothing later.
        """
        is_new, self._is_new = self._is_new, False
        is_retry = self._retry_at is not None and self._clock() >= self._retry_at
        if self._is_asked or is_retry:
            self._is_asked, self._retry_at = False, None
            return True
        if amendments == 0 or self._seconds == 0:
            self._since = None
            return False
        now = self._clock()
        if self._since is None:
            self._since = now - age if is_new else now
        if now - self._since < self._seconds:
            return False
        self._since = None
        return True
