"""The seconds for which a client neither sends nor reads enough."""

QUIET_SECONDS = 60  # in which a request that has begun must bring LEAST_BYTES, or its end
LEAST_BYTES = 16_384
UNREAD_SECONDS = 30  # in which a client must read DRAINED_BYTES of an answer, or its end
DRAINED_BYTES = 65_536
LINGER_SECONDS = 10  # in which the rest of a body must come after its answer


class Stalls:
    """Counts the seconds without progress of one connection, in both directions."""

    def __init__(self) -> None:
        self.received = 0  # bytes of the request since the quiet seconds began
        self.linger_seconds = 0  # since the answer to a request whose body has not ended
        self.unread_seconds = 0
        self._unread_bytes = 0
        self._quiet_seconds = 0

    def begin_request(self, received: int) -> None:
        """Begin to count for a request of which these bytes have come."""
        self.received = received
        self._quiet_seconds = 0

    def quiet(self, waiting: bool) -> int:
        """Pass a second; return the seconds without LEAST_BYTES, 0 unless the client is due."""
        if not waiting or self.received >= LEAST_BYTES:
            self.received = self._quiet_seconds = 0
        else:
            self._quiet_seconds += 1
        return self._quiet_seconds

    def unread(self, size: int) -> int:
        """Pass a second; return the seconds for which most of the unsent answer was not read.

        It also counts while the connection is closing.
        """
        if not size or size <= self._unread_bytes - DRAINED_BYTES:
            self.unread_seconds = 0
        if not self.unread_seconds:
            self._unread_bytes = size
        if size:
            self.unread_seconds += 1
        return self.unread_seconds
