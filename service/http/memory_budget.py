"""The memory budget: one limit for the bytes of all requests and answers."""

from manyclass.service.http.problems import Problem, unavailable

SMALL_BYTES = 65_536  # a request up to this size may use the whole limit
RESERVED = 8  # 1 / RESERVED of the limit is for small requests only


class MemoryBudget:
    """A count of bytes in both directions: bodies, unfinished lines, unpacked gzip, unsent answers.

    Large requests may not use the whole limit, so that small requests are answered meanwhile.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.refused = 0  # requests that did not fit

    def fits(self, growth: int, size: int) -> bool:
        """Return whether a reservation may grow by `growth` bytes to `size`."""
        return self.used + growth <= self.most(size)

    def most(self, size: int) -> int:
        """Return the limit for all reservations, if one of this size is among them."""
        return self.limit - (0 if size <= SMALL_BYTES else self.limit // RESERVED)


class Reservation:
    """The bytes of one request or one connection, to be released at its end."""

    __slots__ = ("_budget", "size")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.size = 0

    def resize(self, size: int) -> None:
        """Change the reservation to this many bytes. If they do not fit, keep the old size and
        raise Problem 503, or 413 if they could never fit.
        """
        growth = size - self.size
        if growth > 0 and not self._budget.fits(growth, size):
            self._budget.refused += 1
            if size > (most := self._budget.most(size)):
                raise Problem(
                    413,
                    f"This request takes more than {most} bytes of memory, the limit for all"
                    " requests: send it in parts, or raise MANYCLASS_MAX_BUFFERED_BYTES.",
                )
            raise unavailable("Requests and answers in progress use all memory they may use.")
        self._budget.used += growth
        self.size = size

    def add(self, size: int) -> None:
        """Reserve this many more bytes, as `resize` does."""
        self.resize(self.size + size)

    def release(self) -> None:
        """Release all bytes."""
        self._budget.used -= self.size
        self.size = 0
