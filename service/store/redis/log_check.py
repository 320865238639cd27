"""The checks of the entries of a log against each other."""

from manyclass.service.store.errors import LogDamaged, LogRewound
from manyclass.service.store.redis.entry import Entry


class LogCheck:
    """Checks entries in the order of the log, foreign ones left out; see entry.py.

    Each entry names the one before it. So the loss of the end of a log is found, also after other
    processes have written a new end.
    """

    def __init__(self, after: int, place: bytes | None) -> None:
        """`after`: the event before the first one; `place`: the id of its entry, if known."""
        self.seq = after  # number of the last accepted event
        self.place = place
        self._skipped = ""  # the newest foreign entry since the last accepted one

    def accept(self, entry: Entry) -> list[bytes]:
        """Return the events of the next entry that come after `seq`.

        Raise LogDamaged if events before it are missing, and LogRewound if it follows another entry
        than the last one.
        """
        expected = self.seq + 1
        if self.place is None and entry.last_seq < expected:  # reading began in an earlier epoch
            return []
        if entry.first_seq > expected or (entry.first_seq < expected and self.place == entry.after):
            reason = f"the next event in the log is {entry.first_seq}{self._skipped}"
            raise LogDamaged(expected, reason)
        if self.place not in (None, entry.after):
            raise LogRewound(self.seq)
        self.seq, self.place, self._skipped = entry.last_seq, entry.place, ""
        return entry.events[expected - entry.first_seq :]

    def skip(self, place: bytes, reason: ValueError) -> str:
        """Note a foreign entry; return its id and the reason, for people."""
        skipped = f"{place.decode()}: {reason}"
        self._skipped = f"; skipped there: {skipped}"
        return skipped

    def missing(self, known: int) -> LogDamaged:
        """Return the error for a log without its next event, which has had `known` events."""
        reason = f"it is not in the log, which has had {known} events{self._skipped}"
        return LogDamaged(self.seq + 1, reason)
