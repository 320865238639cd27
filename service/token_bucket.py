"""A token bucket: allows bursts, and a limited rate in the long run."""

from time import monotonic


class TokenBucket:
    """A number of tokens that grows evenly up to the capacity, by default by the whole capacity in
    a second.
    """

    def __init__(self, capacity: int, a_second: float | None = None) -> None:
        self.capacity = capacity
        self._a_second = capacity if a_second is None else a_second
        self._tokens = float(capacity)
        self._filled_at = monotonic()

    @property
    def is_empty(self) -> bool:
        """True if the bucket has less than one token."""
        now = monotonic()
        grown = self._tokens + (now - self._filled_at) * self._a_second
        self._tokens, self._filled_at = min(grown, self.capacity), now
        return self._tokens < 1

    def take(self) -> None:
        """Take a token."""
        self._tokens -= 1
