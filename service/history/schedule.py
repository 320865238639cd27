"""The schedule of rebuilds for amended events."""

from collections.abc import Callable

RETRY_SECONDS = 600.0


class RebuildSchedule:
    """A schedule by which a rebuild is due when amendments have waited, or after a failure.

    Belongs to the event loop.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        """`seconds` is the time for which amendments wait; with 0, a rebuild is never due."""
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None  # time when the first amendment was noticed
        self._is_new = True
        self._is_asked = False
        self._retry_at: float | None = None

    def failed(self) -> None:
        """Make a rebuild due again in some minutes, because the last one failed."""
        self._retry_at = self._clock() + RETRY_SECONDS

    def ask(self) -> None:
        """Make a rebuild due at the next call."""
        self._is_asked = True

    def is_due(self, amendments: int, age: float) -> bool:
        """Return whether to rebuild now, with this many waiting amendments, the oldest for `age`.

        Once a rebuild was due, the waiting time begins again. The age is used only at the first
        call, so that a restart does not prolong the wait and a change of the wall clock has no
        effect.
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
