"""The time for which a client sends or reads too little."""

QUIET_SECONDS = 60  # in which LEAST_BYTES, or the end of a request that has begun, must arrive
LEAST_BYTES = 16_384
UNREAD_SECONDS = 30  # in which a client must read DRAINED_BYTES of an answer, or its end
DRAINED_BYTES = 65_536
LINGER_SECONDS = 10  # in which the rest of a body must arrive after the answer


class Stalls:
    """The count of seconds without progress of a connection, in both directions."""

    def __init__(self) -> None:
        self.received = 0  # bytes of the request since the quiet seconds began
        self.linger_seconds = 0  # since the answer to a request whose body has not ended
        self.unread_seconds = 0
        self._unread_bytes = 0
        self._quiet_seconds = 0

    def begin_request(self, received: int) -> None:
        """Begin to count for a request of which `received` bytes have arrived."""
        self.received = received
        self._quiet_seconds = 0

    def quiet(self, waiting: bool) -> int:
        """Count a second; return the seconds without LEAST_BYTES, 0 if the client need not send."""
        if not waiting or self.received >= LEAST_BYTES:
            self.received = self._quiet_seconds = 0
        else:
            self._quiet_seconds += 1
        return self._quiet_seconds

    def unread(self, size: int) -> int:
        """Count a second; return the seconds for which the client read little of the answer.

        This also counts while the connection is closing.
        """
        if not size or size <= self._unread_bytes - DRAINED_BYTES:
            self.unread_seconds = 0
        if not self.unread_seconds:
            self._unread_bytes = size
        if size:
            self.unread_seconds += 1
        return self.unread_seconds
